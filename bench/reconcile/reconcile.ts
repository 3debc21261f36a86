import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { randomAt } from '../../packages/drive/random.ts'
import { importGraph } from '../../packages/import/import-graph.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { findGraphFile } from '../feeds/graph.ts'
import type { BenchOptions } from '../options.ts'
import { storeGeneratedGraph } from './generated-graph.ts'
import type { ReconcileResult } from './reconcile-process.ts'

const programPath = fileURLToPath(new URL('./reconcile-process.ts', import.meta.url))

/** The result of one graph. */
interface Measurement {
  readonly graph: string
  readonly users: number
  readonly edges: number
  readonly drifted: number
  readonly repair: ReconcileResult
  readonly verify: ReconcileResult
  /** The time of counting all edges by either end on the database. */
  readonly plainCountSeconds: number
}

/**
 * Changes counters of one user in ten. Then a separate process reconciles everything, twice: the
 * second run must find nothing to repair. The rival is an aggregation that counts the edges.
 * @throws if a run repairs too few or too many users.
 */
export async function benchmarkReconcile(options: BenchOptions): Promise<Record<string, number>> {
  const { log, print, userCount } = options
  const measurements: Measurement[] = []
  for (const [graph, name] of [
    ['Reed98', 'socfb-reed98.edges'],
    ['LastFM', 'lastfm-asia.csv'],
  ] as const) {
    if (options.isSmallest) continue
    const file = findGraphFile(name)
    if (!file || !existsSync(file)) {
      log(`${name} was not found`)
      continue
    }
    await using database = await openBenchDatabase(log, {}, { socketTimeoutMS: 0 })
    const { total } = await importGraph(database.services, { file, mutual: true })
    measurements.push(await measureGraph(database, graph, total.edges, log))
  }
  await using database = await openBenchDatabase(log, {}, { socketTimeoutMS: 0 })
  log(`storing a generated graph of ${userCount} users`)
  const edges = await storeGeneratedGraph(database, options)
  measurements.push(await measureGraph(database, 'generated', edges, log))
  print(formatTable(measurements))
  return Object.fromEntries(measurements.flatMap(metricsOf))
}

async function measureGraph(
  database: BenchDatabase,
  graph: string,
  edges: number,
  log: (line: string) => void,
): Promise<Measurement> {
  const { user_stats } = database.services.collections
  const users = await user_stats.countDocuments()
  const drifted = await addDrift(database)
  log(`${graph}: ${drifted} of ${users} users drift`)
  const plainCountSeconds = await countEdges(database)
  const repair = await runReconcile(database)
  const verify = await runReconcile(database)
  log(
    `${graph}: plain count ${plainCountSeconds.toFixed(1)} s, ${JSON.stringify({ repair, verify })}`,
  )
  if (repair.repaired !== drifted || repair.remaining + verify.drifted !== 0) {
    throw new Error(`${graph}: ${JSON.stringify({ drifted, repair, verify })}`)
  }
  return { graph, users, edges, drifted, repair, verify, plainCountSeconds }
}

/**
 * Adds 1 to 9 to a counter of every tenth user, as a bug could. @returns the number of changed
 * users.
 */
async function addDrift({ services }: BenchDatabase): Promise<number> {
  const { user_stats } = services.collections
  const [counters, updates] = [['followers', 'following', 'posts'] as const, []] as [
    readonly string[],
    object[],
  ]
  let at = 0
  for await (const { _id } of user_stats.find({}, { projection: { _id: 1 } }).sort({ _id: 1 })) {
    if (at++ % 10 > 0) continue
    const delta = 1 + Math.floor(9 * randomAt(1, at, 0))
    const counter = counters[Math.floor(3 * randomAt(1, at, 1))] as string
    updates.push({ updateOne: { filter: { _id }, update: { $inc: { [counter]: delta } } } })
  }
  await user_stats.bulkWrite(updates as never[], { ordered: false })
  return updates.length
}

/** Measures how long the database takes to count all edges by either end, in seconds. */
async function countEdges({ services }: BenchDatabase): Promise<number> {
  const { followers, following } = services.collections
  const begin = performance.now()
  for (const [collection, hint] of [
    [followers, { user: 1, follower: 1 }],
    [following, { user: 1, followee: 1 }],
  ] as const) {
    const count = { $group: { _id: '$user', count: { $sum: 1 } } }
    const pipeline = [{ $sort: { user: 1 } }, count, { $count: 'users' }]
    await (collection as typeof followers).aggregate(pipeline, { hint }).toArray()
  }
  return (performance.now() - begin) / 1000
}

async function runReconcile({ uri, db }: BenchDatabase): Promise<ReconcileResult> {
  const started = spawn(process.execPath, ['--import', 'tsx', programPath, uri, db.databaseName], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(started.stdout), once(started, 'exit')])
  return JSON.parse(output)
}

function metricsOf({
  graph,
  edges,
  repair,
  verify,
  plainCountSeconds,
}: Measurement): [string, number][] {
  const name = graph.toLowerCase()
  return [
    [`repair_seconds_${name}`, repair.seconds],
    [`verify_seconds_${name}`, verify.seconds],
    [`documents_per_second_${name}`, Math.round(verify.documents / verify.seconds)],
    [`verify_vs_plain_count_${name}`, verify.seconds / plainCountSeconds],
    [`megabytes_${name}`, Math.max(repair.megabytes, verify.megabytes)],
    [`edges_${name}`, edges],
  ]
}

function formatTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map(
    ({ graph, users, edges, drifted, repair, verify, plainCountSeconds }) =>
      [
        '',
        graph,
        ...[users, edges, drifted].map((count) => count.toLocaleString('en')),
        repair.seconds.toFixed(1),
        verify.seconds.toFixed(1),
        Math.round(verify.documents / verify.seconds).toLocaleString('en'),
        plainCountSeconds.toFixed(1),
        (verify.seconds / plainCountSeconds).toFixed(1),
        Math.max(repair.megabytes, verify.megabytes),
        '',
      ]
        .join(' | ')
        .trim(),
  )
  return [
    '| graph | users | edges | drifted | repair, s | again, s | documents/s | plain count, s | again / plain | MB |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
