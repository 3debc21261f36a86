import { join } from 'node:path'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { type Child, startChild } from '../child-process.ts'
import { readVersions } from '../database.ts'
import { buildServer } from '../feeds/build.ts'
import { loadReed98 } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { verifySides } from './compare.ts'
import { openReadsData, type ReadsData } from './data.ts'
import { type FeedlineSide, openFeedlineSide } from './feedline-side.ts'
import { computeKeys, defaultStrategy, formatKeys, type ReadsRound } from './keys.ts'
import { type LogCost, measureLogCost } from './log-cost.ts'
import type { ReadResult, Visit } from './measure.ts'
import { measureMemory, type ServerMemory } from './memory.ts'
import { writeReadsCharts } from './plots.ts'
import { formatKeyTable, formatRowTables, medianRows } from './report.ts'
import { openRivalSide, rivalMissing } from './rival-side.ts'
import { freshGroups, type Row, rowGroups, rowNames, rows, warmUp } from './rows.ts'
import type { Side } from './side.ts'

/** The least graph with enough readers, who are authors with about forty followers. */
const smallestRing = [130, 20] as const
/** How many pages are compared. The first readers have mutes, blocks and unfollows. */
const [comparedReaders, comparedOthers] = [40, 4]
/** What `--rows` names: groups of rows, rows, and what is measured of Feedline alone. */
const parts = [...rowGroups, ...rowNames, 'memory', 'log'] as const

/** @throws if a name is none of `all`. */
function checkNames<T extends string>(names: readonly string[], all: readonly T[]): readonly T[] {
  for (const name of names)
    if (!(all as readonly string[]).includes(name))
      throw new Error(`There is no ${name}. Known: ${all.join(', ')}`)
  return all.filter((name) => names.includes(name))
}

/** What the parts of the benchmark work with. */
interface Bench {
  readonly feedline: readonly FeedlineSide[]
  readonly rival: Side | undefined
  readonly data: ReadsData
  readonly load: Child
  readonly options: BenchOptions
}

/**
 * Compares Feedline's pages, polls, posts, likes and follows over HTTP with a feed on PostgreSQL
 * behind Apollo, on one graph. Sides alternate in each row, and rows in each round.
 * @throws without the file of the graph, or if a page of the rival differs from Feedline's.
 */
export async function benchmarkReads(options: BenchOptions) {
  const { log, print } = options
  const known = checkNames(options.sides, feedStrategyNames)
  const standard = options.isSmallest ? [defaultStrategy, 'INBOX' as const] : [defaultStrategy]
  const strategies = known.length > 0 ? known : standard
  const wanted = options.rows.length > 0 ? checkNames(options.rows, parts) : parts
  const people = await loadReed98(options, smallestRing)
  if (!people) throw new Error('Reed98 was not found. Use --graph FILE')
  const buildFolder = await buildServer()
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  const opened: AsyncDisposable[] = []
  try {
    const data = await openReadsData(people, strategies, options, opened)
    const feedline = await openStrategies(data, buildFolder, opened)
    log('storing the same contents in PostgreSQL')
    const rival = await openRivalSide(data.first, data.graph, opened)
    if (!rival) log(rivalMissing)
    const bench: Bench = { feedline, rival: rival?.side, data, load, options }
    const { readers, few, many } = data.audience
    const others = [...few.slice(0, comparedOthers), ...many.slice(0, comparedOthers)]
    await verifySides(listSides(bench), [...readers.slice(0, comparedReaders), ...others])
    log('the pages of all sides are equal')
    const rounds = await measureRounds(bench, wanted)
    const memory = wanted.includes('memory') ? await measureMemories(bench) : {}
    const logCosts = wanted.includes('log') ? await measureLogCosts(bench) : {}
    const keys = computeKeys({ rounds, memory, log: logCosts }, strategies)
    const medians = medianRows(rounds)
    const versions = [...(await readVersions(data.first)), ...(rival ? [rival.version] : [])]
    print(`${versions.join(', ')}\n`)
    print(formatKeyTable(keys))
    for (const { name, promise } of listSides(bench)) print(`${name}: ${promise}`)
    print(`\n${formatRowTables(medians)}`)
    const isWhole = options.sides.length === 0 && options.rows.length === 0
    const paths = isWhole ? await writeReadsCharts(options.plots, medians) : []
    for (const path of paths) log(`wrote ${path}`)
    return { ...formatKeys(keys), versions, medians, memory, log: logCosts, rounds }
  } finally {
    for (const part of opened.toReversed()) await part[Symbol.asyncDispose]()
  }
}

