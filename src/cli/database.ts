import type { Config } from '../config.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { feedAsStored } from '../integrity/stored-options.ts'
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
export async function openForCommand(config: Config, prepare: boolean): Promise<CommandDatabase> {
  const database = await openDatabase(config, { profile: 'bulk', prepare, say })
  const services = createServices(database.client, database.db, config)
  return { ...database, services }
}

/** The services of a command that reads every strategy as the database stores it, whatever is configured. */
export async function servicesAsStored(
  { client, db, services }: CommandDatabase,
  config: Config,
): Promise<Services> {
  const feed = feedAsStored(config.feed, await services.registry.read())
  return createServices(client, db, { ...config, feed })
}
