import { randomAt } from '../../packages/drive/random.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Graph } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'

/** A follow graph as lists of numbers. Users are their positions in `users`. */
export interface NumberedGraph {
  readonly name: string
  readonly users: readonly UserId[]
  /** Follower and followee of each edge. Each edge exists once. */
  readonly edges: readonly (readonly [follower: number, followee: number])[]
}

/** The audiences of the authors whose posts are measured. */
const audiences = [10, 100, 1_000, 9_000] as const
const authorsPerAudience = [64, 32, 16, 4] as const
/** The number of followees of the readers whose pages are measured. */
export const followeeCounts = [10, 100, 1_000] as const
export const readersPerCount = 32
/** The ordinary users. The smallest graph has no audience of 9,000. */
const ordinaryCounts = [10_000, 1_200] as const
/** The number of followees of an ordinary user. */
export const followeesEach = 20

/** The graph of the constants, and the users of each role. */
export interface ConstantsGraph extends NumberedGraph {
  /** The users without a special role: each follows 20 others. */
  readonly ordinary: readonly UserId[]
  /** The authors with the number of followers at the same place of {@link audiences}. */
  readonly authors: readonly (readonly UserId[])[]
  /** The readers with the number of followees at the same place of {@link followeeCounts}. */
  readonly readers: readonly (readonly UserId[])[]
}

/** Those of {@link audiences} that a graph has. */
export const audiencesOf = (options: Pick<BenchOptions, 'isSmallest'>): readonly number[] =>
  audiences.slice(0, sizeOf(options, audiences.length, 3))

/**
 * Creates a graph of equal users and of authors and readers with exact numbers of edges. It is the
 * same in each run.
 */
export function createConstantsGraph(options: Pick<BenchOptions, 'isSmallest'>): ConstantsGraph {
  const users: UserId[] = []
  const addUsers = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at) => {
      users.push(`${prefix}${at.toString().padStart(5, '0')}` as UserId)
      return users.length - 1
    })
  const ordinaryUsers = sizeOf(options, ...ordinaryCounts)
  const ordinary = addUsers('user', ordinaryUsers)
  const edges: [number, number][] = []
  // A prime number of steps apart, so that no pair repeats.
  const ordinaryAt = (at: number) => (at * 7_919) % ordinaryUsers
  for (const user of ordinary) {
    for (let step = 1; step <= sizeOf(options, followeesEach, 2); step++)
      edges.push([user, (user + step * step) % ordinaryUsers])
  }
  const authors = audiencesOf(options).map((audience, at) => {
    const some = addUsers(`author${at}`, sizeOf(options, authorsPerAudience[at] ?? 0, 1))
    for (const [index, author] of some.entries()) {
      for (let n = 0; n < audience; n++) edges.push([ordinaryAt(index * 613 + n), author])
    }
    return some
  })
  const readers = followeeCounts.map((count, at) => {
    const some = addUsers(`reader${at}`, sizeOf(options, readersPerCount, 2))
    for (const [index, reader] of some.entries()) {
      for (let n = 0; n < count; n++) edges.push([reader, ordinaryAt(index * 317 + n)])
    }
    return some
  })
  const names = (some: readonly number[]) => some.map((at) => users[at] as UserId)
  return {
    ...{ name: 'constants', users, edges },
    ordinary: names(ordinary),
    authors: authors.map(names),
    readers: readers.map(names),
  }
}

/** The shape of the generated graph: the number of followers falls with the rank to this power. */
export const zipfShape = { exponent: 0.8, followersMax: 20_000 } as const

/**
 * Creates a graph whose user of rank r has `followersMax` / r^`exponent` followers. It is the same
 * in each run.
 */
export function createPowerLawGraph(userCount: number): NumberedGraph {
  const { exponent, followersMax } = zipfShape
  const users = Array.from({ length: userCount }, (_, at) => `z${at}` as UserId)
  const edges: [number, number][] = []
  for (let rank = 0; rank < userCount; rank++) {
    const count = Math.round(Math.min(followersMax, userCount / 5) / (rank + 1) ** exponent)
    // Equal steps through all users but the author: no follower repeats.
    const first = Math.floor(randomAt(1, rank, 0) * userCount)
    const step = (userCount - 1) / count
    for (let n = 0; n < count; n++) {
      const offset = 1 + ((first + Math.floor(n * step)) % (userCount - 1))
      edges.push([(rank + offset) % userCount, rank])
    }
  }
  return { name: 'generated', users, edges }
}

/** Numbers the users of a graph. */
export function numberGraph({ name, users, followers }: Graph): NumberedGraph {
  const numbers = new Map(users.map((user, at) => [user, at]))
  const numberOf = (user: UserId) => numbers.get(user) as number
  const edges = [...followers].flatMap(([followee, all]) =>
    all.map((follower) => [numberOf(follower), numberOf(followee)] as const),
  )
  return { name, users, edges }
}

/** The number of followers, or of followees, of each user. */
export function countEdges(
  { users, edges }: NumberedGraph,
  side: 'followers' | 'followees',
): Uint32Array {
  const counts = new Uint32Array(users.length)
  for (const [follower, followee] of edges) {
    const user = side === 'followers' ? followee : follower
    counts[user] = (counts[user] ?? 0) + 1
  }
  return counts
}
