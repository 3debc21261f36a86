import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, type Document, MongoClient, MongoServerError } from 'mongodb'

const pollMs = 50
const notYetInitializedCode = 94

/** The name of every one-member replica set made here. */
export const replicaSetName = 'feedline'

/** A mongod to make a primary of. */
export interface Member {
  /** Where it is reached from here. */
  readonly address: { readonly host: string; readonly port: number }
  /** `host:port` by which it finds itself. */
  readonly self: string
}

/**
 * Makes a lone mongod the writable primary of its replica set, and waits until it is. A fresh one
 * is initiated. One that was initiated under another address gets its address corrected: else it
 * takes itself for removed, and serves neither reads nor writes.
 * @throws when it is not there `withinMs` later, or `signal` aborts.
 */
export async function ensurePrimary(member: Member, withinMs: number, signal?: AbortSignal) {
  const deadline = performance.now() + withinMs
  const { host, port } = member.address
  let client: MongoClient | undefined
  let lastError: unknown
  try {
    while (performance.now() < deadline) {
      signal?.throwIfAborted()
      try {
        if (client || (await answers(host, port))) {
          client ??= directClient(host, port)
          if (await isPrimary(client.db('admin'), member.self)) return
        }
      } catch (error) {
        lastError = error
      }
      await sleep(pollMs)
    }
  } finally {
    await client?.close()
  }
  const why = lastError instanceof Error ? `: ${lastError.message}` : ''
  throw new Error(`mongod did not become a writable primary within ${withinMs / 1000} s${why}`)
}

async function isPrimary(admin: Db, self: string): Promise<boolean> {
  const hello = await admin.command({ hello: 1 })
  if (hello.isWritablePrimary) return true
  const config = await replicaSetConfig(admin)
  if (!config) {
    const fresh = { _id: replicaSetName, members: [{ _id: 0, host: self }] }
    await admin.command({ replSetInitiate: fresh })
  } else if (config.members[0].host !== self) {
    const moved = { ...config.members[0], host: self }
    const next = { ...config, version: config.version + 1, members: [moved] }
    await admin.command({ replSetReconfig: next, force: true })
  }
  return false
}

async function replicaSetConfig(admin: Db): Promise<Document | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config
  } catch (error) {
    if (error instanceof MongoServerError && error.code === notYetInitializedCode) return undefined
    throw error
  }
}

/** The process id of the mongod behind a local port; undefined when none answers within 5 s. */
export async function pidBehind(port: number): Promise<number | undefined> {
  const client = directClient('127.0.0.1', port)
  try {
    const status = await client.db('admin').command({ serverStatus: 1 })
    return Number(status.pid)
  } catch {
    return undefined
  } finally {
    await client.close()
  }
}

function directClient(host: string, port: number): MongoClient {
  const timeouts = {
    serverSelectionTimeoutMS: 5_000,
    connectTimeoutMS: 2_000,
    socketTimeoutMS: 5_000,
  }
  return new MongoClient(`mongodb://${host}:${port}/`, { directConnection: true, ...timeouts })
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host, port, timeout: 1_000 })
    const end = (answered: boolean) => {
      socket.destroy()
      resolve(answered)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}
