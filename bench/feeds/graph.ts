import { existsSync } from 'node:fs'
import { randomAt, shuffled } from '../../packages/drive/random.ts'
import { EdgeList } from '../../packages/import/edge-list.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type BenchOptions, sizeOf } from '../options.ts'

/** A follow graph in memory. */
export interface Graph {
  readonly name: string
  readonly users: readonly UserId[]
  /** The followers of each user who has any. */
  readonly followers: ReadonlyMap<UserId, readonly UserId[]>
}

/** The folders that may hold the files of real graphs. */
const searchFolders = ['.', 'data', '..', '../data', '../shared/data']

/** Finds the file of a real graph. @returns undefined if no folder has it. */
export const findGraphFile = (name: string): string | undefined =>
  searchFolders.map((folder) => `${folder}/${name}`).find((file) => existsSync(file))

/** People in a ring who follow the nearest `friends` on either side. All follow the first one. */
function createRing(people: number, friends: number): Graph {
  const users = Array.from({ length: people }, (_, at) => `r${at}` as UserId)
  const near = (at: number, step: number) => users[(at + step + people) % people] as UserId
  const followers = users.map((user, at): [UserId, UserId[]] => [
    user,
    Array.from({ length: friends }, (_, n) => [near(at, n + 1), near(at, -n - 1)]).flat(),
  ])
  return {
    name: 'Reed98',
    users,
    followers: new Map([...followers, ['r0' as UserId, users.slice(1)]]),
  }
}

/**
 * Loads Reed98 (networkrepository.com), or another edge list. Each friendship becomes a follow in
 * both directions. The smallest size needs no file: it has a ring in the place of Reed98.
 * @param ring its people, and the friends of each on either side.
 * @returns undefined if the file does not exist.
 */
export async function loadReed98(
  { graph: path, isSmallest }: Pick<BenchOptions, 'graph' | 'isSmallest'>,
  ring: readonly [people: number, friends: number] = [100, 10],
): Promise<Graph | undefined> {
  if (path === undefined && isSmallest) return createRing(...ring)
  const file = path ?? findGraphFile('socfb-reed98.edges')
  if (file === undefined || !existsSync(file)) return undefined
  const followers = new Map<UserId, Set<UserId>>()
  const follow = (follower: UserId, followee: UserId) => {
    const existing = followers.get(followee) ?? new Set()
    if (follower !== followee) followers.set(followee, existing.add(follower))
  }
  for await (const { from, to } of (await EdgeList.open(file)).rows()) {
    const [one, other] = [from as string as UserId, to as string as UserId]
    follow(one, other)
    follow(other, one)
  }
  return {
    name: 'Reed98',
    users: [...followers.keys()],
    followers: new Map([...followers].map(([user, existing]) => [user, [...existing]])),
  }
}

/** Prime numbers, so that any step visits each user once. */
const zipfUserCounts = [30_011, 1_009] as const
/** User number r has 20,000 / (r + 1)^0.69 followers: 50 on average, at least 16. */
const exponent = 0.69

/** Authors of the generated graph with 10, 1,000 and 20,000 followers. */
export const sampleAuthors = {
  ten: 'z30010' as UserId,
  thousand: 'z76' as UserId,
  celebrity: 'z0' as UserId,
} as const

/** The followers of the celebrity. */
export const celebrityFollowersOf = (options: Pick<BenchOptions, 'isSmallest'>): number =>
  sizeOf(options, 20_000, 300)

/** Creates a graph with celebrities. It is the same in each run. */
export function createZipfGraph(options: Pick<BenchOptions, 'isSmallest'>): Graph {
  const celebrityFollowers = celebrityFollowersOf(options)
  const userCount = sizeOf(options, ...zipfUserCounts)
  const users = Array.from({ length: userCount }, (_, at) =>
    at === userCount - 1 ? sampleAuthors.ten : (`z${at}` as UserId),
  )
  const fixedCounts = new Map<UserId, number>([
    [sampleAuthors.celebrity, celebrityFollowers],
    [sampleAuthors.thousand, sizeOf(options, 1_000, 250)],
    [sampleAuthors.ten, 10],
  ])
  const followers = users.map((user, rank): [UserId, UserId[]] => {
    const count = fixedCounts.get(user) ?? Math.round(celebrityFollowers / (rank + 1) ** exponent)
    const step = 1 + Math.floor(randomAt(1, rank, 0) * (userCount - 1))
    const follower = (at: number) => users[(rank + (at + 1) * step) % userCount] as UserId
    return [user, Array.from({ length: count }, (_, at) => follower(at))]
  })
  return { name: 'zipf', users, followers: new Map(followers) }
}

/** The followees of each user who has any. */
export function followeesOf({ followers }: Graph): ReadonlyMap<UserId, readonly UserId[]> {
  const followees = new Map<UserId, UserId[]>()
  for (const [followee, all] of followers) {
    for (const follower of all) {
      const existing = followees.get(follower)
      if (existing) existing.push(followee)
      else followees.set(follower, [followee])
    }
  }
  return followees
}

/** All users in shuffled order. The order is the same in each run. */
export const shuffleUsers = ({ users }: Graph): UserId[] =>
  [...shuffled(users.length, 1, 0)].map((at) => users[at] as UserId)
