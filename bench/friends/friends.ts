import { isDeepStrictEqual } from 'node:util'
import { randomAt, shuffled } from '../../packages/drive/random.ts'
import { sampledFollowsMax, sampleMax } from '../../src/follows/suggestions.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { openBenchDatabase } from '../database.ts'
import { listEdges, storeGraph } from '../feeds/bulk-data.ts'
import { followeesOf, type Graph, loadReed98, shuffleUsers } from '../feeds/graph.ts'
import { runClosedLoop } from '../load.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { formatSummary, summarize } from '../statistics.ts'
import { batched, feedline, graphLookup, lookupEach, socialite } from './rivals.ts'

const clients = 2
const viewersMax = 100
/** The numbers of viewers whose results are compared. */
const compared = { suggestions: 20, mutuals: 2 }
const usersOfPage = 20
const systems = { feedline, socialite, graphLookup, batched, lookupEach }
type SystemName = keyof typeof systems
type Round = Readonly<Record<SystemName, number>>

const ratios = {
  suggestions_vs_socialite: ['feedline', 'socialite'],
  suggestions_vs_graph_lookup: ['feedline', 'graphLookup'],
  mutuals_vs_lookup_each: ['batched', 'lookupEach'],
} as const satisfies Record<string, readonly [SystemName, SystemName]>

/**
 * Measures suggestions and followees in common against plain aggregations over all follows: on
 * Reed98, and on a graph whose users follow 500 others.
 * @throws if a result differs from the plain aggregation although the follows are within the
 *   bounds.
 */
export async function benchmarkFriends(options: BenchOptions) {
  const reed98 = await loadReed98(options)
  if (!reed98) options.log('the file of Reed98 was not found')
  const results: Record<string, Record<string, number>> = {}
  for (const graph of [...(reed98 ? [reed98] : []), createActiveGraph(options)]) {
    results[graph.name] = await measureGraph(graph, options)
  }
  return results
}

async function measureGraph(graph: Graph, { log, print, rounds, ms }: BenchOptions) {
  // A plain aggregation may take longer than a request.
  await using database = await openBenchDatabase(log, {}, { socketTimeoutMS: 0 })
  const { services } = database
  log(`storing ${graph.name}`)
  await storeGraph(database, graph, shuffleFollows(graph))
  const followees = followeesOf(graph)
  const viewers = shuffleUsers(graph)
    .filter((user) => followees.has(user))
    .slice(0, viewersMax)
  log('comparing results')
  const exact = await compareResults(services, viewers, followees)
  const names = Object.keys(systems) as SystemName[]
  const measured: Round[] = []
  for (let number = 1; number <= rounds; number++) {
    log(`${graph.name}, round ${number} of ${rounds}`)
    const round: Partial<Record<SystemName, number>> = {}
    for (const name of number % 2 === 1 ? names : names.toReversed()) {
      round[name] = await measureSystem(name, services, viewers, ms)
    }
    measured.push(round as Round)
  }
  print(`| ${graph.name} | median (min–max) |\n|---|---|`)
  for (const name of names) {
    print(`| ${name}, calls/s | ${formatSummary(summarize(measured.map((one) => one[name])), 1)} |`)
  }
  const medians = Object.entries(ratios).map(([name, [own, rival]]) => {
    const summary = summarize(measured.map((round) => round[own] / round[rival]))
    print(`| ${name} | ${formatSummary(summary)} |`)
    return [name, summary.median] as const
  })
  print(`| viewers within the bounds | ${exact.within} of ${compared.suggestions} |`)
  print(`| best 20 found beyond the bounds | ${exact.overlap.toFixed(2)} |\n`)
  return { ...Object.fromEntries(medians), within: exact.within, overlap: exact.overlap }
}

/** The calls per second of one system. A call of mutuals is a page of 20 users. */
async function measureSystem(
  name: SystemName,
  services: Services,
  viewers: readonly UserId[],
  ms: number,
): Promise<number> {
  const viewerAt = (at: number) => viewers[at % viewers.length] as UserId
  const pageAt = (at: number) => Array.from({ length: usersOfPage }, (_, n) => viewerAt(at + 1 + n))
  const system = systems[name](services)
  const { perSecond } = await runClosedLoop(clients, ms, (_, at) =>
    system(viewerAt(at), pageAt(at)),
  )
  return perSecond
}

/**
 * Compares the results of some viewers with the plain aggregations.
 * @returns the number of viewers within the bounds, and the share of the best 20 suggestions that
 *   the others get.
 */
async function compareResults(
  services: Services,
  viewers: readonly UserId[],
  followees: ReadonlyMap<UserId, readonly UserId[]>,
) {
  const [bounded, plain] = [feedline(services), socialite(services)]
  const [counted, plainlyCounted] = [batched(services), lookupEach(services)]
  const overlaps: number[] = []
  const page = viewers.slice(0, usersOfPage)
  for (const viewer of viewers.slice(0, compared.mutuals)) {
    if (!isDeepStrictEqual(await counted(viewer, page), await plainlyCounted(viewer, page))) {
      throw new Error(`the mutuals of ${viewer} differ`)
    }
  }
  for (const viewer of viewers.slice(0, compared.suggestions)) {
    const [found, expected] = [await bounded(viewer), await plain(viewer)]
    const own = followees.get(viewer) ?? []
    const share = Math.floor(sampledFollowsMax / own.length)
    const isWithin =
      own.length <= sampleMax && own.every((one) => (followees.get(one)?.length ?? 0) <= share)
    if (!isWithin) {
      const best = new Set(expected.slice(0, 20).map(([user]) => user))
      const common = found.slice(0, 20).filter(([user]) => best.has(user))
      overlaps.push(best.size === 0 ? 1 : common.length / best.size)
    } else if (!isDeepStrictEqual(found, expected)) {
      throw new Error(`the suggestions of ${viewer} differ`)
    }
  }
  const sum = overlaps.reduce((total, one) => total + one, 0)
  return {
    within: compared.suggestions - overlaps.length,
    overlap: overlaps.length === 0 ? 1 : sum / overlaps.length,
  }
}

/**
 * The follows of a graph in shuffled order of time, as people follow each other. It is the same in
 * each run.
 */
function shuffleFollows(graph: Graph) {
  const follows = listEdges(graph)
  const order = shuffled(follows.length, 1, 0)
  return follows.map((follow, at) => ({
    ...follow,
    _id: follows[order[at] ?? at]?._id ?? follow._id,
  }))
}

/**
 * Creates a graph of 1,000 users who follow 500 of 20,000 users, popular ones more often. It is the
 * same in each run.
 */
function createActiveGraph(options: BenchOptions): Graph {
  const activeUsers = sizeOf(options, 1_000, 60)
  const followsEach = sizeOf(options, 500, 50)
  const followedUsers = sizeOf(options, 20_000, 600)
  const users = Array.from({ length: followedUsers }, (_, at) => `a${at}` as UserId)
  const followers = new Map<UserId, Set<UserId>>()
  for (let follower = 0; follower < activeUsers; follower++) {
    for (let at = 0; at < followsEach; at++) {
      // Half of the follows are of active users, so that followees have followees.
      const among = at % 2 === 0 ? activeUsers : followedUsers
      const followee = Math.floor(randomAt(follower, at, 1) ** 2 * among)
      const user = users[followee] as UserId
      if (followee === follower) continue
      followers.set(user, (followers.get(user) ?? new Set()).add(users[follower] as UserId))
    }
  }
  return {
    name: 'active users',
    users,
    followers: new Map([...followers].map(([user, all]) => [user, [...all]])),
  }
}
