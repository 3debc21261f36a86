import type { AppConfig } from '../environment.ts'
import { feedStrategyNames, valuesWhenChecked } from '../feed/strategies/list.ts'
import { type OpenDatabase, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'

/** Prints a progress line to stderr. Stdout holds only the command's output. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** The database of a command. */
export interface CommandDatabase extends OpenDatabase {
  readonly services: Services
}

/**
 * Opens the configured database for a command. A server may use the same database.
 * @param prepare creates missing collections and indexes. False: writes nothing.
 * @throws the errors of {@link openDatabase}.
 */
export async function openForCommand(
  config: AppConfig,
  prepare: boolean,
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
 * Queues the rebuild of timelines after an import, also a failed one. If this fails, a server queues it in a minute.
 */
export async function queueRebuilds({ upkeep }: Services): Promise<void> {
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
