import type { PostRef } from '../../src/lib/ids.ts'
import { type BenchDatabase, openBench } from '../database.ts'
import { drive, type Load, showSpread, spreadOf } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { measureCurve } from './curve.ts'
import { feedline, makePosts, openAccounts, userAt } from './ours.ts'
import { measurePage } from './page.ts'
import { bareUpdate, type Rival, seedAddLike, uniqueRow } from './rivals.ts'
import { twoProcesses } from './two-processes.ts'

const clients = 64
const posts = 2_000
const accounts = 200_000

type Ways = Readonly<Record<'seed' | 'row' | 'bare' | 'feedline', Rival>>
type Loads = Readonly<Record<keyof Ways, Load>>

/** Likes, side by side with how others do it, as ratios; then the price of popularity. */
export async function engagement(options: BenchOptions) {
  await using database = await openBench(options.say)
  const { client, db, services } = database
  options.say(`opening ${accounts} accounts`)
  await openAccounts(services, accounts)
  const ways: Ways = {
    seed: seedAddLike(client, db),
    row: await uniqueRow(db),
    bare: bareUpdate(db),
    feedline: feedline(services),
  }
  const spread: Loads[] = []
  const hot: Loads[] = []
  const two: { seed: number; feedline: number }[] = []
  const pages: number[] = []
  for (let round = 1; round <= options.rounds; round++) {
    options.say(`round ${round} of ${options.rounds}`)
    spread.push(await eachWay(ways, (way) => spreadLoad(way, options.ms)))
    hot.push(await eachWay(ways, (way) => hotLoad(way, options.ms)))
    two.push(await bothProcesses(database, options.ms))
    pages.push(await measurePage(services, options.ms))
  }
  const curve = await measureCurve(services, options)
  const ratios = {
    spread_vs_seed: spread.map((load) => ratio(load, 'seed')),
    spread_vs_bare: spread.map((load) => ratio(load, 'bare')),
    hot_vs_seed: hot.map((load) => ratio(load, 'seed')),
    hot_vs_unique_row: hot.map((load) => ratio(load, 'row')),
    hot_two_processes_vs_seed: two.map((rates) => rates.feedline / rates.seed),
    page_vs_bare: pages,
    like_1m_vs_1k: curve.ratios,
  }
  options.show('| ratio | median (min–max) |\n|---|---|')
  for (const [name, values] of Object.entries(ratios)) {
    options.show(`| ${name} | ${showSpread(spreadOf(values))} |`)
  }
  options.show('\n| likes/s, p99 | spread over 2,000 posts | one hot post |\n|---|---|---|')
  for (const way of Object.keys(ways) as (keyof Ways)[]) {
    options.show(`| ${way} | ${rates(spread, way)} | ${rates(hot, way)} |`)
  }
  options.show(`\n${curve.table}`)
  return Object.fromEntries(
    Object.entries(ratios).map(([name, values]) => [name, spreadOf(values).median]),
  )
}

const ratio = (load: Loads, to: keyof Ways) => load.feedline.perSecond / load[to].perSecond

const rates = (loads: readonly Loads[], way: keyof Ways) => {
  const perSecond = spreadOf(loads.map((load) => load[way].perSecond))
  const p99 = spreadOf(loads.map((load) => load[way].p99Ms))
  return `${showSpread(perSecond, 0)}, ${p99.median.toFixed(1)} ms`
}

/** Measures all ways, one after the other. */
async function eachWay(ways: Ways, measure: (way: Rival) => Promise<Load>): Promise<Loads> {
  const loads: [string, Load][] = []
  for (const [name, way] of Object.entries(ways)) loads.push([name, await measure(way)])
  return Object.fromEntries(loads) as Loads
}

async function spreadLoad(way: Rival, ms: number): Promise<Load> {
  const targets = await way.posts(posts)
  let sequence = 1
  const someTarget = () => {
    sequence = (sequence * 48_271) % 0x7fffffff
    return targets[sequence % targets.length] as (typeof targets)[number]
  }
  return drive(clients, ms, (_, at) => way.like(someTarget(), userAt(at % accounts)))
}

async function hotLoad(way: Rival, ms: number): Promise<Load> {
  const [target] = await way.posts(1)
  if (!target) throw new Error('there is no post')
  return drive(clients, ms, (_, at) => way.like(target, userAt(at % accounts)))
}

async function bothProcesses(database: BenchDatabase, ms: number) {
  const [target] = (await makePosts(database.services, 1)) as [PostRef]
  const [id] = await seedAddLike(database.client, database.db).posts(1)
  const seedPost = { id: id?.toHexString() ?? '', author: target.author }
  return {
    seed: await twoProcesses(database, 'seed', seedPost, ms),
    feedline: await twoProcesses(database, 'feedline', target, ms),
  }
}
