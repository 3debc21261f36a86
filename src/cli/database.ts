import { buildAfterImport } from '../db/indexes.ts'
import type { AppConfig } from '../environment.ts'
import { feedStrategyNames, valuesWhenChecked } from '../feed/strategies/list.ts'
import { type OpenDatabase, type OpenOptions, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'

/** Prints a progress line to stderr. Stdout holds only the command's output. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** The database of a command. */
export interface CommandDatabase extends OpenDatabase {
  readonly services: Services
}

/**
 * Opens the configured database for a command. A server may use the same database.
 * @param prepare creates missing collections and indexes. False: writes nothing. `forImport`: only what an import reads.
 * @throws the errors of {@link openDatabase}.
 */
export async function openForCommand(
  config: AppConfig,
  prepare: OpenOptions['prepare'],
): Promise<CommandDatabase> {
  const database = await openDatabase(config, { profile: 'bulk', prepare, log })
  const { client, db, cluster, clock } = database
  const services = createServices(client, db, config, { now: clock.now, cluster })
  if (prepare) await checkTimelines(services)
  return { ...database, services }
}

/** @throws {TimelinesAway} if the timelines cluster cannot be used. */
async function checkTimelines({ clusterRepair, placement }: Services): Promise<void> {
  await clusterRepair.settle()
  placement.checkState()
}

/**
 * Builds the indexes that an import left out, and queues the rebuild of timelines. Also after a failed import. What fails
 * here, a server does: indexes at its start, and the rebuild within a minute.
 */
export async function endImport(
  { db, services: { upkeep } }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  await buildAfterImport(db, following).catch(() =>
    log('Indexes could not be built. The next start of a server builds them.'),
  )
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
