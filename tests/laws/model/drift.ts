import { randomAt } from '../../../packages/drive/random.ts'
import { requestTimeout } from '../../../src/db/client.ts'
import { isDuplicateKey } from '../../../src/db/errors.ts'
import type { Collection, Filter, ObjectId } from '../../../src/db/mongo.ts'
import { engagementKinds } from '../../../src/engagement/kinds.ts'
import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { openAccounts } from '../../support/services.ts'
import { newId } from '../../support/verify.ts'

/** Draws whole numbers from 0 to `below` - 1, the same numbers for the same seed. */
export type Dice = (below: number) => number

export function diceOf(seed: number): Dice {
  let thrown = 0
  return (below) => Math.floor(below * randomAt(seed, thrown++, 0))
}

export const oneOf = <T>(some: readonly T[], dice: Dice): T => some[dice(some.length)] as T

const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `r-${name}${String(n).padStart(2, '0')}` as UserId)

/** The users, by the events that may happen to them. */
export const people = {
  /** Only one writer changes the follows of an owner. Their edges never drift. */
  owners: named('owner', 16),
  /** They are followed, and post. */
  stars: named('star', 12),
  /** Their follows never end: an edge from drift has no history that could continue. */
  still: named('still', 8),
  /** They follow, block, leave and come back. */
  wild: named('wild', 24),
} as const

export const allUsers: readonly UserId[] = Object.values(people).flat()

/** Creates accounts, twenty posts, and edges of the users whose edges may drift. */
export async function beginnings(services: Services, dice: Dice): Promise<PostRef[]> {
  await openAccounts(services, allUsers)
  const others = [...people.stars, ...people.wild]
  for (const follower of [...people.still, ...people.wild]) {
    for (let n = 0; n < 4; n++) {
      const followee = oneOf(
        others.filter((one) => one !== follower),
        dice,
      )
      await services.follows.follow(follower, followee)
    }
  }
  const posts: PostRef[] = []
  for (let n = 0; n < 20; n++) {
    const author = oneOf(others, dice)
    const { id } = await services.posts.create(author, { text: `post ${n}` })
    posts.push({ id, author })
  }
  return posts
}

const counters = ['followers', 'following', 'posts'] as const

/**
 * Damages one random document. An edge of a `wild` user may exist only in `following`, and an edge
 * of a `still` user only in `followers`. So no follow or unfollow can create or end an edge twice,
 * which no counter would show. Each such edge has a history that decides whether it exists. A write
 * that meets a lock fails before its socket does, so it never takes effect later.
 */
export async function drift(services: Services, dice: Dice): Promise<void> {
  const { user_stats, posts, followers, following } = services.collections
  const [still, wild] = [oneOf(people.still, dice), oneOf(people.wild, dice)]
  const to = oneOf([...people.stars, ...people.wild.filter((one) => one !== wild)], dice)
  switch (dice(12)) {
    case 0:
      return loseEdge(followers, { follower: wild })
    case 1:
      return loseEdge(following, { user: still })
    case 2:
      return unlessThere(addToOneSide(services, 'followers', still, to, dice))
    case 3:
      return unlessThere(addToOneSide(services, 'following', wild, to, dice))
    case 4:
    case 5: {
      const [post] = await posts.aggregate([{ $sample: { size: 1 } }]).toArray()
      if (!post) return
      const count = { [`counts.${oneOf(engagementKinds, dice)}`]: dice(60) - 10 }
      await posts.updateOne({ _id: post._id, author: post.author }, { $set: count }, requestTimeout)
      return
    }
    default: {
      const counter = { [oneOf(counters, dice)]: dice(60) - 10 }
      await user_stats.updateOne({ _id: oneOf(allUsers, dice) }, { $set: counter }, requestTimeout)
    }
  }
}

/** Inserts an edge into one collection, with a history in which it still exists or has ended. */
async function addToOneSide(
  { collections, transactions }: Services,
  side: 'followers' | 'following',
  follower: UserId,
  followee: UserId,
  dice: Dice,
): Promise<void> {
  const [_id, source] = [newId(), 'FEEDLINE' as const]
  const ended = dice(2) === 0
  await transactions.run(async ({ session }) => {
    const { follow_events, followers, following } = collections
    const pair = { user: follower, followee }
    // Leaves an existing edge unchanged: a duplicate key would be retried without end.
    const there = [
      await followers.findOne({ user: followee, follower }, { session }),
      await following.findOne(pair, { session }),
    ]
    if (there.some((edge) => edge !== null)) return
    if (side === 'followers') {
      await followers.insertOne({ _id, user: followee, follower, source }, { session })
    } else {
      await following.insertOne({ _id, ...pair, source }, { session })
    }
    if (await follow_events.findOne(pair, { session })) return
    const types = ['FOLLOWED', ...(ended ? ['UNFOLLOWED'] : [])] as ('FOLLOWED' | 'UNFOLLOWED')[]
    const at = new Date()
    const events = types.map((type) => ({ _id: newId(), ...pair, type, source, at }))
    await follow_events.insertMany(events, { session })
  })
}

async function loseEdge<Edge extends { _id: ObjectId; user: string }>(
  side: Collection<Edge>,
  filter: object,
): Promise<void> {
  const [edge] = await side
    .aggregate<Edge>([{ $match: filter }, { $sample: { size: 1 } }])
    .toArray()
  if (edge) await side.deleteOne({ _id: edge._id, user: edge.user } as Filter<Edge>, requestTimeout)
}

async function unlessThere(insert: Promise<unknown>): Promise<void> {
  try {
    await insert
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}
