import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { openBenchDatabase, readVersions } from '../database.ts'
import { createAccounts, userAt } from '../engagement/feedline.ts'
import { type LoadResult, runClosedLoop } from '../load.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { formatSummary, quantile, summarize } from '../statistics.ts'
import { type FollowImplementation, groupCommit, oneTransactionEach } from './implementations.ts'
import { clients, measureSpreadFollows, spreadPromises } from './spread.ts'

const implementations = { groupCommit, oneTransactionEach }
type ImplementationName = keyof typeof implementations
type LoadResults = Readonly<Record<'follow' | 'unfollow', LoadResult>>
type Round = Readonly<Record<ImplementationName, LoadResults>>

/**
 * Measures 64 clients that follow different accounts, with their jobs. Then measures 64 clients
 * that follow one account, then unfollow it: with group commit, and with one transaction each. No
 * jobs run then.
 */
export async function benchmarkFollows(options: BenchOptions) {
  const spread = await measureSpreadFollows(options)
  await using database = await openBenchDatabase(options.log)
  const { services } = database
  const accounts = sizeOf(options, 200_000, 3_000)
  options.log(`creating ${accounts} accounts`)
  await createAccounts(services, accounts)
  const names = Object.keys(implementations) as ImplementationName[]
  const rounds: Round[] = []
  let celebrities = 0
  for (const name of names) {
    options.log(`warm-up, ${labels[name]}`)
    // The unfollows take about as long as the follows.
    const measure = implementations[name](services)
    const celebrity = `celebrity${celebrities++}` as UserId
    await measureImplementation(services, measure, celebrity, options.warmUpMs / 2)
  }
  for (let number = 1; number <= options.rounds; number++) {
    options.log(`round ${number} of ${options.rounds}`)
    const round: Partial<Record<ImplementationName, LoadResults>> = {}
    // Alternates the order, so that each implementation is first equally often.
    for (const name of number % 2 === 1 ? names : names.toReversed()) {
      const celebrity = `celebrity${celebrities++}` as UserId
      round[name] = await measureImplementation(
        services,
        implementations[name](services),
        celebrity,
        options.ms,
      )
    }
    rounds.push(round as Round)
  }
  const ratios = (load: keyof LoadResults) =>
    summarize(
      rounds.map(
        (round) => round.groupCommit[load].perSecond / round.oneTransactionEach[load].perSecond,
      ),
    )
  const [followRatios, unfollowRatios] = [ratios('follow'), ratios('unfollow')]
  const spreadRatios = summarize(
    spread.map(({ feedline, bare }) => feedline.perSecond / bare.perSecond),
  )
  const versions = await readVersions(database)
  options.print(`${versions.join(', ')}\n`)
  options.print('| ratio | median (min–max) |\n|---|---|')
  options.print(`| follow_spread_vs_bare_transaction | ${formatSummary(spreadRatios)} |`)
  options.print(`| follows_vs_one_transaction_each | ${formatSummary(followRatios)} |`)
  options.print(`| unfollows_vs_one_transaction_each | ${formatSummary(unfollowRatios)} |`)
  options.print('\n| 64 clients | writes/s | p50, ms | p99, ms | promise |\n|---|---|---|---|---|')
  const printLoads = (label: string, loads: readonly LoadResult[], promise: string) => {
    const [rate, p50, p99] = [
      summarize(loads.map(({ perSecond }) => perSecond)),
      summarize(loads.map(({ p50Ms }) => p50Ms)),
      summarize(loads.map(({ p99Ms }) => p99Ms)),
    ]
    const cells = [formatSummary(rate, 0), formatSummary(p50, 1), formatSummary(p99, 1)]
    options.print(`| ${label} | ${cells.join(' | ')} | ${promise} |`)
  }
  for (const side of ['feedline', 'bare'] as const) {
    const loads = spread.map((round) => round[side])
    printLoads(`follow of different accounts, ${side}`, loads, spreadPromises[side])
  }
  for (const name of names) {
    for (const load of ['follow', 'unfollow'] as const) {
      const loads = rounds.map((round) => round[name][load])
      printLoads(`${load} of one account, ${labels[name]}`, loads, promises[name])
    }
  }
  const p99Ms = (load: keyof LoadResults) =>
    quantile(
      rounds.map((round) => round.groupCommit[load].p99Ms),
      0.5,
    )
  return {
    follow_spread_vs_bare_transaction: spreadRatios.median,
    follows_vs_one_transaction_each: followRatios.median,
    unfollows_vs_one_transaction_each: unfollowRatios.median,
    follow_p99_ms: p99Ms('follow'),
    unfollow_p99_ms: p99Ms('unfollow'),
    versions,
    spread,
  }
}

const labels: Readonly<Record<ImplementationName, string>> = {
  groupCommit: 'together',
  oneTransactionEach: 'one transaction each',
}

const promises: Readonly<Record<ImplementationName, string>> = {
  groupCommit: 'durable, atomic, once for each clientMutationId; checks blocks, keeps the history',
  oneTransactionEach: 'the same without clientMutationId',
}

/**
 * Follows for about `ms` milliseconds, then removes all follows.
 * @throws if the stored data differs from the acknowledged writes.
 */
async function measureImplementation(
  services: Services,
  implementation: FollowImplementation,
  celebrity: UserId,
  ms: number,
) {
  const { collections } = services
  await collections.user_stats.insertOne({ _id: celebrity, followers: 0, following: 0, posts: 0 })
  let followers = 0
  const follow = await runClosedLoop(clients, ms, async (_, at) => {
    if (await implementation.follow(userAt(at), celebrity)) followers++
  })
  const followed = followers
  await verifyFollows(services, celebrity, followed)
  const unfollow = await runCalls(followed, async (at) => {
    if (await implementation.unfollow(userAt(at), celebrity)) followers--
  })
  if (followers !== 0)
    throw new Error(`${followers} of ${followed} unfollows were not acknowledged`)
  await verifyFollows(services, celebrity, 0)
  await collections.outbox.deleteMany({})
  return { follow, unfollow }
}

/**
 * Runs `calls` calls in a closed loop: each client calls again as soon as its last call has
 * returned.
 */
async function runCalls(calls: number, call: (at: number) => Promise<void>): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let next = 0
  const begin = performance.now()
  const client = async () => {
    while (next < calls) {
      const start = performance.now()
      await call(next++)
      latenciesMs.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const perSecond = (calls / (performance.now() - begin)) * 1000
  return { perSecond, p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) }
}

/**
 * Compares edges and counters of both ends with the acknowledged follows.
 * @throws if they differ.
 */
async function verifyFollows(
  { collections }: Services,
  celebrity: UserId,
  acknowledged: number,
): Promise<void> {
  const { followers, following, user_stats } = collections
  const [sum] = await user_stats
    .aggregate<{ total: number }>([{ $group: { _id: null, total: { $sum: '$following' } } }])
    .toArray()
  const stored = {
    counter: (await user_stats.findOne({ _id: celebrity }))?.followers,
    followers: await followers.countDocuments({ user: celebrity }),
    following: await following.countDocuments({ followee: celebrity }),
    counters: sum?.total,
  }
  if (Object.values(stored).some((count) => count !== acknowledged)) {
    throw new Error(
      `${acknowledged} follows of ${celebrity} were acknowledged, but the database has ${JSON.stringify(stored)}`,
    )
  }
}
