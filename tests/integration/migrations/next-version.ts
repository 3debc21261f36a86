import type { Migration, Step } from '../../../src/db/migrations/migration.ts'
import { guard, isView, renameWithView, replaceIndexes } from '../../../src/db/migrations/steps.ts'

/** The index of `posts` that the next version retires. */
export const retiredIndex = 'trial_1'

/**
 * A made-up next version: a collection gets another name, and each of its documents a field
 * `since`.
 */
export const nextVersion = (from: string, to: string): Migration => ({
  name: `${from} are ${to}`,
  steps: [replaceIndexes({ posts: [retiredIndex] }), renamed(from, to), withSince(from, to)],
})

const renamed = (from: string, to: string): Step => ({
  plan: async ({ db }) =>
    (await isView(db, from)) ? [] : [`Rename ${from} to ${to}, and refuse writes to ${from}.`],
  run: (parts) => renameWithView(parts, from, to),
})

const without = { since: { $exists: false } }

/** Progress is in the data: only documents that are left to do have no such field. */
const withSince = (from: string, to: string): Step => ({
  async plan({ db }) {
    const counts = [from, to].map((name) => db.collection(name).countDocuments(without))
    const [count = 0] = (await Promise.all(counts)).toSorted((a, b) => b - a)
    return count === 0 ? [] : [`Store since when ${count} ${to} hold.`]
  },
  async run({ db }) {
    await guard(db, to, { since: { $exists: true } })
    const since = { $toDate: '$_id' }
    await db.collection(to).updateMany(without, [{ $set: { since } }])
  },
})
