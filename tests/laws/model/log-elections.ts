import { MongoClient } from 'mongodb'
import { expect } from 'vitest'
import { connect } from '../../../src/db/client.ts'
import { eventually } from '../../support/eventually.ts'
import { onMember, primaryOf, type ReplicaSet } from '../../support/replica-set.ts'
import type { LogHistory } from './log-histories.ts'
import { followed, type Load } from './log-memory.ts'
import { LogScene } from './log-scene.ts'

/** What happens to a log on a replica set of three. Throws an AssertionError if memory is stale. */
export type ElectionHistory = (set: ReplicaSet) => Promise<void>

/**
 * The primary steps down and stops replicating. The driver does not notice, and the old primary
 * continues to serve the stream. A write is acknowledged by the new primary.
 */
export const unnoticedElection: ElectionHistory = async (set) => {
  const old = await primaryOf(set.hosts)
  // A driver that is connected to one member stays with it.
  await using clients = await openClients(set, `mongodb://${old}/?directConnection=true`)
  await using scene = await LogScene.open(clients.reader, clients.writer)
  await scene.memory.read('a')
  // An election may end a command that is under way.
  const looking = scene.commands.hold('hello', 'sent')
  await looking.reached
  await using _paused = await withoutReplication(old)
  await using _down = await stepDown(old)
  await eventually(() => scene.write('a', 2))
  const isCurrent = scene.log.isCurrent()
  looking.release()
  await isCurrent
  scene.expectKept('a', 2)
}

/** A fill reads from a member that lacks a change, after the change was applied. */
export const readFromLaggingMember = (waitsForLog: boolean): ElectionHistory => {
  return async (set) => {
    await using clients = await openClients(set)
    const primary = await primaryOf(set.hosts)
    const lagging = set.hosts.find((host) => host !== primary) as string
    const member = new MongoClient(`mongodb://${lagging}/`, { directConnection: true })
    const load = (): Load => async (_id) => {
      const command = {
        ...{ find: followed.collection, filter: { _id }, maxTimeMS: 300 },
        // What all reads of the client of the log have.
        readConcern: waitsForLog ? { ...clients.reader.readConcern } : { level: 'majority' },
      }
      const read = { readPreference: 'secondaryPreferred' } as const
      const { cursor } = await member.db(clients.reader.databaseName).command(command, read)
      return cursor.firstBatch[0]?.n ?? null
    }
    try {
      await using scene = await LogScene.open(clients.reader, clients.writer, load)
      await eventually(() => scene.memory.read('a'))
      await using _ = await withoutReplication(lagging)
      await scene.write('a', 2)
      await scene.isCurrent()
      await scene.memory.read('a').catch(isTooLate)
      scene.expectKept('a', 2)
    } finally {
      await member.close()
    }
  }
}

/**
 * The processes of all members stop, and continue after a request has given up waiting for the log.
 */
export const frozenDatabase: ElectionHistory = async (set) => {
  await using clients = await openClients(set)
  await using scene = await LogScene.open(clients.reader, clients.writer)
  await scene.memory.read('a')
  const resume = await set.pause('all')
  try {
    // A process stops a moment after its signal, and may answer what it has begun.
    await eventually(async () => expect(await scene.log.isCurrent()).toBe(false))
    expect(await scene.log.isCurrent()).toBe(false)
  } finally {
    resume()
  }
  await eventually(() => scene.write('a', 2))
  await scene.isCurrent()
  scene.expectKept('a', 2)
}

/**
 * A history of a log on a set that no other test file writes to: a later write would make a mutant
 * read on.
 */
export const undisturbed =
  (history: LogHistory): ElectionHistory =>
  async (set) => {
    await using clients = await openClients(set)
    await using scene = await LogScene.open(clients.reader, clients.writer)
    await history(scene)
  }

/** Two processes: one with the log, and one that writes. Each history has a database of its own. */
async function openClients(set: ReplicaSet, readerUri = set.uri) {
  const [reading, writing] = await Promise.all([connect(readerUri), connect(set.uri)])
  const name = `log_${databases++}`
  return {
    reader: reading.db(name),
    writer: writing.db(name),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([reading.close(), writing.close()])
    },
  }
}

let databases = 0

/** Stops the replication to a member. */
async function withoutReplication(host: string): Promise<AsyncDisposable> {
  const set = (mode: string) => onMember(host, { configureFailPoint: 'stopReplProducer', mode })
  await set('alwaysOn')
  return { [Symbol.asyncDispose]: async () => void (await set('off')) }
}

/** Makes the primary step down. Disposing lets it be elected again. */
async function stepDown(host: string): Promise<AsyncDisposable> {
  await onMember(host, { replSetStepDown: 60, secondaryCatchUpPeriodSecs: 10 })
  return { [Symbol.asyncDispose]: async () => void (await onMember(host, { replSetFreeze: 0 })) }
}

/** A read that waits for the log on a member without replication has no answer. */
function isTooLate(error: { codeName?: string }): void {
  if (error.codeName !== 'MaxTimeMSExpired') throw error
}
