import { type Item, isAlive, type User } from './model.ts'
import {
  addComment,
  changeEngagement,
  changeRelation,
  createPost,
  deleteComment,
  deletePost,
  type Operation,
  type World,
} from './operations.ts'
import type { Random } from './random.ts'
import type { Register } from './register.ts'

type OperationFactory = (
  world: World,
  actor: User,
  random: Random,
  text: string,
) => Operation | undefined

/** The operations of users, with their relative frequencies. */
const choices: readonly (readonly [number, OperationFactory])[] = [
  [22, (world, actor, _, text) => createPost(world, actor, text)],
  [
    6,
    (world, actor, random) => {
      const post = random.pick([...actor.posts.values()].filter(isKnown).slice(-10))
      return post && deletePost(world, actor, post)
    },
  ],
  [16, (world, actor, random) => changeRandomRelation(world, actor, random, 'followUser')],
  [9, (world, actor, random) => undoRelation(world, actor, actor.follows, random, 'unfollowUser')],
  [2, (world, actor, random) => changeRandomRelation(world, actor, random, 'muteUser')],
  [3, (world, actor, random) => undoRelation(world, actor, actor.mutes, random, 'unmuteUser')],
  [1, (world, actor, random) => changeRandomRelation(world, actor, random, 'blockUser')],
  [3, (world, actor, random) => undoRelation(world, actor, actor.blocks, random, 'unblockUser')],
  [18, (world, actor, random) => changeRandomEngagement(world, actor, random, 'likePost')],
  [7, (world, actor, random) => changeRandomEngagement(world, actor, random, 'unlikePost')],
  [6, (world, actor, random) => changeRandomEngagement(world, actor, random, 'sharePost')],
  [3, (world, actor, random) => changeRandomEngagement(world, actor, random, 'unsharePost')],
  [
    8,
    ({ recentPosts }, actor, random, text) => {
      const post = random.pick(recentPosts)
      return post && addComment(actor, post, text)
    },
  ],
  [
    3,
    (_, actor, random) => {
      const comment = random.pick(actor.comments.filter(isKnown).slice(-10))
      return comment && deleteComment(actor, comment)
    },
  ],
]
const total = choices.reduce((sum, [weight]) => sum + weight, 0)

/**
 * Chooses the next operation of a user.
 * @param text a text that no other post or comment has.
 * @returns undefined if there is nothing to apply the chosen operation to.
 */
export function chooseOperation(
  world: World,
  actor: User,
  random: Random,
  text: string,
): Operation | undefined {
  let left = random.between(0, total)
  for (const [weight, choice] of choices) {
    left -= weight
    if (left < 0) return choice(world, actor, random, text)
  }
  return undefined
}

/**
 * Changes a relation to a random user. The first users are chosen most often, so they become
 * celebrities.
 */
function changeRandomRelation(
  { activeUsers }: World,
  actor: User,
  random: Random,
  name: Parameters<typeof changeRelation>[0],
): Operation | undefined {
  const other = activeUsers[Math.floor(random.next() ** 2 * activeUsers.length)]
  return other && other !== actor ? changeRelation(name, actor, other) : undefined
}

function undoRelation(
  { model }: World,
  actor: User,
  registers: ReadonlyMap<string, Register>,
  random: Random,
  name: Parameters<typeof changeRelation>[0],
): Operation | undefined {
  const now = performance.now()
  const setRegisters = [...registers].filter(([, register]) =>
    register.possibleValues(now, now).has(true),
  )
  const other = model.users.get(random.pick(setRegisters)?.[0] ?? '')
  return other && changeRelation(name, actor, other)
}

function changeRandomEngagement(
  { recentPosts }: World,
  actor: User,
  random: Random,
  name: Parameters<typeof changeEngagement>[0],
): Operation | undefined {
  const post = random.pick(recentPosts)
  return post && changeEngagement(name, actor, post)
}

const isKnown = (item: Item) => item.id !== undefined && isAlive(item)
