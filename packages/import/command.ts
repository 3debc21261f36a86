import { Command } from 'commander'
import { log, openForCommand } from '../../src/cli/database.ts'
import { interruption } from '../../src/cli/failure.ts'
import { perSecond, showProgress } from '../../src/cli/progress.ts'
import { configFor } from '../../src/environment.ts'
import { DomainError } from '../../src/errors.ts'
import { extend } from '../../src/extensions.ts'
import { findIssuer } from '../../src/sign-in.ts'
import { EdgeList } from './edge-list.ts'
import { endImport, leaveImport } from './end-import.ts'
import { importGraph } from './import-graph.ts'
import { importRelations, previewRelations, type RelationImportResult } from './import-relations.ts'
import { ImportInterrupted, type ImportOptions, type ImportServices } from './importer.ts'
import { RelationFile } from './relation-file.ts'
import { type SkippedPairs, skipReasons } from './skipped-pairs.ts'
import { type BadLines, shortened } from './text-file.ts'
import type { NamedBy } from './user-names.ts'

interface NamingOptions {
  readonly issuer?: string
}

interface LoadOptions extends NamingOptions {
  readonly mutual?: true
  readonly json?: true
}

interface RelationsOptions extends NamingOptions {
  readonly dryRun?: true
  readonly json?: true
}

const jsonOption = [
  '--json',
  'print one line of JSON at the end: the counts of this run, and in "total" of all runs; ' +
    '"interrupted" is true if a signal ended the run',
] as const

const issuerOption = [
  '--issuer <iss>',
  'the users are subjects in the tokens of this issuer, not handles; "" is tokens without iss',
] as const

const subjects = `
With --issuer, AUTH_ISSUER and AUTH_ISSUERS must be those of the servers. The import creates an
account only for a subject that is a free handle. It skips and counts other users without an account
("unknown"). Create them with the mutation createUsers, before the import or before that of a copy
of the file. Without --issuer, it skips handles that are the subject of an account with another one.
`

const again = `
An unchanged file with the same options is the same import. To resume an interrupted import, repeat
the command. Repeating a complete import changes nothing.
`

/** `feedline load FILE`: imports a follow graph. */
const loadCommand = (): Command =>
  new Command('load')
    .description(
      'Import a follow graph from an edge list. Create an account for each user in the list.',
    )
    .argument(
      '<file>',
      'lines "a b", with tabs, spaces, commas, semicolons or pipes: a follows b; may be gzipped',
    )
    .option('--mutual', 'both users of each line follow each other')
    .option(...issuerOption)
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
The words of a heading name the columns: from,to; Source,Target,Weight; user_id,follower_id.
Without one, the first two fields are read. A line that may be a heading or an edge is refused:
write a heading. A file is also refused if half of its first 1,000 lines are no edges.

The import skips and counts comments (#, % or //), blank lines, lines without an edge, and edges
that exist ("known"; also the second line of an edge), with a block ("blocked"), or of a user
who is being removed or a handle that its former owner keeps ("deleted"). It converts handles to
lowercase. The exit code is 1 if the database has no edge of the file afterwards.
${subjects}${again}
Examples:
  $ feedline load friends.csv --mutual
  $ feedline load follows.txt.gz --json
  $ feedline load follows.csv --issuer https://example.eu.auth0.com/`,
    )
    .action(load)

/**
 * `feedline import-relations FILE`: imports follows with their history from a table with one time
 * per source.
 */
const importRelationsCommand = (): Command =>
  new Command('import-relations')
    .description('Import the relations of a legacy table: edges, their history and exact counters.')
    .argument('<file>', 'CSV file with a header line, or JSONL file; may be gzipped')
    .option('--dry-run', 'report what an import would write, and write nothing')
    .option(...issuerOption)
    .option(...jsonOption)
    .addHelpText('after', relationsHelp)
    .action(loadRelations)

