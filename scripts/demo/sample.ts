import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { fresh, people, replies } from './people.ts'

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
const handles = people.map(({ handle }) => handle as UserId)

const [visitor, ...others] = handles as [UserId, ...UserId[]]
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

/** Stores people who follow each other, their posts of the last four days, likes and comments. */
export async function storeSample({ past, present, clock }: SampleParts): Promise<void> {
  const random = createRandom(7)
  const endMs = clock.now
  clock.now = endMs - daysMs - 3_600_000
  for (const { handle, name, bio } of people) {
    await past.users.create(handle as UserId, { name, bio })
  }
  for (const follower of handles) {
    const followees = handles.filter((other) => other !== follower && random() < 0.75)
    for (const followee of followees) await past.follows.follow(follower, followee)
  }
  for (const [name, members] of Object.entries(groups)) {
    for (const member of members) {
      await past.follows.follow(visitor, member as UserId)
      await past.follows.setGroups(visitor, member as UserId, [name])
    }
  }
  const places = people.flatMap(({ handle, posts }) =>
    posts.map((text, n) => ({ author: handle as UserId, text, at: (n + random()) / posts.length })),
  )
  for (const { author, text, at } of places.toSorted((a, b) => a.at - b.at)) {
    clock.now = endMs - daysMs + Math.floor(at * (daysMs - 120_000))
    const post = await past.posts.create(author, { text })
    await answerPost(present, post, random)
    if (author !== visitor && random() < 0.3) await present.engagements.add('likes', visitor, post)
  }
}

/** Some people like the post, and a few comment on it. */
async function answerPost(services: Services, post: PostRef, random: () => number): Promise<void> {
  const share = random() * 0.9
  const fans = others.filter((handle) => handle !== post.author && random() < share)
  await Promise.all(fans.map((fan) => services.engagements.add('likes', fan, post)))
  for (const fan of fans.filter(() => random() < 0.15)) {
    await services.engagements.add('comments', fan, post, { text: pick(replies, random) })
  }
}

/** Writes one post of someone other than the visitor, with its likes. */
export async function writeFreshPost(services: Services): Promise<void> {
  const author = pick(others, Math.random)
  const post = await services.posts.create(author, { text: pick(fresh, Math.random) })
  await answerPost(services, post, Math.random)
}
