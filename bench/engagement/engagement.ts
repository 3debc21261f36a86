import { openBenchDatabase, readVersions } from '../database.ts'
import { type LoadResult, runClosedLoop } from '../load.ts'
import type { BenchOptions } from '../options.ts'
import { formatSummary, summarize } from '../statistics.ts'
import { createAccounts, feedline, userAt } from './feedline.ts'
import { measureLikeGrowth } from './like-growth.ts'
import { bareUpdate, embeddedLike, type LikeImplementation, uniqueRow } from './rivals.ts'

const clients = 64
const posts = 2_000
const accounts = 200_000

type Implementations = Readonly<
  Record<'embedded' | 'row' | 'bare' | 'feedline', LikeImplementation>
>
type ImplementationName = keyof Implementations

/** What each implementation promises. */
const promises: Readonly<Record<ImplementationName, string>> = {
  embedded: 'durable, atomic, checks nothing',
  row: 'durable, not atomic: the counter may stay behind; checks nothing',
  bare: 'durable, atomic, checks nothing',
  feedline:
    'durable, atomic, once for each clientMutationId; checks account and block, lists likes',
}
type LoadResults = Readonly<Record<ImplementationName, LoadResult>>

/**
 * Compares likes with the rival implementations, as ratios.
 * Then measures the latency of a like by the number of likes of its post.
 */
export async function benchmarkEngagement(options: BenchOptions) {
  await using database = await openBenchDatabase(options.log)
  const { client, db, services } = database
  options.log(`creating ${accounts} accounts`)
  await createAccounts(services, accounts)
  const implementations: Implementations = {
    embedded: embeddedLike(client, db),
    row: await uniqueRow(db),
    bare: bareUpdate(db),
    feedline: feedline(services),
  }
  for (const [name, implementation] of Object.entries(implementations)) {
    options.log(`warm-up, ${name}`)
    await measureSpreadLikes(implementation, options.warmUpMs)
  }
  const spread: LoadResults[] = []
  const hot: LoadResults[] = []
  for (let round = 1; round <= options.rounds; round++) {
    options.log(`round ${round} of ${options.rounds}`)
    spread.push(
      await measureAll(implementations, (implementation) =>
        measureSpreadLikes(implementation, options.ms),
      ),
    )
    hot.push(
      await measureAll(implementations, (implementation) =>
        measureHotLikes(implementation, options.ms),
      ),
    )
  }
  const growth = await measureLikeGrowth(services, options)
  const ratios = {
    spread_vs_embedded: spread.map((load) => ratio(load, 'embedded')),
    like_spread_keyed_vs_bare: spread.map((load) => ratio(load, 'bare')),
    hot_vs_embedded: hot.map((load) => ratio(load, 'embedded')),
    hot_vs_unique_row: hot.map((load) => ratio(load, 'row')),
    [growth.key]: growth.ratios,
  }
  const versions = await readVersions(database)
  options.print(`${versions.join(', ')}\n`)
  options.print('| ratio | median (min–max) |\n|---|---|')
  for (const [name, values] of Object.entries(ratios)) {
    options.print(`| ${name} | ${formatSummary(summarize(values))} |`)
  }
  options.print(
    '\n| likes/s, p99 | spread over 2,000 posts | one hot post | promise |\n|---|---|---|---|',
  )
  for (const name of Object.keys(implementations) as ImplementationName[]) {
    const cells = [formatRates(spread, name), formatRates(hot, name), promises[name]]
    options.print(`| ${name} | ${cells.join(' | ')} |`)
  }
  options.print(`\n${growth.table}`)
  const medians = Object.entries(ratios).map(([name, values]) => [name, summarize(values).median])
  return { ...Object.fromEntries(medians), versions, spread, hot }
}

const ratio = (load: LoadResults, to: ImplementationName) =>
  load.feedline.perSecond / load[to].perSecond

const formatRates = (loads: readonly LoadResults[], implementation: ImplementationName) => {
  const perSecond = summarize(loads.map((load) => load[implementation].perSecond))
  const p99 = summarize(loads.map((load) => load[implementation].p99Ms))
  return `${formatSummary(perSecond, 0)}, ${p99.median.toFixed(1)} ms`
}

/** Measures all implementations in turn. */
async function measureAll(
  implementations: Implementations,
  measure: (implementation: LikeImplementation) => Promise<LoadResult>,
): Promise<LoadResults> {
  const loads: [string, LoadResult][] = []
  for (const [name, implementation] of Object.entries(implementations))
    loads.push([name, await measure(implementation)])
  return Object.fromEntries(loads) as LoadResults
}

async function measureSpreadLikes(
  implementation: LikeImplementation,
  ms: number,
): Promise<LoadResult> {
  const targets = await implementation.createPosts(posts)
  let sequence = 1
  const pickTarget = () => {
    sequence = (sequence * 48_271) % 0x7fffffff
    return targets[sequence % targets.length] as (typeof targets)[number]
  }
  return runClosedLoop(clients, ms, (_, at) =>
    implementation.like(pickTarget(), userAt(at % accounts)),
  )
}

async function measureHotLikes(
  implementation: LikeImplementation,
  ms: number,
): Promise<LoadResult> {
  const [target] = await implementation.createPosts(1)
  if (!target) throw new Error('the implementation created no post')
  return runClosedLoop(clients, ms, (_, at) => implementation.like(target, userAt(at % accounts)))
}
