import type { Document, ObjectId } from '../../db/mongo.ts'
import { wellFormed } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { type EngagementKind, engagementKinds } from '../../engagement/kinds.ts'
import { arrayIn } from '../../engagement/list-store.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import { lockPosts, readParts, writePart } from '../list-documents.ts'

const invariant = { name: 'by-user-entries', law: 'L2' } as const

/** A like, comment or share without its by-user entry. */
interface Unindexed {
  /** The `_id` of the post or overflow document that holds it. An entry never moves. */
  readonly _id: unknown
  readonly post: ObjectId
  readonly kind: EngagementKind
  readonly id: ObjectId
  readonly actor: string
  /** Absent for an entry of an overflow document. */
  readonly author?: string
}

interface UnindexedViolation extends Violation {
  readonly entry: Unindexed & { readonly author: string }
  /** The actor has no account. The entry would become a like of the next owner of the handle. */
  readonly gone: boolean
}

/**
 * Law L2: each like, comment and share has a by-user entry, in `engagements_by_user`. Without it, the purge of the user
 * would miss the like, and no list of the user would show it. The scan is two commands that seek once for each entry of
 * a list. The repair inserts the by-user entry. It deletes the like of a user without an account.
 */
export const byUserEntries = ({
  collections,
}: IntegrityServices): Invariant<Document, Unindexed, UnindexedViolation> => ({
  ...invariant,
  scan: (ids) => unindexed(collections, { posts: { _id: ids }, overflow: { '_id.post': ids } }),
  async recheck(some, at) {
    const { posts, users } = collections
    const holders = { _id: { $in: some.map(({ _id }) => _id) } }
    const ids = some.map(({ id }) => id)
    const own = { _id: { $in: some.map(({ post }) => post) } }
    const found = await posts.find(own, { ...at, projection: { author: 1 } }).toArray()
    const authors = new Map(found.map(({ _id, author }) => [_id.toHexString(), author]))
    const actors = { _id: { $in: [...new Set(some.map(({ actor }) => actor))] } }
    const accounts = await users.find(actors, { ...at, projection: { _id: 1 } }).toArray()
    const known = new Set(accounts.map(({ _id }) => _id))
    const violations: UnindexedViolation[] = []
    const where = { posts: holders, overflow: holders }
    for (const entry of await findUnindexed(collections, where, ids, at)) {
      const { post, kind, id, actor } = entry
      const author = authors.get(post.toHexString())
      // The deletion of a post deletes its by-user entries before its overflow documents.
      if (author === undefined) continue
      const subject = `${post}.${kind} ${id} of ${actor}`
      const gone = !known.has(actor)
      const found = gone ? 'an entry without an account' : 'none'
      const finding = findingOf(invariant, {
        kind: 'by-user',
        subject,
        expected: 'a by-user entry',
        found,
      })
      violations.push({ entry: { ...entry, author }, gone, finding })
    }
    return { violations }
  },
  lock: (tx, some) =>
    lockPosts(
      collections,
      tx,
      some.map(({ post }) => post),
    ),
  async repair(tx, violations) {
    const { session } = tx
    const entries = violations.map(({ entry }) => entry)
    const missing = violations.flatMap(
      ({ gone, entry: { id: _id, actor: user, kind, post, author } }) =>
        gone ? [] : [{ _id, user, kind, post, author }],
    )
    // A by-user entry with the same id and other fields belongs to no list.
    await collections.engagements_by_user.deleteMany(
      { _id: { $in: entries.map(({ id }) => id) } },
      { session },
    )
    if (missing.length > 0) await collections.engagements_by_user.insertMany(missing, { session })
    for (const { gone, entry } of violations) {
      if (!gone) continue
      const list = { post: { _id: entry.post, author: entry.author }, kind: entry.kind }
      const parts = await readParts(collections, list, tx, { 'items._id': entry.id })
      for (const { level, items } of parts) {
        const left = items.filter(({ _id }) => !_id.equals(entry.id))
        if (left.length < items.length)
          await writePart(collections, list, tx, { level, items: left })
      }
    }
  },
})

