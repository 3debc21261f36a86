import { buildAfterImport, loadLeftOut } from '../db/indexes.ts'
import type { Db } from '../db/mongo.ts'
import type { AppConfig } from '../environment.ts'
import { type OpenDatabase, type OpenOptions, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'
import { feedStrategyNames, valuesWhenChecked } from '../timeline/strategies/list.ts'
import { failureText } from './failure.ts'

/** Prints a progress line to stderr. Stdout holds only the command's output. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** The database of a command. */
export interface CommandDatabase extends OpenDatabase {
  readonly services: Services
}

/**
 * Opens the configured database for a command. A server may use the same database.
 * @param how creates missing collections and indexes. False: writes nothing. `forRead`: writes nothing, and checks that
 *   there are the indexes of pages and edges. `forImport`: creates only what an import reads.
 * @throws the errors of {@link openDatabase}. {Error} if indexes are missing.
 */
export async function openForCommand(
  config: AppConfig,
  how: OpenOptions['prepare'] | 'forRead',
): Promise<CommandDatabase> {
  const prepare = how !== 'forRead' && how
  const database = await openDatabase(config, { profile: 'bulk', prepare, log })
  try {
    const { client, db, clock } = database
    if (how === 'forRead') await checkIndexes(db, config)
    const services = createServices(client, db, config, { now: clock.now })
    return { ...database, services }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

/** @throws {Error} one sentence and the next step, if indexes are missing that an import builds at its end. */
async function checkIndexes(db: Db, { following }: AppConfig): Promise<void> {
  const missing = await loadLeftOut(db, following)
  if (missing.length > 0) throw new Error(notBuilt(missing))
}

const notBuilt = (missing: readonly string[]): string =>
  `An import has not built these indexes yet: ${missing.join(', ')}. ` +
  'Repeat the import, or run "feedline indexes --apply".'

/**
 * Ends an import that has succeeded: builds the indexes that it left out, and queues the rebuild of timelines. A build that
 * fails is reported on stderr with its cause, and sets the exit code. Throws nothing. A few commands, and the builds.
 */
export async function endImport(
  { db, services }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  try {
    const missing = await loadLeftOut(db, following)
    if (missing.length > 0) log(`Building indexes: ${missing.join(', ')}`)
    // Also waits for a build of another process.
    await buildAfterImport(db, following)
  } catch (error) {
    process.exitCode = 1
    const next = 'Remove the cause and run "feedline indexes --apply".'
    log(`Indexes could not be built (${failureText(error)}). ${next}`)
  }
  await queueRebuilds(services)
}

/**
 * Leaves an import that was stopped or has failed: queues the rebuild of timelines, and names the indexes that are not
 * built on stderr. Builds none, because that may take minutes. Throws nothing. A few commands.
 */
export async function leaveImport(
  { db, services }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  const [missing] = await Promise.all([
    loadLeftOut(db, following).catch(() => undefined),
    queueRebuilds(services),
  ])
  if (!missing) log('Indexes may be missing. Run "feedline indexes --apply".')
  else if (missing.length > 0) log(notBuilt(missing))
}

/** What fails here for a while, a server does within a minute. It does not hide the error of the import. */
async function queueRebuilds({ upkeep, registry }: Services): Promise<void> {
  try {
    await upkeep.beginRebuilds()
    const filled = [...(await registry.read()).values()].filter(({ complete }) => !complete)
    if (filled.length === 0) return
    const total = Math.max(...filled.map(({ readers }) => readers?.total ?? 0))
    const until = 'Until then, their pages come from FANOUT_ON_READ.'
    log(
      `Servers and workers fill the timelines of about ${total} readers. ${until} "feedline timelines" says how long that takes.`,
    )
  } catch {
    log('The back-fill of timelines could not be queued. A server queues it within a minute.')
  }
}

/**
 * The services of a command that reads every strategy, also unconfigured ones. Its reads extend the life of no cache.
 */
export async function servicesForAllStrategies(
  { client, db, clock }: CommandDatabase,
  config: AppConfig,
): Promise<Services> {
  const feed = { ...config.feed, maintained: feedStrategyNames, ...valuesWhenChecked }
  return createServices(client, db, { ...config, feed }, { now: clock.now })
}
