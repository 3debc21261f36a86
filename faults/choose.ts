import { type Item, isAlive, type User } from './model.ts'
import {
  addComment,
  createPost,
  deleteComment,
  deletePost,
  engage,
  type Operation,
  relate,
  type World,
} from './operations.ts'
import type { Random } from './random.ts'
import type { Register } from './register.ts'

type Choice = (world: World, actor: User, random: Random, text: string) => Operation | undefined

/** What users do, and how often compared to each other. */
const choices: readonly (readonly [number, Choice])[] = [
  [22, (world, actor, _, text) => createPost(world, actor, text)],
  [
    6,
    (world, actor, random) => {
      const post = random.pick([...actor.posts.values()].filter(isKnown).slice(-10))
      return post && deletePost(world, actor, post)
    },
  ],
  [16, (world, actor, random) => withOther(world, actor, random, 'followUser')],
  [9, (world, actor, random) => undo(world, actor, actor.follows, random, 'unfollowUser')],
  [2, (world, actor, random) => withOther(world, actor, random, 'muteUser')],
  [3, (world, actor, random) => undo(world, actor, actor.mutes, random, 'unmuteUser')],
  [1, (world, actor, random) => withOther(world, actor, random, 'blockUser')],
  [3, (world, actor, random) => undo(world, actor, actor.blocks, random, 'unblockUser')],
  [18, (world, actor, random) => onPost(world, actor, random, 'likePost')],
  [7, (world, actor, random) => onPost(world, actor, random, 'unlikePost')],
  [6, (world, actor, random) => onPost(world, actor, random, 'sharePost')],
  [3, (world, actor, random) => onPost(world, actor, random, 'unsharePost')],
  [
    8,
    ({ recent }, actor, random, text) => {
      const post = random.pick(recent)
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

/** Chooses what a user does next. @param text of no other post or comment. @returns undefined when the choice has no object. */
export function choose(
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

/** The first of the crowd are chosen most often: they become celebrities. */
function withOther(
  { crowd }: World,
  actor: User,
  random: Random,
  name: Parameters<typeof relate>[0],
): Operation | undefined {
  const other = crowd[Math.floor(random.next() ** 2 * crowd.length)]
  return other && other !== actor ? relate(name, actor, other) : undefined
}

function undo(
  { model }: World,
  actor: User,
  registers: ReadonlyMap<string, Register>,
  random: Random,
  name: Parameters<typeof relate>[0],
): Operation | undefined {
  const now = performance.now()
  const set = [...registers].filter(([, register]) => register.possible(now, now).has(true))
  const other = model.users.get(random.pick(set)?.[0] ?? '')
  return other && relate(name, actor, other)
}

function onPost(
  { recent }: World,
  actor: User,
  random: Random,
  name: Parameters<typeof engage>[0],
): Operation | undefined {
  const post = random.pick(recent)
  return post && engage(name, actor, post)
}

const isKnown = (item: Item) => item.id !== undefined && isAlive(item)
