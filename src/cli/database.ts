import { loadLeftOut } from '../db/indexes.ts'
import type { Db } from '../db/mongo.ts'
import type { AppConfig } from '../environment.ts'
import { type OpenDatabase, type OpenOptions, openDatabase } from '../open-database.ts'
import { createServices, type Services } from '../services.ts'
import { feedStrategyNames, valuesWhenChecked } from '../timeline/strategies/list.ts'

/** Prints a progress line to stderr. Stdout holds only the command's output. */
export const log = (line: string): void => void process.stderr.write(`${line}\n`)

/** The database of a command. */
export interface CommandDatabase extends OpenDatabase {
  readonly services: Services
}

/**
 * Opens the configured database for a command. A server may use the same database.
 * @param how creates missing collections and indexes. False: writes nothing. `forRead`: writes
 *   nothing, and checks that there are the indexes of pages and edges. `forImport`: creates only
 *   what an import reads.
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

/**
 * @throws {Error} one sentence and the next step, if indexes are missing that an import builds at
 *   its end.
 */
async function checkIndexes(db: Db, { following }: AppConfig): Promise<void> {
  const missing = await loadLeftOut(db, following)
  if (missing.length > 0) throw new Error(notBuilt(missing))
}

/** The sentence about indexes that an import has left out, with the next step. */
export const notBuilt = (missing: readonly string[]): string =>
  `An import has not built these indexes yet: ${missing.join(', ')}. ` +
  'Repeat the import, or run "feedline indexes --apply".'

/**
 * The services of a command that reads every strategy, also unconfigured ones. Its reads extend the
 * life of no cache.
 */
export async function servicesForAllStrategies(
  { client, db, clock }: CommandDatabase,
  config: AppConfig,
): Promise<Services> {
  const feed = { ...config.feed, maintained: feedStrategyNames, ...valuesWhenChecked }
  return createServices(client, db, { ...config, feed }, { now: clock.now })
}
