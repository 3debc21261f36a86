import { Command } from 'commander'
import { configFor } from '../environment.ts'
import type { BadLines } from '../imports/bad-lines.ts'
import { EdgeList } from '../imports/edge-list.ts'
import { type GraphImportResult, importGraph } from '../imports/import-graph.ts'
import { ImportInterrupted, type ImportServices } from '../imports/importer.ts'
import { type SeedPostsResult, seedPosts } from '../imports/seed-posts.ts'
import { TextFile } from '../imports/text-file.ts'
import { endImport, leaveImport, log, openForCommand } from './database.ts'
import { interruption } from './failure.ts'
import { wholeNumber } from './numbers.ts'
import { perSecond, showProgress } from './progress.ts'

interface LoadOptions {
  readonly mutual?: true
  readonly posts: number
  readonly seed: number
  readonly json?: true
}

/** `feedline load FILE`: imports a follow graph, and creates synthetic posts of its users. */
export const loadCommand = (): Command =>
  new Command('load')
    .description(
      'Import a follow graph from an edge list. Create an account for each user in the list.',
    )
    .argument(
      '<file>',
      'lines "a b" or "a b weight" (tabs, spaces or commas): a follows b; may be gzipped',
    )
    .option('--mutual', 'both users of each line follow each other')
    .option(
      '--posts <n>',
      'also create an average of n synthetic posts per user in the file',
      wholeNumber(0, 1e6),
      0,
    )
    .option(
      '--seed <n>',
      'seed of the synthetic posts; the same seed creates the same posts',
      wholeNumber(0, 2 ** 32 - 1),
      1,
    )
    .option(
      '--json',
      'print one line of JSON at the end: the counts of this run, and in "total" of all runs; ' +
        '"interrupted" is true if a signal ended the run',
    )
    .addHelpText('after', help)
    .action(load)

const help = `
The import skips comments (# or %), blank lines and a header line. It converts names to lowercase.
It reports and counts lines without an edge, and continues.

An unchanged file with the same options is the same import. To resume an interrupted import, repeat
the command. Repeating a complete import changes nothing.

Examples:
  $ feedline load friends.csv --mutual
  $ feedline load follows.txt.gz --posts 20 --json`

async function load(file: string, options: LoadOptions): Promise<void> {
  const startedAt = performance.now()
  await checkReadable(file)
  const config = configFor('database')
  await using database = await openForCommand(config, 'forImport')
  using interrupt = interruption()
  const { services } = database
  const { signal } = interrupt
  const done: Results = {}
  const report = (more: object = {}) => {
    const seconds = Math.round(performance.now() - startedAt) / 1000
    if (options.json) console.log(JSON.stringify({ ...summary(done, seconds), ...more }))
  }
  try {
    done.graph = await loadGraph(services, file, options.mutual === true, signal)
    if (options.posts > 0) done.posts = await loadPosts(services, file, options, signal)
    interrupt.endAtOnce()
  } catch (error) {
    const wasStopped = error instanceof ImportInterrupted
    if (wasStopped) {
      done[done.graph ? 'posts' : 'graph'] = error.partialResult
      report({ interrupted: true })
    }
    await leaveImport(database, config)
    throw wasStopped ? error.cause : error
  }
  await endImport(database, config)
  report()
}

/**
 * Reads a file to its first edge, before the command opens the database.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read or has no edge.
 */
async function checkReadable(file: string): Promise<void> {
  for await (const _ of new EdgeList(await TextFile.open(file))) return
}

/** The results of a run. */
interface Results {
  graph?: GraphImportResult
  posts?: SeedPostsResult
}

async function loadGraph(
  services: ImportServices,
  file: string,
  mutual: boolean,
  signal: AbortSignal,
): Promise<GraphImportResult> {
  const startedAt = performance.now()
  using display = showProgress('edges')
  const result = await importGraph(services, {
    file,
    mutual,
    signal,
    onProgress: display.update,
    onBusy,
  })
  display[Symbol.dispose]()
  const { written, bad } = result
  printRate(`${written.users} users and ${written.edges} edges`, written.edges, startedAt, 'edges')
  if (bad.count > 0) log(badLinesReport(bad))
  return result
}

async function loadPosts(
  services: ImportServices,
  file: string,
  { posts: postsPerUser, seed }: LoadOptions,
  signal: AbortSignal,
): Promise<SeedPostsResult> {
  const startedAt = performance.now()
  using display = showProgress('posts')
  const given = { file, postsPerUser, seed }
  const result = await seedPosts(services, { ...given, signal, onProgress: display.update, onBusy })
  display[Symbol.dispose]()
  printRate(`${result.written.posts} posts`, result.written.posts, startedAt, 'posts')
  return result
}

const onBusy = () => log('Other writes lock the same data. Retrying.')

/** Prints a count, a duration and a rate to stdout, before the line of JSON. */
function printRate(what: string, count: number, startedAt: number, unit: string): void {
  const ms = performance.now() - startedAt
  const rate = count === 0 ? 'nothing left to do' : `${perSecond(count, ms)} ${unit}/s`
  console.log(`${what} in ${(ms / 1000).toFixed(1)} s (${rate})`)
}

function summary({ graph, posts }: Results, seconds: number) {
  const none = { users: 0, edges: 0 }
  return {
    ...(graph?.written ?? none),
    posts: posts?.written.posts ?? 0,
    seconds,
    badLines: graph?.bad.count ?? 0,
    total: { ...(graph?.total ?? none), posts: posts?.total.posts ?? 0 },
  }
}

function badLinesReport({ count, first }: BadLines): string {
  const shown = first.map(({ line, problem }) => `  line ${line}: ${problem}`)
  const rest = count > first.length ? [`  and ${count - first.length} more`] : []
  return [`Skipped ${count} invalid line${count === 1 ? '' : 's'}:`, ...shown, ...rest].join('\n')
}
