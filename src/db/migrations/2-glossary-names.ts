import type { Db, Document, ObjectId } from 'mongodb'
import { isDuplicateKey } from '../errors.ts'
import { createCollection } from '../indexes.ts'
import type { Migration, Step } from './migration.ts'
import { guard, isView, renameWithView, replaceIndexes } from './steps.ts'

/** Processes of the previous release that start now refuse the database: this is not their FOLLOWING. */
const turnAway: Step = {
  plan: async ({ db }) =>
    (await records(db).findOne(ofPreviousRelease))
      ? ['Refuse the start of processes of the previous release.']
      : [],
  async run({ db }) {
    const value = 'schema version 2, which needs a newer release'
    await records(db).updateOne(ofPreviousRelease, { $set: { value } })
  },
}

const records = (db: Db) => db.collection<{ _id: string; value: string }>('meta')
const ofPreviousRelease = { _id: 'following', value: { $in: ['collection', 'reverse-index'] } }

/** The two indexes of groups had an entry for every edge. Now only edges in groups have one. */
const indexes = replaceIndexes({
  followers: ['follower_1_groups_1__id_-1_user_1_source_1', 'follower_1_groups_1_user_1'],
  following: ['user_1_groups_1__id_-1_followee_1_source_1', 'user_1_groups_1_followee_1'],
  outbox: ['state_1_lane_1_runAt_1', 'kind_1_payload.author_1_payload.follower_1'],
})

const jobShape = { queue: { $exists: true } }
const oldJobs = { queue: { $exists: false } }

/**
 * Jobs: `lane` becomes `queue`, `author.fell` becomes `author.demoted`. The previous release adds no more jobs, which
 * refuses each of its writes that needs one, and claims none. Its leases end, so it completes none either.
 */
const jobs: Step = {
  async plan({ db }) {
    const count = await db.collection('outbox').countDocuments(oldJobs)
    return [
      `Rename fields and kinds of ${count} jobs, and end their leases. Only this release adds and runs jobs from now on.`,
    ]
  },
  async run({ db }) {
    const outbox = db.collection('outbox')
    await guard(db, 'outbox', jobShape)
    // An unfollow of the previous release may have removed posts of a user who was followed again. It refills the
    // timelines with a further job, which the guard refuses.
    const interrupted = { ...oldJobs, kind: 'follow.ended', fence: { $gt: 0 } }
    const state = { state: 'READY', queue: 'QUICK', fence: 0, attempts: 0, runAt: '$$NOW' }
    const refill = { kind: 'follow.created', payload: '$payload', ...state }
    await outbox
      .aggregate([
        { $match: interrupted },
        { $replaceWith: refill },
        { $merge: { into: 'outbox' } },
      ])
      .toArray()
    await outbox.updateMany(oldJobs, renamedJob)
  },
}

const isDemotion = { $eq: ['$kind', 'author.fell'] }
const demotion = { author: '$payload.author', demotion: '$payload.fall' }
const wasLeased = {
  $and: [{ $ne: [{ $type: '$leased' }, 'missing'] }, { $eq: ['$state', 'READY'] }],
}
const renamedJob: Document[] = [
  {
    $set: {
      queue: '$lane',
      kind: { $cond: [isDemotion, 'author.demoted', '$kind'] },
      payload: { $cond: [isDemotion, demotion, '$payload'] },
      fence: { $add: ['$fence', 1] },
      // The try that ends here does not count.
      attempts: { $subtract: ['$attempts', { $cond: [wasLeased, 1, 0] }] },
      runAt: { $cond: [wasLeased, '$$NOW', '$runAt'] },
    },
  },
  { $unset: ['lane', 'leased'] },
]

/** `engaged` becomes `engagements_by_user`. Without it, the previous release adds no like, comment or share. */
const engagements: Step = {
  plan: async ({ db }) =>
    (await isView(db, 'engaged'))
      ? []
      : ['Rename the collection engaged to engagements_by_user. The old name becomes a view.'],
  run: (parts) => renameWithView(parts, 'engaged', 'engagements_by_user'),
}

/**
 * `mutations` becomes `idempotency_keys`, whose records belong to an account instead of a handle. Those of an earlier
 * account of the handle are left behind. The previous release goes on answering repeats from `mutations`, and adds
 * nothing to it. The records expire within a day.
 */
const idempotencyKeys: Step = {
  async plan({ db }) {
    const count = await db.collection('mutations').estimatedDocumentCount()
    return [
      `Copy ${count} records from mutations to idempotency_keys. The old collection takes no more records.`,
    ]
  },
  async run({ db }) {
    await guard(db, 'mutations')
    const account = { from: 'users', localField: '_id.viewer', foreignField: '_id', as: 'account' }
    const _id = { viewer: '$_id.viewer', since: '$account.createdAt', id: '$_id.id' }
    const record = { _id, fingerprint: '$fingerprint', result: '$result', at: '$at' }
    await db
      .collection('mutations')
      .aggregate([
        { $lookup: account },
        { $unwind: '$account' },
        { $match: { $expr: { $gte: ['$at', '$account.createdAt'] } } },
        { $replaceWith: record },
        { $merge: { into: 'idempotency_keys', whenMatched: 'keepExisting' } },
      ])
      .toArray()
  },
}

