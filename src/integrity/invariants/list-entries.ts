import type { EngagementByUserDoc, EngagementDoc, OverflowDoc } from '../../db/collections.ts'
import type { Document, Filter, ObjectId } from '../../db/mongo.ts'
import { wellFormed } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import {
  type EngagementKind,
  engagementKinds,
  isKeyedBy,
  kindsKeyedBy,
} from '../../engagement/kinds.ts'
import { arrayIn } from '../../engagement/list-store.ts'
import { batches, groupBy } from '../../lib/batch.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Run, Verdict, Violation } from '../invariant.ts'
import { lockPosts, placeOf, readParts, writePart } from '../list-documents.ts'
import { postRanges } from '../ranges.ts'
import { findingOf } from '../report.ts'

const invariant = { name: 'list-entries', law: 'L2' } as const

/** The most entries whose by-user entries one command reads. */
const entriesAtOnce = 1_000

/** A like, comment or share in a list of a post. */
interface Entry {
  readonly post: ObjectId
  readonly kind: EngagementKind
  readonly id: ObjectId
  readonly actor: string
  /**
   * The author of the post. Undefined for an entry of an overflow document, which does not know it.
   */
  readonly author?: string
}

/**
 * An entry, and what the scan found: no by-user entry, or that its key occurs again in the list.
 */
interface Suspect extends Entry {
  readonly problem: 'by-user' | 'twice'
}

interface EntryViolation extends Violation {
  readonly entry: Entry
  readonly author: string
  readonly problem: Suspect['problem']
  /** The actor has no account. The entry should have ended with it. */
  readonly gone: boolean
}

/**
 * Law L2: a user is in a list of likes or shares once, and a comment in its list once. Each entry
 * has a by-user entry, in `engagements_by_user`. Without it, the purge of the user would miss the
 * like, and no list of the user would show it. A by-user entry without its entry is passed over by
 * reads, so it is no violation. The range is a condition on a post's id. The scan is three commands
 * that read each entry twice, and one for 1,000 entries. A check is five commands. The repair keeps
 * the entry with the lowest place, and inserts by-user entries. It deletes the entries of users
 * without an account.
 */
const listEntries = (run: Run): Invariant<Suspect, EntryViolation> => ({
  ...invariant,
  ranges: postRanges(run),
  async *scan(ids) {
    const { posts, overflow } = entriesIn({ _id: ids }, { '_id.post': ids })
    const sources = [
      run.collections.posts.aggregate<Entry>(posts),
      run.collections.overflow.aggregate<Entry>(overflow),
    ]
    for (const source of sources) {
      for await (const entries of batches(source, entriesAtOnce)) {
        const byUser = await rowsOf(run, entries)
        const missing = entries.filter((entry) => !isIndexed(entry, byUser))
        yield* missing.map((entry) => ({ ...entry, problem: 'by-user' as const }))
      }
    }
    const from = { coll: run.collections.overflow.collectionName, pipeline: overflow }
    const key = { $cond: [{ $in: ['$kind', kindsKeyedBy('actor')] }, '$actor', '$id'] }
    const first = { $first: '$$ROOT' }
    const repeats = run.collections.posts.aggregate<{ entry: Entry }>(
      [
        ...[...posts, { $unionWith: from }],
        {
          $group: { _id: { post: '$post', kind: '$kind', key }, times: { $sum: 1 }, entry: first },
        },
        { $match: { times: { $gt: 1 } } },
      ],
      { allowDiskUse: true },
    )
    for await (const { entry } of repeats) yield { ...entry, problem: 'twice' }
  },
  check: (suspects, at) => check(run, suspects, at),
  lock: (tx, suspects) => {
    const posts = suspects.map(({ post }) => post)
    return lockPosts(run.collections, tx, posts)
  },
  async repair(tx, violations) {
    const { engagements_by_user } = run.collections
    const { session } = tx
    const removed = new Set<string>()
    for (const violation of violations.filter(({ problem }) => problem === 'twice')) {
      const { post, kind, actor: user } = violation.entry
      const isSame = ({ _id: id, actor }: EngagementDoc) =>
        subjectOf({ post, kind, id, actor }) === subjectOf(violation.entry)
      const ids = await removeEntries(run, violation, tx, { isSame, keepsFirst: true })
      await engagements_by_user.deleteMany({ user, _id: { $in: [...ids] } }, { session })
      for (const id of ids) removed.add(id.toHexString())
    }
    const left = violations.filter(
      ({ problem, entry }) => problem === 'by-user' && !removed.has(entry.id.toHexString()),
    )
    // A by-user entry with the same id and other fields belongs to no list.
    const ids = left.map(({ entry }) => entry.id)
    await engagements_by_user.deleteMany({ _id: { $in: ids } }, { session })
    const rows = left.flatMap(({ gone, author, entry: { id: _id, actor: user, kind, post } }) =>
      gone ? [] : [{ _id, user, kind, post, author }],
    )
    if (rows.length > 0) await engagements_by_user.insertMany(rows, { session })
    for (const { gone, entry, author } of left) {
      const isSame = (item: EngagementDoc) => item._id.equals(entry.id)
      if (gone) await removeEntries(run, { entry, author }, tx, { isSame, keepsFirst: false })
    }
  },
})

export const checkListEntries: Check = walk(listEntries)