async function openStrategies(
  { databases }: ReadsData,
  buildFolder: string,
  opened: AsyncDisposable[],
): Promise<FeedlineSide[]> {
  const sides: FeedlineSide[] = []
  for (const [strategy, database] of databases) {
    const side = await openFeedlineSide(database, strategy, buildFolder)
    opened.push(...side.servers)
    sides.push(side)
  }
  return sides
}

const listSides = ({ feedline, rival }: Bench): readonly Side[] => [
  ...feedline,
  ...(rival ? [rival] : []),
]

const createVisit = (
  { data: { audience }, load, options }: Bench,
  side: Side,
  round: number,
): Visit => ({
  ...{ side, fresh: side, load, audience, round, rounds: options.rounds },
  ...{ warmUpMs: options.warmUpMs, sizeOf: (...sizes) => sizeOf(options, ...sizes) },
})

/** Warms up all sides, and measures the rows that are wanted. */
async function measureRounds(bench: Bench, wanted: readonly string[]): Promise<ReadsRound[]> {
  const { log, rounds: count, warmUpMs } = bench.options
  const selected = rowNames.filter(
    (name) => wanted.includes(name) || wanted.includes(rows[name].group),
  )
  const all = selected.map((name): Row => rows[name])
  const warmed = all.flatMap(({ request }) => request ?? [])
  for (const side of listSides(bench)) {
    log(`warm-up, ${side.name}`)
    await warmUp(createVisit(bench, side, 0), warmed)
  }
  const rounds: ReadsRound[] = []
  for (let round = 0; round < count; round++) {
    const started: AsyncDisposable[] = []
    const visits: Visit[] = []
    try {
      for (const side of listSides(bench)) {
        const visit = { ...createVisit(bench, side, round), warmUpMs: warmUpMs / 2 }
        if (!all.some(({ group }) => freshGroups.includes(group))) visits.push(visit)
        else {
          const server = await side.start(visit.audience.readers)
          started.push(server)
          visits.push({ ...visit, fresh: { ...side, servers: [server] } })
        }
      }
      const results: Record<string, Record<string, ReadResult>> = {}
      for (const [at, name] of selected.entries()) {
        const ofRow: Record<string, ReadResult> = {}
        // Alternates the order, so that each side is first equally often.
        for (const visit of (round + at) % 2 === 0 ? visits : visits.toReversed())
          ofRow[visit.side.name] = await rows[name].measure(visit)
        results[name] = ofRow
        const rates = Object.entries(ofRow).map(
          ([side, { perSecond }]) => `${side} ${perSecond.toFixed(0)}`,
        )
        log(`round ${round + 1} of ${count}, ${name}, per second: ${rates.join(', ')}`)
        // The processes are of no more use.
        if (!selected.slice(at + 1).some((next) => freshGroups.includes(rows[next].group)))
          for (const server of started.splice(0)) await server[Symbol.asyncDispose]()
      }
      rounds.push(results)
    } finally {
      for (const server of started) await server[Symbol.asyncDispose]()
    }
  }
  return rounds
}

/** The memory at rest of as many processes as there are rounds. The last one takes the mix. */
async function measureMemories(bench: Bench): Promise<Record<string, ServerMemory[]>> {
  const { rounds, memoryMs, log } = bench.options
  const all: Record<string, ServerMemory[]> = {}
  for (const side of bench.feedline) {
    log(`memory, ${side.name}`)
    const measured: ServerMemory[] = []
    for (let round = 1; round <= rounds; round++) {
      const ms = round === rounds ? memoryMs : 0
      measured.push(await measureMemory(createVisit(bench, side, round), ms))
    }
    all[side.name] = measured
  }
  return all
}

async function measureLogCosts(bench: Bench): Promise<Record<string, LogCost[]>> {
  const { rounds, ms, log } = bench.options
  const all: Record<string, LogCost[]> = {}
  for (const side of bench.feedline) {
    const measured: LogCost[] = []
    for (let round = 0; round < rounds; round++) {
      measured.push(await measureLogCost(side, createVisit(bench, side, round), ms))
      log(`log, ${side.name}: ${JSON.stringify(measured.at(-1))}`)
    }
    all[side.name] = measured
  }
  return all
}
