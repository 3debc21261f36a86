import { ObjectId } from 'mongodb'
import type { UserId } from '../../src/lib/ids.ts'
import type { BenchOptions } from '../options.ts'
import { type Graph, shuffledPeople } from './graph.ts'
import {
  clearBuckets,
  drain,
  entriesOf,
  type FeedsDatabase,
  fillCaches,
  maintain,
  type StoredStrategy,
} from './ours.ts'
import { fillSocialite, openSocialite, type SocialiteWay } from './socialite.ts'
import { textOf } from './store.ts'

/** Deliveries of each strategy in one round, for a second of `--seconds`. */
export const deliveriesASecond = 10_000

/** Those that store each delivery; HYBRID stores as INBOX does. */
export const delivered = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'] as const

/** Deliveries a second of everything that was measured, a number a round. */
export type Rates = Readonly<Record<string, number[]>>

/**
 * Deliveries a second, ours and Socialite's in turn, of posts by the same authors to the same followers, each beginning
 * with empty buckets and with caches that are full. A rate is 0 unless afterwards every follower has every post.
 */
export async function measureDeliveries(
  database: FeedsDatabase,
  graph: Graph,
  authors: readonly UserId[],
  { rounds, say }: BenchOptions,
): Promise<Rates> {
  const ways = openSocialite(database.db)
  await fillCaches(database, graph.people)
  await fillSocialite(database.db, graph.people)
  const expected = authors.reduce((sum, author) => sum + audience(graph, author), 0)
  const rates: Record<string, number[]> = {}
  const keep = (name: string, seconds: number, entries: number) => {
    const right = entries === expected
    const rate = right ? Math.round(expected / seconds) : 0
    say(`${graph.name}: ${name} ${rate} deliveries/s`)
    if (!right) say(`WRONG: ${name} left ${entries} entries of ${expected}, so its rate is 0`)
    rates[name] = [...(rates[name] ?? []), rate]
  }
  for (let round = 1; round <= rounds; round++) {
    say(`${graph.name}: deliveries, round ${round} of ${rounds}, ${expected} each`)
    await clearBuckets(database)
    for (const strategy of delivered) {
      const { seconds, entries } = await ours(database, strategy, authors)
      keep(strategy, seconds, entries)
    }
    for (const [name, way] of Object.entries(ways)) {
      await way.clear()
      const { seconds, entries } = await theirs(database, way, authors)
      keep(`Socialite ${name}`, seconds, entries)
    }
  }
  return rates
}

const audience = ({ followers }: Graph, author: UserId) => followers.get(author)?.length ?? 0

/** Authors in an order of its own for each graph, until so many deliveries come together; nobody gets more than a cache holds. */
export function authorsFor(graph: Graph, deliveries: number): UserId[] {
  const authors: UserId[] = []
  let sum = 0
  const held = new Map<UserId, number>()
  for (const author of shuffledPeople(graph)) {
    if (sum >= deliveries) break
    const followers = graph.followers.get(author) ?? []
    if (followers.some((follower) => (held.get(follower) ?? 0) >= 50)) continue
    for (const follower of followers) held.set(follower, (held.get(follower) ?? 0) + 1)
    authors.push(author)
    sum += followers.length
  }
  return authors
}

async function ours(database: FeedsDatabase, strategy: StoredStrategy, authors: readonly UserId[]) {
  const { services } = database
  await maintain(database, [strategy])
  const posts = new Map<string, UserId>()
  for (const [at, author] of authors.entries()) {
    posts.set((await services.posts.create(author, { text: textOf(at) })).id, author)
  }
  const seconds = await timed(() => drain(services))
  return { seconds, entries: await entriesOf(services, strategy, posts) }
}

async function theirs({ services }: FeedsDatabase, way: SocialiteWay, authors: readonly UserId[]) {
  const posts = authors.map((author, at) => ({ _id: new ObjectId(), _a: author, _m: textOf(at) }))
  const followersOf = async (author: string) => {
    const found = await services.collections.followers
      .find({ user: author }, { hint: { user: 1, follower: 1 }, batchSize: 4_000 })
      .project<{ follower: UserId }>({ _id: 0, follower: 1 })
      .toArray()
    return found.map(({ follower }) => follower)
  }
  const seconds = await timed(() => way.deliver(posts, followersOf))
  return { seconds, entries: await way.entries(posts.map(({ _id }) => _id)) }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return (performance.now() - begin) / 1000
}
