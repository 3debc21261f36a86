import type { Document, ObjectId } from '../db/mongo.ts'
import { lowestId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { repeatDifferences, unloggedDifferences } from './entries.ts'
import { PostLists } from './lists.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

/** Posts walked at a time. */
const postsAtOnce = 1_000

/**
 * What is wrong with likes, comments and shares (law L2): what a post counts is what is stored, in order, in levels
 * that it tells of; nobody is in a list of likes or shares twice; every entry stands in its user's log; and what a
 * deleted post left is being cleared.
 * @param onProgress told after each batch how many posts have been looked at.
 */
export async function* engagementDifferences(
  services: VerifyServices,
  tally: Tally,
  onProgress: (done: number) => void,
): AsyncGenerator<Difference> {
  const { posts } = services.collections
  const look = (some: readonly ObjectId[], tx: Tx) => looked(services, some, tx)
  for (let after = lowestId; ; ) {
    const lists = await PostLists.of(posts, { _id: { $gt: after } }, { limit: postsAtOnce })
    const last = lists.posts.length < postsAtOnce ? undefined : lists.posts.at(-1)?._id
    const ids = { $gt: after, ...(last ? { $lte: last } : {}) }
    yield* confirmed(services, suspects(services, lists, ids), look, tally)
    yield* repeatDifferences(services, lists, tally)
    yield* unloggedDifferences(services, ids, tally)
    tally.checked.posts += lists.posts.length
    tally.checked.engagements += lists.size
    onProgress(tally.checked.posts)
    if (!last) return
    after = last
  }
}

async function* suspects(
  { collections }: VerifyServices,
  lists: PostLists,
  ids: Document,
): AsyncGenerator<ObjectId> {
  yield* lists.take(collections.overflow, ids)
  for (const post of lists.posts) if (lists.problems(post).length > 0) yield post._id
}

async function looked(
  { collections }: VerifyServices,
  ids: readonly ObjectId[],
  tx: Tx,
): Promise<Verdict> {
  const { posts, overflow, outbox } = collections
  const among = { $in: ids }
  const lists = await PostLists.of(posts, { _id: among }, { limit: ids.length, tx })
  const left: string[] = []
  for await (const post of lists.take(overflow, among, tx)) left.push(post.toHexString())
  const promises =
    left.length === 0
      ? []
      : await outbox
          .find({ kind: 'engagements.orphaned', 'payload.post': { $in: left } }, { ...tx })
          .toArray()
  const promised = new Set(promises.map(({ payload }) => payload.post))
  const forgotten = left.filter((id) => !promised.has(id))
  const remains = forgotten.map((subject): Difference => {
    const expected = 'a job that clears what a deleted post left'
    return { law: 'L2', kind: 'remains', subject, expected, found: 'overflow without a post' }
  })
  return {
    differences: [...lists.posts.flatMap((post) => lists.problems(post)), ...remains],
    inFlight: left.length - forgotten.length,
  }
}
