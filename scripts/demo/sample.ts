import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { moments, people, remarks, replies } from './people.ts'

/** A clock that the sample sets, in milliseconds since 1970. */
export interface SampleClock {
  now: number
}

export interface SampleParts {
  /** Services that go by the clock. */
  readonly past: Services
  /** Services that go by the database's clock, because engagement has deadlines. */
  readonly present: Services
  readonly clock: SampleClock
}

const daysMs = 4 * 86_400_000

/** The visitor's groups. */
const groups = { makers: ['bob', 'dora', 'jonas'], outdoors: ['chen', 'greta', 'ines'] }

/** Even numbers from 0 to 1 that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item

/** The accounts of {@link people}, in their order. */
type SampleAccounts = readonly [visitor: UserId, ...others: UserId[]]

/**
 * Stores people who follow each other, their posts of the last four days, likes and comments.
 * @returns their accounts. Each belongs to the subject of `Dev` tokens that is its handle.
 */
export async function storeSample({ past, present, clock }: SampleParts): Promise<SampleAccounts> {
  const random = createRandom(7)
  const endMs = clock.now
  clock.now = endMs - daysMs - 3_600_000
  const ids = new Map<string, UserId>()
  for (const { handle, name, bio } of people) {
    const subject = { issuer: '', sub: handle, isMain: true }
    const user = await past.users.register(subject, { name, bio })
    if (user) ids.set(handle, user.id)
  }
  const accounts = people.map(({ handle }) => ids.get(handle)) as [UserId, ...UserId[]]
  const [visitor, ...others] = accounts
  for (const follower of accounts) {
    const followees = accounts.filter((other) => other !== follower && random() < 0.75)
    for (const followee of followees) await past.follows.follow(follower, followee)
  }
  for (const [name, members] of Object.entries(groups)) {
    for (const member of members.map((handle) => ids.get(handle) as UserId)) {
      await past.follows.follow(visitor, member)
      await past.follows.setGroups(visitor, member, [name])
    }
  }
  const places = people.flatMap(({ handle, posts }) => {
    const author = ids.get(handle) as UserId
    return posts.map((text, n) => ({ author, text, at: (n + random()) / posts.length }))
  })
  for (const { author, text, at } of places.toSorted((a, b) => a.at - b.at)) {
    clock.now = endMs - daysMs + Math.floor(at * (daysMs - 120_000))
    const post = await past.posts.create(author, { text })
    await answerPost(present, post, others, random)
    if (author !== visitor && random() < 0.3) await present.engagements.add('likes', visitor, post)
  }
  return accounts
}

/** Some people like the post, and a few comment on it. */
async function answerPost(
  services: Services,
  post: PostRef,
  others: readonly UserId[],
  random: () => number,
): Promise<void> {
  const share = random() * 0.9
  const fans = others.filter((user) => user !== post.author && random() < share)
  await Promise.all(fans.map((fan) => services.engagements.add('likes', fan, post)))
  for (const fan of fans.filter(() => random() < 0.15)) {
    await services.engagements.add('comments', fan, post, { text: pick(replies, random) })
  }
}

/** The steps between two posts. In each, someone reads a recent post. */
const stepsPerPost = 5

/**
 * Goes on with the sample: each call of the result is a step. Someone other than the visitor writes
 * a post, and in the next steps one person each likes one of the last posts or comments on it. A
 * text repeats after all others.
 */
export function continueSample(
  services: Services,
  [, ...others]: SampleAccounts,
): () => Promise<void> {
  const random = createRandom(11)
  let step = 0
  let recent: readonly PostRef[] = []
  return async () => {
    const isPost = step % stepsPerPost === 0
    const postNumber = Math.floor(step++ / stepsPerPost)
    const person = pick(others, random)
    if (isPost) {
      const post = await services.posts.create(person, { text: freshText(postNumber) })
      recent = [post, ...recent].slice(0, 5)
      return
    }
    const post = pick(recent, random)
    if (random() < 0.8) await services.engagements.add('likes', person, post)
    else await services.engagements.add('comments', person, post, { text: pick(replies, random) })
  }
}

/** A moment with a remark: the nth of all pairs. Neighbours share neither. */
export function freshText(n: number): string {
  const round = Math.floor(n / moments.length)
  return `${moments[n % moments.length]} ${remarks[(n + round) % remarks.length]}`
}