/** The pipelines that yield the entries of posts, and those of overflow documents. */
function entriesIn(posts: Document, overflow: Document) {
  const entriesOf = (list: unknown, kind: unknown) => ({
    $map: { input: list, in: { id: '$$this._id', actor: '$$this.actor', kind } },
  })
  const all = engagementKinds.map((kind) => entriesOf(arrayIn(kind), { $literal: kind }))
  const each = [
    { $unwind: '$entry' },
    {
      $replaceRoot: {
        newRoot: { $mergeObjects: ['$entry', { post: '$post', author: '$author' }] },
      },
    },
  ]
  return {
    posts: [
      { $match: { ...posts, ...wellFormed('posts') } },
      { $project: { author: 1, post: '$_id', entry: { $concatArrays: all } } },
      ...each,
    ] as Document[],
    overflow: [
      { $match: { ...overflow, ...wellFormed('overflow') } },
      { $project: { post: '$_id.post', entry: entriesOf('$items', '$_id.kind') } },
      ...each,
    ] as Document[],
  }
}

/** The by-user entries with the ids of entries. One command. */
async function rowsOf(
  { collections: { engagements_by_user } }: Run,
  entries: readonly Pick<Entry, 'id'>[],
  at?: Tx,
): Promise<ReadonlyMap<string, EngagementByUserDoc>> {
  const ids = { _id: { $in: entries.map(({ id }) => id) } }
  const rows = await engagements_by_user.find(ids, { ...at }).toArray()
  return new Map(rows.map((row) => [row._id.toHexString(), row]))
}

function isIndexed(
  { id, actor, kind, post, author }: Entry,
  byUser: ReadonlyMap<string, EngagementByUserDoc>,
): boolean {
  const row = byUser.get(id.toHexString())
  const isSame = row?.user === actor && row.kind === kind && row.post.equals(post)
  return isSame && (author === undefined || row.author === author)
}

async function check(
  run: Run,
  suspects: readonly Suspect[],
  at: Tx,
): Promise<Verdict<EntryViolation>> {
  const { collections } = run
  const [ids, actors, of] = [
    { $in: suspects.map(({ id }) => id) },
    { $in: [...new Set(suspects.map(({ actor }) => actor))] },
    { $in: suspects.map(({ post }) => post) },
  ]
  const own = await collections.posts
    .find({ _id: of }, { ...at, projection: { author: 1 } })
    .toArray()
  const authors = new Map(own.map(({ _id, author }) => [_id.toHexString(), author]))
  const accounts = await collections.users
    .find({ _id: actors }, { ...at, projection: { _id: 1 } })
    .toArray()
  const users = new Set(accounts.map(({ _id }) => _id))
  const { posts, overflow } = entriesIn(
    { _id: of },
    { '_id.post': of, $or: [{ 'items._id': ids }, { 'items.actor': actors }] },
  )
  const byActor = { kind: { $in: kindsKeyedBy('actor') }, actor: actors }
  const among = { $match: { $or: [{ id: ids }, byActor] } }
  const entries = [
    ...(await collections.posts.aggregate<Entry>([...posts, among], { ...at }).toArray()),
    ...(await collections.overflow.aggregate<Entry>([...overflow, among], { ...at }).toArray()),
  ]
  const lists = groupBy(entries, subjectOf)
  const byUser = await rowsOf(run, suspects, at)
  const violations: EntryViolation[] = []
  for (const suspect of new Map(suspects.map((one) => [keyOf(one), one])).values()) {
    const { problem, ...entry } = suspect
    const { id, actor, kind, post } = entry
    const author = authors.get(post.toHexString())
    const same = lists.get(subjectOf(entry)) ?? []
    const add = (subject: string, expected: string | number, found: string | number) => {
      const finding = findingOf(invariant, { kind: problem, subject, expected, found })
      violations.push({ entry, author: author ?? '', problem, gone: !users.has(actor), finding })
    }
    // The deletion of a post deletes its by-user entries before its overflow documents.
    if (author === undefined || same.length === 0) continue
    if (problem === 'twice') {
      if (same.length > 1) add(subjectOf(entry), 1, same.length)
      continue
    }
    const isRight = isIndexed({ ...entry, author }, byUser)
    if (isRight || !same.some((other) => other.id.equals(id))) continue
    const found = users.has(actor) ? 'none' : 'an entry without an account'
    add(`${post}.${kind} ${id} of ${actor}`, 'a by-user entry', found)
  }
  return { violations }
}

const keyOf = ({ problem, id, ...entry }: Suspect) =>
  `${problem} ${id} ${subjectOf({ id, ...entry })}`

/** Names a list, and the key by which an entry may be in it once. */
const subjectOf = ({ post, kind, id, actor }: Entry): string =>
  `${post}.${kind} of ${isKeyedBy(kind, 'actor') ? actor : id}`

/**
 * Deletes entries of a list. Two commands, and one for each document that holds one.
 * @param keepsFirst keeps the entry with the lowest place.
 * @returns the ids of the deleted entries.
 */
async function removeEntries(
  { collections }: IntegrityServices,
  { entry: { post, kind, id, actor }, author }: Pick<EntryViolation, 'entry' | 'author'>,
  tx: Tx,
  { isSame, keepsFirst }: { isSame: (item: EngagementDoc) => boolean; keepsFirst: boolean },
): Promise<readonly ObjectId[]> {
  const list = { post: { _id: post, author }, kind }
  const holding = { $or: [{ 'items._id': id }, { 'items.actor': actor }] } as Filter<OverflowDoc>
  const parts = await readParts(collections, list, tx, holding)
  const same = parts
    .flatMap(({ items }) => items.filter(isSame))
    .sort((a, b) => (placeOf(a).toHexString() < placeOf(b).toHexString() ? -1 : 1))
  const kept = keepsFirst ? same[0] : undefined
  for (const { level, items } of parts) {
    const left = items.filter((item) => item === kept || !isSame(item))
    if (left.length < items.length) await writePart(collections, list, tx, { level, items: left })
  }
  return same.map(({ _id }) => _id).filter((removed) => !kept?._id.equals(removed))
}
