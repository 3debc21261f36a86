import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { importGraph } from '../../src/imports/import-graph.ts'
import { randomAt } from '../../src/imports/random.ts'
import { type BenchDatabase, openBench } from '../database.ts'
import { graphFile } from '../feeds/graph.ts'
import type { BenchOptions } from '../options.ts'
import type { ChildResult } from './child.ts'
import { storeCrowd } from './crowd.ts'

const child = fileURLToPath(new URL('./child.ts', import.meta.url))

/** What one graph gave. */
interface Measured {
  readonly graph: string
  readonly users: number
  readonly edges: number
  readonly drifted: number
  readonly repair: ChildResult
  readonly verify: ChildResult
  /** Counting all edges both ways, and nothing else. */
  readonly plainSeconds: number
}

/**
 * Counters of one user in ten are made to drift; then a process of its own reconciles everything, twice: the second
 * time there is nothing to repair. Beside it, the plain aggregation that counts the edges.
 */
export async function reconcileBench(options: BenchOptions): Promise<Record<string, number>> {
  const { say, show, people } = options
  const all: Measured[] = []
  for (const [graph, name] of [
    ['Reed98', 'socfb-reed98.edges'],
    ['LastFM', 'lastfm-asia.csv'],
  ] as const) {
    const file = graphFile(name)
    if (!file || !existsSync(file)) {
      say(`there is no ${name} here`)
      continue
    }
    await using database = await openBench(say, {}, { socketTimeoutMS: 0 })
    const { total } = await importGraph(database.services, { file, mutual: true })
    all.push(await measure(database, graph, total.edges, say))
  }
  await using database = await openBench(say, {}, { socketTimeoutMS: 0 })
  say(`storing a crowd of ${people}`)
  const edges = await storeCrowd(database, people, say)
  all.push(await measure(database, 'generated', edges, say))
  show(table(all))
  return Object.fromEntries(all.flatMap(figuresOf))
}

async function measure(
  database: BenchDatabase,
  graph: string,
  edges: number,
  say: (line: string) => void,
): Promise<Measured> {
  const { user_stats } = database.services.collections
  const users = await user_stats.countDocuments()
  const drifted = await drift(database)
  say(`${graph}: ${drifted} of ${users} users drift`)
  const plainSeconds = await plain(database)
  const repair = await run(database)
  const verify = await run(database)
  say(`${graph}: plain ${plainSeconds.toFixed(1)} s, ${JSON.stringify({ repair, verify })}`)
  if (repair.repaired !== drifted || repair.remaining + verify.drifted !== 0) {
    throw new Error(`${graph}: ${JSON.stringify({ drifted, repair, verify })}`)
  }
  return { graph, users, edges, drifted, repair, verify, plainSeconds }
}

/** Changes a counter of every tenth user by 1 to 9, as a bug might. */
async function drift({ services }: BenchDatabase): Promise<number> {
  const { user_stats } = services.collections
  const [counters, updates] = [['followers', 'following', 'posts'] as const, []] as [
    readonly string[],
    object[],
  ]
  let at = 0
  for await (const { _id } of user_stats.find({}, { projection: { _id: 1 } }).sort({ _id: 1 })) {
    if (at++ % 10 > 0) continue
    const by = 1 + Math.floor(9 * randomAt(1, at, 0))
    const counter = counters[Math.floor(3 * randomAt(1, at, 1))] as string
    updates.push({ updateOne: { filter: { _id }, update: { $inc: { [counter]: by } } } })
  }
  await user_stats.bulkWrite(updates as never[], { ordered: false })
  return updates.length
}

/** How long the database takes to count all edges by either end. */
async function plain({ services }: BenchDatabase): Promise<number> {
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

async function run({ uri, db }: BenchDatabase): Promise<ChildResult> {
  const started = spawn(process.execPath, ['--import', 'tsx', child, uri, db.databaseName], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [told] = await Promise.all([text(started.stdout), once(started, 'exit')])
  return JSON.parse(told)
}

function figuresOf({ graph, edges, repair, verify, plainSeconds }: Measured): [string, number][] {
  const name = graph.toLowerCase()
  return [
    [`repair_seconds_${name}`, repair.seconds],
    [`verify_seconds_${name}`, verify.seconds],
    [`documents_per_second_${name}`, Math.round(verify.documents / verify.seconds)],
    [`verify_vs_plain_count_${name}`, verify.seconds / plainSeconds],
    [`megabytes_${name}`, Math.max(repair.megabytes, verify.megabytes)],
    [`edges_${name}`, edges],
  ]
}

function table(all: readonly Measured[]): string {
  const rows = all.map(({ graph, users, edges, drifted, repair, verify, plainSeconds }) =>
    [
      '',
      graph,
      ...[users, edges, drifted].map((count) => count.toLocaleString('en')),
      repair.seconds.toFixed(1),
      verify.seconds.toFixed(1),
      Math.round(verify.documents / verify.seconds).toLocaleString('en'),
      plainSeconds.toFixed(1),
      (verify.seconds / plainSeconds).toFixed(1),
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
