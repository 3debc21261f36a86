import { join } from 'node:path'
import { type Child, startChild } from '../child-process.ts'
import { buildServer } from '../feeds/build.ts'
import { type Graph, loadReed98 } from '../feeds/graph.ts'
import type { BenchOptions } from '../options.ts'
import { verifySides } from './compare.ts'
import { type ComposeResult, measureCompose } from './compose.ts'
import { measureComposeBefore } from './compose-before.ts'
import { openReadsData, type ReadStrategy, type ReadsData, readStrategies } from './data.ts'
import { openFeedlineSide, openOneDocumentSide, pageSize } from './feedline-sides.ts'
import { measureInboxDeliveries } from './inbox-deliveries.ts'
import { computeKeys, formatKeys, type ReadsRound } from './keys.ts'
import { type LoadContext, measureSide, type SideResults } from './loads.ts'
import { measureKeptMemory } from './memory.ts'
import { measureMix } from './mix.ts'
import { openRedisSides, redisMissing, redisSideNames } from './redis-sides.ts'
import { formatKeyTable, formatLoadTables, formatWriteTables } from './report.ts'
import type { Side } from './side.ts'

/**
 * Compares Feedline's pages, polls and posts over HTTP with a handler that reads one document, and with a feed on Redis.
 * @throws without the file of the graph, or if a rival's page differs from Feedline's.
 */
export async function benchmarkReads(options: BenchOptions) {
  const { log, print, ms } = options
  const graph = await loadReed98(options.graph)
  if (!graph) throw new Error('Reed98 was not found. Use --graph FILE')
  const deliveriesPerSecond = await measureInboxDeliveries(graph, options)
  const buildFolder = await buildServer()
  await using data = await openReadsData(graph, log)
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  const rounds = await measureRounds(data, graph, load, buildFolder, options)
  const measureMemory = (strategy: ReadStrategy) => {
    log(`memory, ${strategy}`)
    const { databases, audience } = data
    return measureKeptMemory(load, databases[strategy], strategy, audience.users, buildFolder)
  }
  const composeBefore = await measureComposeBefore(
    graph,
    data.audience.composers,
    load,
    buildFolder,
    options,
  )
  const kept = { CACHE: await measureMemory('CACHE'), INBOX: await measureMemory('INBOX') }
  const keys = computeKeys(
    { rounds, deliveriesPerSecond, kept, composeBefore },
    { oneDocument: 'one document', ...redisSideNames },
    redisMissing,
  )
  print(formatKeyTable(keys))
  print(formatLoadTables(rounds))
  print(formatWriteTables(rounds))
  return { ...formatKeys(keys), ms, rounds }
}

/** Opens all sides, compares their pages, and measures them in turn. */
async function measureRounds(
  data: ReadsData,
  graph: Graph,
  load: Child,
  buildFolder: string,
  { rounds: count, ms, connections, rate, log }: BenchOptions,
): Promise<ReadsRound[]> {
  const { audience } = data
  const opened: AsyncDisposable[] = []
  try {
    const sides = await openSides(data, graph, buildFolder, opened, log)
    const isChecked = ({ name }: Side) => name !== redisSideNames.uncheckedPlain
    await verifySides(sides, isChecked, audience, pageSize)
    log(`the pages of ${sides.map(({ name }) => name).join(', ')} are equal`)
    const context: LoadContext = { load, audience, ms, connections }
    const rounds: ReadsRound[] = []
    for (let round = 1; round <= count; round++) {
      const [loads, mix, compose]: [
        Record<string, SideResults>,
        Record<string, number>,
        Record<string, ComposeResult>,
      ] = [{}, {}, {}]
      const isComposing = ({ name, compose }: Side) =>
        compose !== undefined && name !== redisSideNames.uncheckedPlain
      const isMixed = ({ name }: Side) =>
        name === redisSideNames.checkedApollo ||
        readStrategies.some((strategy) => strategy === name)
      // Alternates the order, so that each side is first equally often.
      const order = round % 2 === 1 ? sides : sides.toReversed()
      for (const side of order) {
        log(`round ${round} of ${count}: pages and polls, ${side.name}`)
        loads[side.name] = await measureSide(side, context)
      }
      for (const side of order.filter(isComposing)) {
        log(`round ${round} of ${count}: posts, ${side.name}`)
        const result = await measureCompose(side, context)
        if (result) compose[side.name] = result
      }
      for (const side of order.filter(isMixed)) {
        const sustained = await measureMix(side, audience, { rate, ms, log })
        if (sustained !== undefined) mix[side.name] = sustained
      }
      rounds.push({ loads, mix, compose })
    }
    return rounds
  } finally {
    for (const part of opened.toReversed()) await part[Symbol.asyncDispose]()
  }
}

async function openSides(
  { databases, audience }: ReadsData,
  graph: Graph,
  buildFolder: string,
  opened: AsyncDisposable[],
  log: (line: string) => void,
): Promise<Side[]> {
  const sides: Side[] = []
  const add = (side: Side) => {
    opened.push(side.server)
    sides.push(side)
  }
  for (const strategy of readStrategies)
    add(await openFeedlineSide(databases[strategy], strategy, audience, buildFolder))
  add(await openOneDocumentSide(databases.CACHE, audience))
  const redisSides = await openRedisSides(databases.CACHE, graph, audience, opened)
  if (redisSides) sides.push(...redisSides)
  else log(redisMissing)
  return sides
}
