import type { AppConfig } from '../environment.ts'
import { feedStrategyNames, valuesWhenChecked } from '../feed/strategies/list.ts'
import { type OpenDatabase, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'

/** Tells whoever runs a command what is going on, without mixing into its output. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** The database as a command sees it. */
export interface CommandDatabase extends OpenDatabase {
  readonly services: Services
}

/**
 * Opens the configured database for a command, beside a server that uses the same.
 * @param prepare creates what indexes are missing; without it nothing is written.
 * @throws as {@link openDatabase}.
 */
export async function openForCommand(
  config: AppConfig,
  prepare: boolean,
): Promise<CommandDatabase> {
  const database = await openDatabase(config, { profile: 'bulk', prepare, say })
  const { client, db, clock } = database
  const services = createServices(client, db, config, { now: clock.now })
  return { ...database, services }
}

/** Has the rebuild of timelines begin at the end of an import, however it ended. Without it, it begins a minute later. */
export async function beginRebuilds({ upkeep }: Services): Promise<void> {
  await upkeep
    .beginRebuilds()
    .catch(() =>
      say('The rebuild of the timelines could not be queued. A server queues it within a minute.'),
    )
}

/** The services of a command that reads every strategy, whatever is configured. No cache lives longer because of it. */
export function servicesAsStored(
  { client, db, clock }: CommandDatabase,
  config: AppConfig,
): Services {
  const feed = { ...config.feed, maintained: feedStrategyNames, ...valuesWhenChecked }
  return createServices(client, db, { ...config, feed }, { now: clock.now })
}