extend({ command: loadCommand })
extend({ command: importRelationsCommand })

const relationsHelp = `
Columns: user_id, target_user_id, twitter_followed_at, facebook_followed_at, medium_followed_at,
medium_unfollowed_at, latest_followed_at. user_id follows target_user_id. A time is in epoch
milliseconds, or in ISO 8601 with a zone. 0, empty, null or a missing column means never.

Each time except latest_followed_at is an event. The latest event decides the state. If a follow
and an unfollow have the same time, the unfollow is later. The history keeps the events that change
the state. An edge has the source of the follow that began it. The import resolves and counts rows
that contradict themselves:
  followed-not-counted     latest_followed_at is 0, but a follow is later than the unfollow
  unfollowed-still-counted medium_unfollowed_at is later than a latest_followed_at that is not 0
  never-followed           an unfollow without a follow: the import writes nothing
  latest-disagrees         any other latest_followed_at that is neither the latest follow nor,
                           after an unfollow, 0

The import skips and counts: pairs that have an edge or a history ("known"; also the second row of
a pair), pairs with a block ("blocked"), deleted users and handles that are kept for an account that
gave them up ("deleted"), rows without a follow ("empty").
A skipped row opens no account.
It reports and counts invalid lines, and continues.
${subjects}${again}
Examples:
  $ feedline import-relations user_relations.csv.gz --dry-run
  $ feedline import-relations user_relations.jsonl --json`

async function load(file: string, { json, ...options }: LoadOptions): Promise<void> {
  const mutual = options.mutual === true
  const namedBy = readNaming(options)
  await EdgeList.open(file, namedBy)
  await runImport((services, more) => importGraph(services, { file, mutual, namedBy, ...more }), {
    json,
    counted: 'edges',
    text: ({ written, heading, lines }, ms) => {
      const { users, edges, ...skipped } = written
      const rate = edges === 0 ? 'nothing left to do' : `${perSecond(edges, ms)} edges/s`
      return [
        `${users} users and ${edges} edges in ${(ms / 1000).toFixed(1)} s (${rate})`,
        `Skipped edges: ${listed(skipped)}`,
        `Lines: ${listed(lines)}`,
        ...(heading ? [`The heading is line ${heading.line}: ${shortened(heading.text)}`] : []),
      ].join('\n')
    },
    summary: ({ written, total, lines }) => ({ ...written, total, lines }),
    stored: ({ total }) => total.edges + total.known,
  })
}

async function loadRelations(file: string, options: RelationsOptions): Promise<void> {
  const dryRun = options.dryRun === true
  const importing = dryRun ? previewRelations : importRelations
  const namedBy = readNaming(options)
  await RelationFile.open(file, namedBy)
  await runImport((services, more) => importing(services, { file, namedBy, ...more }), {
    json: options.json,
    dryRun,
    counted: 'pairs',
    text: (result, ms) => relationsText(result, dryRun, ms),
    summary: ({ written, total, rows, contradictions, lines }) => ({
      dryRun,
      ...grouped(written),
      ...{ rows, contradictions, lines },
      total: grouped(total),
    }),
    stored: ({ total }) => total.pairs + total.known,
  })
}

/** @throws {DomainError} BAD_USER_INPUT for an issuer whose subjects cannot sign in. */
function readNaming({ issuer }: NamingOptions): NamedBy {
  if (issuer === undefined) return undefined
  const namedBy = findIssuer(configFor('database').auth, issuer)
  if (namedBy) return namedBy
  throw new DomainError(
    'BAD_USER_INPUT',
    `--issuer: no keys verify tokens of "${issuer}": set AUTH_ISSUER or AUTH_ISSUERS, and their keys, as for the servers`,
  )
}

