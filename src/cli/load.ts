import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { type BadLines, EdgeList } from '../imports/edge-list.ts'
import {
  type GraphImportResult,
  type ImportServices,
  importGraph,
} from '../imports/import-graph.ts'
import { ImportInterrupted } from '../imports/interrupted.ts'
import { type SeedPostsResult, seedPosts } from '../imports/seed-posts.ts'
import { TextFile } from '../imports/text-file.ts'
import { beginRebuilds, openForCommand, say } from './database.ts'
import { interruption } from './failure.ts'
import { wholeNumber } from './numbers.ts'
import { perSecond, showProgress } from './progress.ts'

interface LoadOptions {
  readonly mutual?: true
  readonly posts: number
  readonly seed: number
  readonly json?: true
}

/** `feedline load FILE`: a follow graph from a file, and made-up posts to read in it. */
export const loadCommand = (): Command =>
  new Command('load')
    .description('Import a follow graph from an edge list, with an account for everyone it names.')
    .argument(
      '<file>',
      'lines of "a b" or "a b weight" (tabs, spaces or commas): a follows b; may be gzipped',
    )
    .option('--mutual', 'each line makes both follow each other')
    .option(
      '--posts <n>',
      'also make up n posts for each person in the file on average',
      wholeNumber(0, 1e6),
      0,
    )
    .option('--seed <n>', 'the same seed makes the same posts', wholeNumber(0, 2 ** 32 - 1), 1)
    .option(
      '--json',
      'end with one line of JSON: what this run wrote, and in "total" what all runs wrote; ' +
        'with "interrupted": true where a signal ended it',
    )
    .addHelpText('after', help)
    .action(load)

const help = `
Comments (# or %), blank lines and a header line are passed over. Names are lower-cased;
lines that hold no edge are reported and counted, and the import goes on.

The same file, unchanged, with the same options is the same import: a run that was interrupted
is resumed by repeating the command, and repeating a complete one changes nothing.

Examples:
  $ feedline load friends.csv --mutual
  $ feedline load follows.txt.gz --posts 20 --json`

async function load(file: string, options: LoadOptions): Promise<void> {
  const startedAt = performance.now()
  await readable(file)
  await using database = await openForCommand(readConfig(), true)
  using interrupt = interruption()
  const { services } = database
  const { signal } = interrupt
  const done: Done = {}
  const report = (more: object = {}) => {
    const seconds = Math.round(performance.now() - startedAt) / 1000
    if (options.json) console.log(JSON.stringify({ ...summary(done, seconds), ...more }))
  }
  try {
    done.graph = await loadGraph(services, file, options.mutual === true, signal)
    if (options.posts > 0) done.posts = await loadPosts(services, file, options, signal)
  } catch (error) {
    if (!(error instanceof ImportInterrupted)) throw error
    done[done.graph ? 'posts' : 'graph'] = error.soFar
    report({ interrupted: true })
    throw error.cause
  } finally {
    await beginRebuilds(services)
  }
  report()
}

/**
 * Reads a file to its first edge, before anything is opened that could be changed.
 * @throws {DomainError} BAD_USER_INPUT when that cannot be done.
 */
async function readable(file: string): Promise<void> {
  for await (const _ of new EdgeList(await TextFile.open(file))) return
}

/** What a run has come to. */
interface Done {
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
  tell(`${written.users} users and ${written.edges} edges`, written.edges, startedAt, 'edges')
  if (bad.count > 0) say(badLinesReport(bad))
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
  tell(`${result.written} posts`, result.written, startedAt, 'posts')
  return result
}

const onBusy = () => say('Other writes are in the way: trying on.')

/** On stdout, before the line of JSON. */
function tell(what: string, count: number, startedAt: number, unit: string): void {
  const ms = performance.now() - startedAt
  const rate = count === 0 ? 'nothing was left to do' : `${perSecond(count, ms)} ${unit}/s`
  console.log(`${what} in ${(ms / 1000).toFixed(1)} s (${rate})`)
}

function summary({ graph, posts }: Done, seconds: number) {
  const none = { users: 0, edges: 0 }
  return {
    ...(graph?.written ?? none),
    posts: posts?.written ?? 0,
    seconds,
    badLines: graph?.bad.count ?? 0,
    total: { ...(graph?.total ?? none), posts: posts?.total ?? 0 },
  }
}

function badLinesReport({ count, first }: BadLines): string {
  const shown = first.map(({ line, problem }) => `  line ${line}: ${problem}`)
  const rest = count > first.length ? [`  and ${count - first.length} more`] : []
  return [
    `${count} bad line${count === 1 ? ' was' : 's were'} passed over:`,
    ...shown,
    ...rest,
  ].join('\n')
}
