import { join } from 'node:path'
import { constants } from '../../packages/capacity/constants.ts'
import { countUsers, equalDegrees, powerLawDegrees } from '../../packages/capacity/degrees.ts'
import { sampleDegrees } from '../../packages/capacity/sample-degrees.ts'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { startChild } from '../child-process.ts'
import { buildServer } from '../feeds/build.ts'
import type { FeedsDatabase } from '../feeds/feeds-database.ts'
import { loadReed98 } from '../feeds/graph.ts'
import { type BenchOptions, sizeOf } from '../options.ts'
import { type CheckedLoad, type Figures, measureLoad, predictLoad } from './check-load.ts'
import { createPowerLawGraph, type NumberedGraph, numberGraph, zipfShape } from './graphs.ts'
import { accountCollections, edgeCollections, measureStorage } from './storage.ts'
import { storeGraph, storeHistory } from './store.ts'
import { openCapacityDatabase } from './system.ts'

type Ratios = Record<string, number>

/**
 * Compares the predictions of the capacity model with measurements: on Reed98, whose degrees are
 * read from the database, and on a generated graph, whose degrees are a power law. The constants
 * come from a third graph.
 * @returns each figure's prediction over its measurement.
 */
export async function benchmarkCapacity(options: BenchOptions): Promise<Ratios> {
  const { log, print, userCount, sides } = options
  const isWanted = (graph: string) => sides.length === 0 || sides.includes(graph)
  const built = await buildServer()
  const ratios: Ratios = {}
  if (isWanted('reed98')) {
    const reed98 = await loadReed98(options)
    if (reed98)
      Object.assign(ratios, await checkGraph(numberGraph(reed98), options, built, loadOfReed98))
    else log('Reed98 was not found')
  }
  if (isWanted('generated')) {
    const generated = createPowerLawGraph(userCount)
    Object.assign(ratios, await checkGraph(generated, options, built, loadOfGenerated))
  }
  const missed = Object.entries(ratios).filter(([, ratio]) => Math.abs(Math.log(ratio)) > limit)
  for (const [key, ratio] of missed) print(`beyond 30 %: ${key} ${ratio.toFixed(2)}`)
  return { ...ratios, compared: Object.keys(ratios).length, beyond_30_percent: missed.length }
}

/** A prediction of 1.3 times, or of 1 / 1.3 times, what was measured. */
const limit = Math.log(1.3)

type LoadOf = (
  graph: NumberedGraph,
  database: FeedsDatabase,
  options: BenchOptions,
) => Promise<CheckedLoad>

/** The operations of a load. */
const operationsOf = (options: BenchOptions, posts: number) => ({
  posts: sizeOf(options, posts, 20),
  pages: sizeOf(options, 1_500, 40),
  follows: sizeOf(options, 200, 20),
})

const loadOfReed98: LoadOf = async (graph, { services }, options) => ({
  graph,
  ...(await sampleDegrees(services.collections)),
  // Few enough posts that no cache drops one of them, which would not be counted.
  ...operationsOf(options, 400),
  ...{ authorBias: 0, cacheShare: 1 },
})

const loadOfGenerated: LoadOf = async (graph, _, options) => {
  const [users, edges] = [graph.users.length, graph.edges.length]
  const { exponent, followersMax } = zipfShape
  const degreeMax = Math.min(followersMax, users / 5)
  return {
    graph,
    followers: powerLawDegrees({ users, edges, exponent, degreeMax }),
    followees: equalDegrees(users, edges),
    ...operationsOf(options, 200),
    ...{ authorBias: 1, cacheShare: 0.2 },
  }
}

const postsOfHistory = 100_000

async function checkGraph(
  graph: NumberedGraph,
  options: BenchOptions,
  built: string,
  loadOf: LoadOf,
): Promise<Ratios> {
  const { log, print } = options
  const ratios: Ratios = {}
  const compare = (figure: string, predicted: number, measured: number) => {
    // Nothing predicted, nothing measured.
    if (predicted === 0 && measured === 0) return
    ratios[`predicted_vs_measured_${graph.name.toLowerCase()}_${figure}`] = predicted / measured
    print(
      `${graph.name} ${figure}: predicted ${predicted.toPrecision(3)}, measured ${measured.toPrecision(3)}`,
    )
  }
  await using database = await openCapacityDatabase(log)
  await using load = await startChild(join(import.meta.dirname, '../feeds/load-process.ts'))
  await storeGraph(database, graph, log)
  const postsEach = Math.min(6, Math.ceil(postsOfHistory / graph.users.length))
  const history = await storeHistory(database, graph.users, postsEach)
  const stored = await measureStorage(database, baseCollections)
  const { user, edge, post } = constants.bytes
  compare(
    'base_bytes',
    graph.users.length * user + graph.edges.length * edge + history.length * post,
    Object.values(stored).reduce((sum, { total }) => sum + total, 0),
  )
  const checked = await loadOf(graph, database, options)
  log(`${graph.name}: the model knows ${countUsers(checked.followers).toFixed(0)} users`)
  for (const strategy of feedStrategyNames) {
    const predicted = predictLoad(strategy, checked)
    const measured = await measureLoad(strategy, checked, {
      ...{ database, history, load, built, log },
      isSmallest: options.isSmallest,
    })
    for (const name of Object.keys(predicted) as (keyof Figures)[])
      compare(`${strategy}_${name}`, predicted[name], measured[name])
  }
  return ratios
}

const baseCollections = [...accountCollections, ...edgeCollections, 'posts'] as const
