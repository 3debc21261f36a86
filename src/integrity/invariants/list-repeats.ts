import type { OverflowDoc } from '../../db/collections.ts'
import type { Filter } from '../../db/mongo.ts'
import type { Tx } from '../../db/transaction.ts'
import { type EngagementKind, kinds } from '../../engagement/kinds.ts'
import { arrayIn } from '../../engagement/list-store.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import { type ListRef, lockPosts, placeOf, readParts, writePart } from '../list-documents.ts'
import type { PostLists } from '../post-lists.ts'
import type { ScannedPosts } from '../snapshot-scan.ts'

const invariant = { name: 'list-repeats', law: 'L2' } as const

/** The most repeats of one list that a scan yields. */
const repeatsMax = 100

/** A list, and a key that it holds more than once: an actor, or the id of a comment. */
interface Repeat extends ListRef {
  readonly key: unknown
}

interface RepeatViolation extends Violation {
  readonly repeat: Repeat
}

/**
 * Law L2: a user is in a list of likes or shares once, and a comment in its list once. The range is the lists of some
 * posts. One command for each list that overflows or repeats. The repair keeps the entry with the lowest place.
 */
export const listRepeats = (
  services: IntegrityServices,
): Invariant<ScannedPosts, Repeat, RepeatViolation> => ({
  ...invariant,
  scan: ({ lists }) => repeatsIn(services, lists),
  async recheck(repeats, at) {
    const violations: RepeatViolation[] = []
    for (const repeat of repeats) {
      const { post, kind, key } = repeat
      const found = (await partsWith(services, repeat, at)).flatMap(({ items }) =>
        items.filter((item) => isKey(item[kinds[kind].key], key)),
      ).length
      const subject = `${post._id}.${kind} of ${key}`
      const finding = findingOf(invariant, { kind: 'twice', subject, expected: 1, found })
      if (found > 1) violations.push({ repeat, finding })
    }
    return { violations }
  },
  lock: (tx, repeats) =>
    lockPosts(
      services.collections,
      tx,
      repeats.map(({ post }) => post._id),
    ),
  async repair(tx, violations) {
    for (const { repeat } of violations) await removeRepeats(services, repeat, tx)
  },
})

const isKey = (found: unknown, key: unknown) => String(found) === String(key)

/** The post's part of the list, and the overflow documents that hold the key. */
const partsWith = ({ collections }: IntegrityServices, { kind, key, ...list }: Repeat, tx: Tx) =>
  readParts(collections, { ...list, kind }, tx, {
    [`items.${kinds[kind].key}`]: key,
  } as Filter<OverflowDoc>)

async function removeRepeats(services: IntegrityServices, repeat: Repeat, tx: Tx): Promise<void> {
  const { collections } = services
  const parts = await partsWith(services, repeat, tx)
  const rule = kinds[repeat.kind].key
  const entries = parts.flatMap(({ items }) => items.filter((one) => isKey(one[rule], repeat.key)))
  const [kept] = entries.toSorted((a, b) =>
    placeOf(a).toHexString() < placeOf(b).toHexString() ? -1 : 1,
  )
  for (const { level, items } of parts) {
    const left = items.filter((item) => item === kept || !isKey(item[rule], repeat.key))
    if (left.length < items.length) {
      await writePart(collections, repeat, tx, { level, items: left })
    }
  }
  const gone = entries.filter(({ _id }) => !kept?._id.equals(_id))
  const rows = gone.map(({ _id, actor }) => ({ _id, user: actor }))
  if (rows.length > 0)
    await collections.engagements_by_user.deleteMany({ $or: rows }, { session: tx.session })
}

/** The stages that yield the key of each entry in one document. */
const keysIn = (list: unknown, kind: EngagementKind) => [
  { $project: { _id: 0, key: { $map: { input: list, in: `$$this.${kinds[kind].key}` } } } },
  { $unwind: '$key' },
]

async function* repeatsIn(
  { collections: { posts, overflow } }: IntegrityServices,
  lists: PostLists,
): AsyncGenerator<Repeat> {
  for (const post of lists.posts) {
    for (const kind of lists.kindsThatMayRepeat(post)) {
      const levels = { $match: { '_id.post': post._id, '_id.kind': kind } }
      const beyond = [levels, ...keysIn('$items', kind)]
      const found = posts.aggregate<{ _id: unknown }>(
        [
          { $match: { _id: post._id, author: post.author } },
          ...keysIn(arrayIn(kind), kind),
          { $unionWith: { coll: overflow.collectionName, pipeline: beyond } },
          { $group: { _id: '$key', times: { $sum: 1 } } },
          { $match: { times: { $gt: 1 } } },
          { $limit: repeatsMax },
        ],
        { allowDiskUse: true },
      )
      for await (const { _id: key } of found) yield { post, kind, key }
    }
  }
}