const celebrityShape = {
  falling: { $exists: false },
  $or: ['promoting', 'demoting', 'readFrom'].map((field) => ({ [field]: { $exists: true } })),
}
/** Celebrities whose readers have no note yet. */
const unnoted = { promoting: { $exists: false }, readFrom: { $exists: false } }

/**
 * `falling` becomes `demoting`. Each reader of a celebrity gets a note (`pulled_authors`), by which this release finds
 * the celebrities of a reader. The previous release, which writes no notes, promotes and demotes no more authors.
 */
const celebrities: Step = {
  async plan({ db }) {
    const marks = db.collection('celebrities')
    const [count, falling] = [
      await marks.countDocuments(unnoted),
      await marks.countDocuments({ falling: { $exists: true } }),
    ]
    return [
      `Write a note of each of ${count} celebrities to its followers, and rename the field falling of ${falling} celebrities.`,
    ]
  },
  async run({ db, signal }) {
    const marks = db.collection<{ _id: string; readFrom?: ObjectId | null }>('celebrities')
    await guard(db, 'celebrities', celebrityShape)
    const renamed = [{ $set: { demoting: '$falling' } }, { $unset: ['falling'] }]
    await marks.updateMany({ falling: { $exists: true } }, renamed)
    await createCollection(db, 'pulled_authors', true)
    for (;;) {
      signal.throwIfAborted()
      const found = await marks.findOne(unnoted)
      if (!found) return
      await noteReaders(db, found._id)
      // Null: any of their posts may be stored in an inbox.
      await marks.updateOne({ ...unnoted, _id: found._id }, { $set: { readFrom: null } })
    }
  },
}

/** The readers of an author are the author and all followers. */
async function noteReaders(db: Db, author: string): Promise<void> {
  const notes = db.collection<{ _id: Document }>('pulled_authors')
  await notes.insertOne({ _id: { reader: author, author } }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error
  })
  await db
    .collection('followers')
    .aggregate([
      { $match: { user: author } },
      { $replaceWith: { _id: { reader: '$follower', author: '$user' } } },
      { $merge: { into: 'pulled_authors', whenMatched: 'keepExisting' } },
    ])
    .toArray()
}

/** Registrations lose `marks`, a number that only the previous release raised and read. */
const registrations: Step = {
  plan: async ({ db }) =>
    (await db.collection('strategies').findOne(marked))
      ? ['Remove the field marks from the registrations of strategies.']
      : [],
  async run({ db }) {
    await db.collection('strategies').updateMany(marked, { $unset: { marks: '' } })
  },
}
const marked = { marks: { $exists: true } }

/**
 * Reconciliations that have not ended begin again: the parts of a run and the counts in its record have changed. In the
 * records of repairs, `by` becomes `delta` and `mended` becomes `repairedEdges`. The next batch of an import that still
 * runs fails. This release resumes the import where it ended.
 */
const runs: Step = {
  async plan({ db }) {
    const count = await db.collection('reconciliations').countDocuments(unfinished)
    const repairs = await db.collection('repairs').countDocuments(oldRepairs)
    const going = await db.collection('imports').countDocuments({ done: false })
    return [
      ...(repairs > 0 ? [`Rename fields in the records of ${repairs} repairs.`] : []),
      ...(count > 0 ? [`Remove the records of ${count} reconciliations that have not ended.`] : []),
      ...(going > 0 ? [`Stop ${going} imports of the previous release, if they still run.`] : []),
    ]
  },
  async run({ db }) {
    await db.collection('reconciliations').deleteMany(unfinished)
    await db.collection('repairs').updateMany(oldRepairs, renamedRepair)
    await db.collection('imports').updateMany({ done: false }, { $unset: { done: '' } })
  },
}
const unfinished = { done: { $exists: false } }
const oldRepairs = { by: { $exists: true } }
const renamedRepair = [
  { $set: { delta: '$by', repairedEdges: '$mended' } },
  { $unset: ['by', 'mended'] },
]

/**
 * Schema version 2 has the names of the glossary. The next migration removes, with the previous release, the view
 * `engaged`, the collection `mutations`, the guards of `outbox` and `celebrities`, and the record `following` of `meta`.
 */
export const glossaryNames: Migration = {
  name: 'names of the glossary, smaller indexes of groups, notes of celebrities',
  steps: [turnAway, indexes, jobs, engagements, idempotencyKeys, celebrities, registrations, runs],
}
