import { join } from 'node:path'
import { startChild } from '../child-process.ts'
import { readVersions } from '../database.ts'
import { buildServer } from '../feeds/build.ts'
import { type Graph, loadReed98 } from '../feeds/graph.ts'
import type { BenchOptions } from '../options.ts'
import { type BareGrouped, openBareGrouped } from './bare-grouped.ts'
import { verifySides } from './compare.ts'
import { openReadsData, type ReadsData, readStrategies } from './data.ts'
import { openFeedlineSide, openOneDocumentSide, pageSize } from './feedline-sides.ts'
import { measureFirstVisits } from './first-visits.ts'
import { computeKeys, formatKeys, type ReadsResults, type ReadsRound } from './keys.ts'
import { type LoadContext, measureSide, type SideResults, warmUp } from './loads.ts'
import { measureMemory, type ServerMemory } from './memory.ts'
import { findOpenMixRate } from './mix.ts'
import { writeReadsCharts } from './plots.ts'
import { formatKeyTable, formatLoadTables } from './report.ts'
import { rivalNames } from './rival-names.ts'
import { openRivalSides } from './rival-sides.ts'
import type { Side } from './side.ts'

/** The least graph with readers, authors with about forty followers, and enough visitors. */
const smallestRing = [620, 20] as const

/** All sides, and the program without a server. */
interface Sides {
  readonly sides: readonly Side[]
  readonly bareGrouped: BareGrouped
  readonly versions: readonly string[]
}

/**
 * Compares Feedline's pages, polls and posts over HTTP with feeds on PostgreSQL and on Redis, with a handler that reads
 * one document, and with the smallest MongoDB program that creates posts.
 * @throws without the file of the graph, or if a rival's page differs from Feedline's.
 */
export async function benchmarkReads(options: BenchOptions) {
  const { log, print, ms, warmUpMs, memoryMs } = options
  const graph = await loadReed98(options, smallestRing)
  if (!graph) throw new Error('Reed98 was not found. Use --graph FILE')
  const buildFolder = await buildServer()
  await using data = await openReadsData(graph, options)
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  const { audience } = data
  const context: LoadContext = { load, audience, ms, warmUpMs, log }
  const opened: AsyncDisposable[] = []
  try {
    const all = await openSides(data, graph, buildFolder, opened, log)
    await verifySides(all.sides, audience, pageSize)
    log(`the pages of ${all.sides.map(({ name }) => name).join(', ')} are equal`)
    const rounds = await measureRounds(all, context, options)
    const memory: Partial<Record<string, ServerMemory>> = {}
    for (const side of all.sides.filter(({ startNew }) => startNew)) {
      log(`memory, ${side.name}`)
      memory[side.name] = await measureMemory(side, context, memoryMs)
    }
    const results: ReadsResults = { rounds, memory: memory as ReadsResults['memory'] }
    const keys = computeKeys(results)
    const promises = Object.fromEntries(all.sides.map(({ name, promise }) => [name, promise]))
    print(`${all.versions.join(', ')}\n`)
    print(formatKeyTable(keys))
    print(formatLoadTables(rounds, { ...promises, [rivalNames.bareGrouped]: 'durable, atomic' }))
    for (const path of await writeReadsCharts(options.plots, rounds)) log(`wrote ${path}`)
    return { ...formatKeys(keys), versions: all.versions, ms, warmUpMs, memoryMs, ...results }
  } finally {
    for (const part of opened.toReversed()) await part[Symbol.asyncDispose]()
  }
}

/** Warms up all sides, and measures them in turn. */
async function measureRounds(
  { sides, bareGrouped }: Sides,
  context: LoadContext,
  { rounds: count, ms, warmUpMs, log }: BenchOptions,
): Promise<ReadsRound[]> {
  for (const side of sides) {
    log(`warm-up, ${side.name}`)
    await warmUp(side, context)
  }
  log(`warm-up, ${rivalNames.bareGrouped}`)
  await bareGrouped.measure(warmUpMs)
  const rounds: ReadsRound[] = []
  for (let round = 1; round <= count; round++) {
    const [loads, openMix]: [Record<string, SideResults>, Record<string, number>] = [{}, {}]
    // Alternates the order, so that each side is first equally often.
    const order = round % 2 === 1 ? sides : sides.toReversed()
    const logRound = (what: string) => log(`round ${round} of ${count}: ${what}`)
    for (const side of order) {
      logRound(side.name)
      const results = await measureSide(side, context, round)
      const visits = side.loads.has('firstVisit')
        ? await measureFirstVisits(side, context, round)
        : {}
      loads[side.name] = { ...results, ...visits }
    }
    logRound(rivalNames.bareGrouped)
    loads[rivalNames.bareGrouped] = { compose: await bareGrouped.measure(ms) }
    for (const side of order.filter(({ loads: own }) => own.has('openMix'))) {
      // Half of what the closed loop reached is a rate that is sustained as a rule.
      const rate = (loads[side.name]?.mix?.perSecond ?? 0) / 2
      openMix[side.name] = await findOpenMixRate(side, context.audience, { rate, ms, log })
    }
    rounds.push({ loads, openMix })
  }
  return rounds
}

async function openSides(
  { databases, audience }: ReadsData,
  graph: Graph,
  buildFolder: string,
  opened: AsyncDisposable[],
  log: (line: string) => void,
): Promise<Sides> {
  const sides: Side[] = []
  const add = (side: Side) => {
    opened.push(side.server)
    sides.push(side)
  }
  const bareGrouped = await openBareGrouped(databases.INBOX, audience.composers)
  opened.push(bareGrouped)
  for (const strategy of readStrategies)
    add(await openFeedlineSide(databases[strategy], strategy, audience, buildFolder))
  add(await openOneDocumentSide(databases.CACHE, audience))
  const rivals = await openRivalSides(databases.CACHE, graph, audience, opened, log)
  const versions = await readVersions(databases.CACHE)
  return {
    sides: [...sides, ...rivals.sides],
    bareGrouped,
    versions: [...versions, ...rivals.versions],
  }
}
