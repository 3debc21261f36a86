import type { ClientSession, MongoClient } from 'mongodb'
import type { Services } from '../../src/services.ts'
import { sameLimits } from './engagement.ts'
import { intercepted } from './intercept.ts'
import type { TestDatabase } from './mongo.ts'
import { servicesOver, testClock } from './services.ts'

/** A write whose jobs are visible, while its other documents are prepared but not yet visible. */
export interface HalfCommitted {
  /** Makes the other documents visible, as of the time of the commit. */
  readonly complete: () => Promise<void>
}

/**
 * Commits the transaction of `write` as a sharded cluster does on two shards: the documents are prepared, then the shard
 * of the jobs commits, and the shard of the documents has not learnt of it yet. It takes a replica set on which test
 * commands are enabled.
 */
export async function commitJobsFirst(
  { client, db }: TestDatabase,
  write: (services: Services) => Promise<unknown>,
): Promise<HalfCommitted> {
  const admin = client.db('admin')
  const shardOfJobs = client.startSession()
  let [prepared, complete] = [() => {}, () => {}]
  const isPrepared = new Promise<void>((resolve) => {
    prepared = resolve
  })
  const mayComplete = new Promise<void>((resolve) => {
    complete = resolve
  })
  const commit = async (session: ClientSession) => {
    const { prepareTimestamp: commitTimestamp } = await admin.command(
      { prepareTransaction: 1 },
      { session },
    )
    await shardOfJobs.commitTransaction()
    prepared()
    await mayComplete
    await admin.command({ commitTransaction: 1, commitTimestamp }, { session })
  }
  const split = new Proxy(client, {
    get: (target, property) => {
      if (property !== 'startSession') return Reflect.get(target, property, target)
      return (options: object) => {
        const session = target.startSession(options)
        return Object.assign(session, { commitTransaction: () => commit(session) })
      }
    },
  }) as MongoClient
  const change = ({ collection, args }: { collection: string; args: object[] }) => {
    if (collection === 'outbox') args[1] = { session: shardOfJobs }
  }
  const limits = sameLimits({ threshold: 3, capacity: 2 })
  const services = servicesOver(
    { client: split, db: intercepted(db, { change }) },
    testClock(),
    limits,
  )
  shardOfJobs.startTransaction({ writeConcern: { w: 'majority' } })
  const written = write(services)
  await Promise.race([isPrepared, written])
  return {
    complete: async () => {
      complete()
      await written
      await shardOfJobs.endSession()
    },
  }
}