/** What a command reports of an import. */
interface ImportReport<Result> {
  readonly json: true | undefined
  readonly dryRun?: boolean
  readonly counted: 'edges' | 'pairs'
  readonly text: (result: Result, ms: number) => string
  /** The fields of the line of JSON. */
  readonly summary: (result: Result) => object
  /** How much of the file the database has afterwards. Without any, the command fails. */
  readonly stored: (result: Result) => number
}

/** What the results of all imports have. */
interface Reported {
  readonly bad: BadLines
  readonly written: Readonly<Partial<Record<keyof SkippedPairs['first'], number>>>
  readonly skipped: SkippedPairs['first']
}

async function runImport<Result extends Reported>(
  importing: (services: ImportServices, options: ImportOptions) => Promise<Result>,
  { json, dryRun = false, counted, text, summary, stored }: ImportReport<Result>,
): Promise<void> {
  const config = configFor('database')
  await using database = await openForCommand(config, dryRun ? 'forRead' : 'forImport')
  using interrupt = interruption()
  const startedAt = performance.now()
  const report = (result: Result, more: object = {}) => {
    const ms = performance.now() - startedAt
    const { bad } = result
    console.log(text(result, ms))
    if (bad.count > 0) log(badText(bad))
    logSkipped(result)
    const seconds = Math.round(ms) / 1000
    const fields = { ...summary(result), badLines: bad.count, seconds, ...more }
    if (json) console.log(JSON.stringify(fields))
  }
  let isStored = true
  try {
    using display = showProgress(counted, dryRun ? 'found' : 'written')
    const onBusy = () => log('Other writes lock the same data. Retrying.')
    const options = { signal: interrupt.signal, onProgress: display.update, onBusy }
    const result = await importing(database.services, options)
    display[Symbol.dispose]()
    report(result)
    isStored = stored(result) > 0
    interrupt.endAtOnce()
  } catch (error) {
    const wasStopped = error instanceof ImportInterrupted
    if (wasStopped) report(error.partialResult, { interrupted: true })
    if (!dryRun) await leaveImport(database, config)
    throw wasStopped ? error.cause : error
  }
  if (!dryRun) await endImport(database, config)
  if (!isStored) throw new Error(`Nothing ${dryRun ? 'would be' : 'was'} imported`)
}

const grouped = ({
  known: existing,
  blocked,
  deleted,
  unknown,
  empty,
  ...stored
}: RelationImportResult['written']) => ({
  ...stored,
  passedOver: { known: existing, blocked, deleted, unknown, empty },
})

function relationsText(
  { written, rows, contradictions }: RelationImportResult,
  dryRun: boolean,
  ms: number,
): string {
  const { users, pairs, edges, events, passedOver } = grouped(written)
  return [
    `${dryRun ? 'Nothing was written. An import would write ' : ''}${users} users, ${edges} edges and ${events} events ` +
      `for ${pairs} pairs in ${(ms / 1000).toFixed(1)} s (${perSecond(rows, ms)} rows/s)`,
    `Skipped rows: ${listed(passedOver)}`,
    `Rows that contradict themselves: ${listed(contradictions)}`,
  ].join('\n')
}

const listed = (counts: object) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')

/** Prints the first pairs that were skipped for each reason. */
function logSkipped({ written, skipped }: Reported): void {
  for (const reason of skipReasons) {
    const first = skipped[reason]
    if (first.length === 0) continue
    const shown = first.map(
      ({ line, follower, followee }) =>
        `\n  line ${line}: ${shortened(follower)} follows ${shortened(followee)}`,
    )
    const rest = (written[reason] ?? 0) - first.length
    log(`Skipped, ${reason}:${shown.join('')}${rest > 0 ? `\n  and ${rest} more` : ''}`)
  }
}

function badText({ count, first }: BadLines): string {
  const shown = first.map(({ line, problem }) => `\n  line ${line}: ${problem}`)
  const rest = count > first.length ? `\n  and ${count - first.length} more` : ''
  return `Skipped invalid lines: ${count}${shown.join('')}${rest}`
}
