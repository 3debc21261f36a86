import { type Db, type Document, MongoServerError } from 'mongodb'
import { buildIndexes, createCollection, indexPlan } from '../indexes.ts'
import type { Step, StepParts } from './migration.ts'

/** DDL outside of the driver's helpers waits for a majority only if the command says so. */
const majority = { writeConcern: { w: 'majority' } } as const

/** A shape that no document has. */
const nothing = { _id: { $exists: false } } as const

/**
 * A step for migrations. Builds the missing indexes of the collections that exist, and drops those
 * that an earlier release declared. An index whose definition changes gets a new name, so that it
 * is built beside the old one. Indexes of an operator stay.
 * @param retired names of indexes by collection.
 */
export const replaceIndexes = (retired: Readonly<Record<string, readonly string[]>>): Step => ({
  async plan({ db, following }) {
    const plans = await indexPlan(db, following, retired)
    return plans.flatMap(({ collection, build, drop }) => [
      ...build.map(({ name }) => `Build the index ${name} of ${collection}.`),
      ...drop.map((name) => `Drop the index ${name} of ${collection}.`),
    ])
  },
  async run({ db, following, signal }) {
    for (const { collection, build, drop } of await indexPlan(db, following, retired)) {
      signal.throwIfAborted()
      await buildIndexes(db, collection, build)
      for (const name of drop) {
        await db.collection(collection).dropIndex(name).catch(unless('IndexNotFound'))
      }
    }
  },
})

/** A collection or view of this name, or undefined. One command. */
async function findCollection(db: Db, name: string) {
  const [found] = await db.listCollections({ name }).toArray()
  return found as { readonly type?: string } | undefined
}

/**
 * For steps of migrations. Has MongoDB refuse each insert and update that leaves a document without
 * a shape. Stored documents stay. When it returns, all transactions that wrote another shape have
 * ended, and a majority has their writes. Two commands.
 * @param shape a query. Default: refuses all inserts and updates.
 */
export async function guard(db: Db, name: string, shape: Document = nothing): Promise<void> {
  await createCollection(db, name)
  const refusing = { validationLevel: 'strict', validationAction: 'error' }
  await db.command({ collMod: name, validator: shape, ...refusing, ...majority })
}

/** Whether {@link renameWithView} is done. One command. */
export const isView = async (db: Db, name: string): Promise<boolean> =>
  (await findCollection(db, name))?.type === 'view'

/**
 * For steps of migrations. Renames a collection, and makes its old name a view: the previous
 * release goes on reading, and its writes are refused. What the previous release inserts under the
 * old name in between, is moved.
 */
export async function renameWithView(
  { db, signal }: StepParts,
  from: string,
  to: string,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const source = await findCollection(db, from)
    if (source?.type === 'view') return
    const raced = unless('NamespaceExists', 'NamespaceNotFound')
    if (!source) {
      await createCollection(db, to)
      await db.command({ create: from, viewOn: to, pipeline: [], ...majority }).catch(raced)
    } else if (await findCollection(db, to)) {
      await guard(db, from)
      const into = { into: to, whenMatched: 'keepExisting' }
      await db
        .collection(from)
        .aggregate([{ $merge: into }])
        .toArray()
      await db.command({ drop: from, ...majority }).catch(raced)
    } else {
      const [renameCollection, target] = [from, to].map((name) => `${db.databaseName}.${name}`)
      const rename = { renameCollection, to: target, ...majority }
      await db.admin().command(rename).catch(raced)
    }
  }
}

/** Passes over errors of these names: another process was there first. */
const unless =
  (...names: readonly string[]) =>
  (error: unknown): void => {
    if (!(error instanceof MongoServerError && names.includes(error.codeName ?? ''))) throw error
  }
