import type { Collection, Db } from 'mongodb'
import type { MetaDoc } from './core-collections.ts'

/** The document of `meta` that says that all processes change the documents that the log follows, see `memory/followed-facts.ts`. */
export const logMark = 'log'

/**
 * The document of `meta` that says that all processes know the floors of registrations.
 */
export const floorsMark = 'floors'

/** The document of `meta` that says that all processes begin no back-fill before posts without jobs are committed. */
export const backfillsMark = 'backfills'

/** All of them. */
export const marks = [logMark, floorsMark, backfillsMark] as const
export type Mark = (typeof marks)[number]

/**
 * Records that no process of an older release runs: all processes tell the log, know floors and so on. Only for a
 * database of this schema version. A mark is never removed. One command.
 */
export async function setMarks(db: Db): Promise<void> {
  const update = { $setOnInsert: { value: 'complete' } }
  const upserts = marks.map((_id) => ({
    updateOne: { filter: { _id }, update, upsert: true },
  }))
  await db.collection<MetaDoc>('meta').bulkWrite(upserts, { ordered: false })
}

/** The marks that {@link setMarks} has not set. One command. @param at the options of the read. */
export async function loadMissingMarks(
  meta: Collection<MetaDoc>,
  at: object = {},
): Promise<readonly Mark[]> {
  const found = await meta.find({ _id: { $in: [...marks] } }, at).toArray()
  return marks.filter((mark) => found.every(({ _id }) => _id !== mark))
}