type Collections = IntegrityServices['collections']

/** Yields the entries without their by-user entry. @param where selects posts and overflow documents. Two commands. */
async function* unindexed({ posts, overflow, engagements_by_user }: Collections, where: Holders) {
  const [ofPosts, ofOverflow] = entriesIn(where)
  const missing = [
    // Joins by `_id` alone, which is the fastest join of the server.
    {
      $lookup: {
        from: engagements_by_user.collectionName,
        localField: 'id',
        foreignField: '_id',
        as: 'byUser',
      },
    },
    { $set: { byUser: { $first: '$byUser' } } },
  ]
  const wrong = (...fields: string[]) => ({ $match: { $expr: { $or: fields.map(differs) } } })
  const fields = ['actor', 'kind', 'post']
  yield* posts.aggregate<Unindexed>([...ofPosts, ...missing, wrong(...fields, 'author')])
  // An overflow document does not know the author.
  yield* overflow.aggregate<Unindexed>([...ofOverflow, ...missing, wrong(...fields)])
}

/**
 * As {@link unindexed}, for the entries with these ids, in a transaction. Three commands. None of them is a join, because
 * a sharded cluster refuses joins in transactions before MongoDB 8.0.
 */
async function findUnindexed(
  { posts, overflow, engagements_by_user }: Collections,
  where: Holders,
  ids: readonly ObjectId[],
  at: Tx,
): Promise<Unindexed[]> {
  const [ofPosts, ofOverflow] = entriesIn(where)
  const chosen = { $match: { id: { $in: ids } } }
  const entries = [
    ...(await posts.aggregate<Unindexed>([...ofPosts, chosen], { ...at }).toArray()),
    ...(await overflow.aggregate<Unindexed>([...ofOverflow, chosen], { ...at }).toArray()),
  ]
  const found = await engagements_by_user.find({ _id: { $in: [...ids] } }, { ...at }).toArray()
  const byUser = new Map(found.map((one) => [one._id.toHexString(), one]))
  return entries.filter(({ id, actor, kind, post, author = byUser.get(`${id}`)?.author }) => {
    const one = byUser.get(`${id}`)
    const isSame = one?.user === actor && one.kind === kind && one.author === author
    return !isSame || !one.post.equals(post)
  })
}

/** Conditions on the posts and on the overflow documents that hold entries. */
interface Holders {
  readonly posts: Document
  readonly overflow: Document
}

/** The pipelines that yield the entries of posts, and those of overflow documents. */
function entriesIn(where: Holders): readonly [Document[], Document[]] {
  const entriesOf = (list: unknown, kind: unknown) => ({
    $map: { input: list, in: { id: '$$this._id', actor: '$$this.actor', kind } },
  })
  const all = engagementKinds.map((kind) => entriesOf(arrayIn(kind), { $literal: kind }))
  const each = [
    { $unwind: '$entry' },
    {
      $replaceRoot: {
        newRoot: { $mergeObjects: ['$entry', { _id: '$_id', post: '$post', author: '$author' }] },
      },
    },
  ]
  return [
    [
      { $match: { ...where.posts, ...wellFormed('posts') } },
      { $project: { author: 1, post: '$_id', entry: { $concatArrays: all } } },
      ...each,
    ],
    [
      { $match: { ...where.overflow, ...wellFormed('overflow') } },
      { $project: { post: '$_id.post', entry: entriesOf('$items', '$_id.kind') } },
      ...each,
    ],
  ]
}

/** Whether the by-user entry differs from the entry of the list in a field, or is missing. */
const differs = (field: string) => ({
  $ne: [`$${field}`, `$byUser.${field === 'actor' ? 'user' : field}`],
})
