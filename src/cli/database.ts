import { isUnreachable } from '../db/errors.ts'
import { buildAfterImport, loadLeftOut } from '../db/indexes.ts'
import type { Db } from '../db/mongo.ts'
import type { AppConfig } from '../environment.ts'
import { feedStrategyNames, valuesWhenChecked } from '../feed/strategies/list.ts'
import { type OpenDatabase, type OpenOptions, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'
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
    const { client, db, cluster, clock } = database
    if (how === 'forRead') await checkIndexes(db, config)
    const services = createServices(client, db, config, { now: clock.now, cluster })
    if (prepare) await checkTimelines(services)
    return { ...database, services }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

/** @throws {Error} one sentence and the next step, if indexes are missing that an import builds at its end. */
async function checkIndexes(db: Db, { following }: AppConfig): Promise<void> {
  const missing = await loadLeftOut(db, following)
  if (missing.length === 0) return
  throw new Error(
    `An import has not built these indexes yet: ${missing.join(', ')}. ` +
      'Repeat the import, or run "feedline indexes --apply".',
  )
}

/** @throws {TimelinesAway} if the timelines cluster cannot be used. */
async function checkTimelines({ clusterRepair, placement }: Services): Promise<void> {
  await clusterRepair.settle()
  placement.checkState()
}

/**
 * Builds the indexes that an import left out, and queues the rebuild of timelines. Also after a failed import. What fails
 * here for a while, a server does: indexes at its start, and the rebuild within a minute. Another failure sets the exit
 * code, and does not hide the error of the import.
 */
export async function endImport(
  { db, services: { upkeep } }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  await buildAfterImport(db, following).catch((error: unknown) => {
    if (!isUnreachable(error)) process.exitCode = 1
    const next = isUnreachable(error)
      ? 'The next start of a server builds them.'
      : 'Remove the cause and run "feedline indexes --apply".'
    log(`Indexes could not be built. ${next} ${failureText(error)}`)
  })
  await upkeep
    .beginRebuilds()
    .catch(() =>
      log('The rebuild of the timelines could not be queued. A server queues it within a minute.'),
    )
}

/**
 * The services of a command that reads every strategy, also unconfigured ones. Its reads extend the life of no cache.
 */
export async function servicesForAllStrategies(
  { client, db, cluster, clock }: CommandDatabase,
  config: AppConfig,
): Promise<Services> {
  const feed = { ...config.feed, maintained: feedStrategyNames, ...valuesWhenChecked }
  const services = createServices(client, db, { ...config, feed }, { now: clock.now, cluster })
  await checkTimelines(services)
  return services
}
