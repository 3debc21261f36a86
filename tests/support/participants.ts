import type { ClientSession, MongoClient } from 'mongodb'
import type { Services } from '../../src/services.ts'
import { sameLimits } from './engagement.ts'
import { type Call, intercepted } from './intercept.ts'
import type { TestDatabase } from './mongo.ts'
import { servicesOver, testClock } from './services.ts'

/**
 * A write of which a part is visible, while its other documents are prepared but not yet visible.
 */
export interface HalfCommitted {
  /** Makes the other documents visible, as of the time of the commit. */
  readonly complete: () => Promise<void>
}

type Write = (services: Services) => Promise<unknown>

/**
 * Commits the transaction of `write` as a sharded cluster does on two shards: the documents are
 * prepared, then the shard of the jobs commits, and the shard of the documents has not learnt of it
 * yet. It takes a replica set on which test commands are enabled.
 */
export const commitJobsFirst = (database: TestDatabase, write: Write): Promise<HalfCommitted> =>
  commitInTwo(database, write, { collection: 'outbox', isFirst: true })

/**
 * As {@link commitJobsFirst}: of the first transaction of `write`, all is visible but the
 * registrations.
 */
export const commitRegistrationsLast = (
  database: TestDatabase,
  write: Write,
): Promise<HalfCommitted> =>
  commitInTwo(database, write, { collection: 'strategies', isFirst: false })

/** @param of the collection that is on a shard of its own, and whether this shard commits first. */
async function commitInTwo(
  { client, db }: TestDatabase,
  write: Write,
  of: { readonly collection: string; readonly isFirst: boolean },
): Promise<HalfCommitted> {
  const admin = client.db('admin')
  const other = client.startSession()
  let isSplit = false
  let [prepared, complete] = [() => {}, () => {}]
  const isPrepared = new Promise<void>((resolve) => {
    prepared = resolve
  })
  const mayComplete = new Promise<void>((resolve) => {
    complete = resolve
  })
  let completed: Promise<unknown> = Promise.resolve()
  const commit = async (main: ClientSession, commitMain: () => Promise<void>) => {
    if (isSplit) return commitMain()
    isSplit = true
    const late = of.isFirst ? main : other
    const prepare = await admin.command({ prepareTransaction: 1 }, { session: late })
    await (of.isFirst ? other.commitTransaction() : commitMain())
    prepared()
    const commitTimestamp = prepare.prepareTimestamp
    completed = mayComplete.then(() =>
      admin.command({ commitTransaction: 1, commitTimestamp }, { session: late }),
    )
    // A client waits for the shard of its documents, and not for that of the registrations.
    if (of.isFirst) await completed
  }
  const split = new Proxy(client, {
    get: (target, property) => {
      if (property !== 'startSession') return Reflect.get(target, property, target)
      return (options: object) => {
        const session = target.startSession(options)
        const own = session.commitTransaction.bind(session)
        return Object.assign(session, { commitTransaction: () => commit(session, own) })
      }
    },
  }) as MongoClient
  const change = ({ collection, method, args }: Call) => {
    const at = method.startsWith('update') ? 2 : 1
    if (collection === of.collection && !isSplit)
      args[at] = { ...(args[at] as object), session: other }
  }
  const limits = sameLimits({ threshold: 3, capacity: 2 })
  const services = servicesOver(
    { client: split, db: intercepted(db, { change }) },
    testClock(),
    limits,
  )
  other.startTransaction({ writeConcern: { w: 'majority' } })
  const written = write(services)
  await Promise.race([isPrepared, written])
  return {
    complete: async () => {
      complete()
      await completed
      await written
      await other.endSession()
    },
  }
}
