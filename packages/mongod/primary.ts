import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/db/client.ts'
import type { MongoClient } from '../../src/db/mongo.ts'
import { bugOf } from '../../src/lib/bug.ts'

const pollMs = 50
const notYetInitializedCode = 94

/** The name of every one-member replica set that this folder starts. */
export const replicaSetName = 'feedline'

/** How long to wait for a primary. */
export interface PrimaryWait {
  readonly withinMs: number
  /** The `host:port` by which the member reaches itself. Default: its address. */
  readonly self?: string
  readonly signal?: AbortSignal
}

/**
 * Makes the lone mongod at `address` (`host:port`) the writable primary of its replica set. A new
 * member is initiated. If the member was initiated under another address, its configuration is
 * corrected: otherwise it considers itself removed, and serves neither reads nor writes.
 * @throws when it is no primary after `withinMs`, or when `signal` aborts; a bug at once.
 */
export async function ensurePrimary(
  address: string,
  { withinMs, self = address, signal }: PrimaryWait,
): Promise<void> {
  const deadline = performance.now() + withinMs
  let client: MongoClient | undefined
  let reason: unknown
  try {
    while (performance.now() < deadline) {
      signal?.throwIfAborted()
      try {
        client ??= await connectDirectly(address, 2_000)
        if (await isPrimary(client, self)) return
      } catch (error) {
        if (bugOf(error)) throw error
        reason = error
      }
      await sleep(pollMs)
    }
  } finally {
    await client?.close()
  }
  const why = reason instanceof Error ? `: ${reason.message}` : ''
  throw new Error(`mongod did not become a writable primary within ${withinMs / 1000} s${why}`)
}

async function isPrimary(client: MongoClient, self: string): Promise<boolean> {
  const admin = client.db('admin')
  if ((await admin.command({ hello: 1 })).isWritablePrimary) return true
  const config = await admin.command({ replSetGetConfig: 1 }).then(
    (answer) => answer.config,
    (error: { code?: unknown }) => {
      if (error.code !== notYetInitializedCode) throw error
    },
  )
  if (!config) {
    const initial = { _id: replicaSetName, members: [{ _id: 0, host: self }] }
    await admin.command({ replSetInitiate: initial })
  } else if (config.members[0].host !== self) {
    const members = [{ ...config.members[0], host: self }]
    const moved = { ...config, version: config.version + 1, members }
    await admin.command({ replSetReconfig: moved, force: true })
  }
  return false
}

/**
 * The process id of the mongod behind a local port, or undefined if none answers. Waits at most 10
 * s.
 */
export async function pidBehind(port: number): Promise<number | undefined> {
  let client: MongoClient | undefined
  try {
    client = await connectDirectly(`127.0.0.1:${port}`, 5_000)
    const status = await client.db('admin').command({ serverStatus: 1 })
    return Number(status.pid)
  } catch {
    return undefined
  } finally {
    await client?.close()
  }
}

const connectDirectly = (address: string, serverSelectionTimeoutMS: number): Promise<MongoClient> =>
  connect(`mongodb://${address}/`, 'bulk', {
    directConnection: true,
    serverSelectionTimeoutMS,
    socketTimeoutMS: 5_000,
    // A mongod that starts is noticed at once, not up to half a second later.
    minHeartbeatFrequencyMS: pollMs,
  })
