import type { Collections } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { fromObjectId, lowestId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { type EngagementKind, engagementKinds } from '../../engagement/kinds.ts'
import { type EngagementId, neighbour } from '../../lib/ids.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import {
  deriveMetadata,
  type ListRef,
  lockPosts,
  placeOf,
  readParts,
  writePart,
} from '../list-documents.ts'
import { type PostFacts, PostLists } from '../post-lists.ts'
import type { ScannedPosts } from '../snapshot-scan.ts'

const invariant = { name: 'post-lists', law: 'L2' } as const

/** The most entries of one list that a transaction sorts. */
const reorderMax = 10_000

interface ListViolation extends Violation {
  readonly post: PostFacts
}

/**
 * Law L2: a post's levels, flag and `last` agree with its stored entries, and places rise from the post through the
 * levels. The suspects come from a {@link SnapshotScan}. A recheck is two commands. A repair is ten for each post, and
 * one for each document of an unsorted list.
 */
export const postLists = ({
  collections,
}: IntegrityServices): Invariant<ScannedPosts, ObjectId, ListViolation> => ({
  ...invariant,
  async *scan({ lists }) {
    yield* suspectPosts(lists)
  },
  async recheck(ids, at) {
    const lists = await listsOf(collections, ids, at)
    const violations = lists.posts.flatMap((post) =>
      lists
        .problems(post, reorderMax)
        .map((problem) => ({ finding: findingOf(invariant, problem), post })),
    )
    return { violations }
  },
  lock: (tx, ids) => lockPosts(collections, tx, ids),
  async repair(tx, violations) {
    const posts = new Map(violations.map(({ post }) => [post._id.toHexString(), post]))
    for (const post of posts.values()) {
      await deriveMetadata(collections, post, tx)
      const lists = await listsOf(collections, [post._id], tx)
      const left = lists.posts.flatMap((one) => lists.problems(one, reorderMax))
      const kinds = engagementKinds.filter((kind: EngagementKind) =>
        left.some(({ subject }) => subject === `${post._id.toHexString()}.${kind}`),
      )
      for (const kind of kinds) await reorder(collections, { post, kind }, tx)
      if (kinds.length > 0) await deriveMetadata(collections, post, tx)
    }
  },
})

/** The posts of a scan whose lists have a problem. */
const suspectPosts = (lists: PostLists): ObjectId[] =>
  lists.posts.filter((post) => lists.problems(post, reorderMax).length > 0).map(({ _id }) => _id)

async function listsOf(
  { posts, overflow }: Pick<Collections, 'posts' | 'overflow'>,
  ids: readonly ObjectId[],
  tx: Tx,
): Promise<PostLists> {
  const among = { $in: [...ids] }
  const lists = await PostLists.load(posts, { _id: among }, { tx })
  for await (const _ of lists.addOverflow(overflow, among, tx));
  return lists
}

/** Sorts the entries of a list across its documents. Each document keeps its number of entries. */
async function reorder(collections: Collections, list: ListRef, tx: Tx): Promise<void> {
  const parts = await readParts(collections, list, tx)
  const entries = parts
    .flatMap(({ items }) => items)
    .sort((a, b) => (placeOf(a).toHexString() < placeOf(b).toHexString() ? -1 : 1))
  let last = fromObjectId<EngagementId>(lowestId)
  const sorted = entries.map((entry) => {
    const place = fromObjectId<EngagementId>(placeOf(entry))
    last = place > last ? place : neighbour(last, 1)
    return last === place ? entry : { ...entry, place: toObjectId(last) }
  })
  for (const { level, items } of parts) {
    await writePart(collections, list, tx, { level, items: sorted.splice(0, items.length) })
  }
}
