import { type Config, ConfigError } from './config.ts'
import { type ClientProfile, connect } from './db/client.ts'
import { DatabaseClock } from './db/clock.ts'
import { applyIndexes } from './db/indexes.ts'
import { lifetimeWarning } from './db/lifetime.ts'
import { migrate } from './db/migrations/migrate.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { checkVersion, openSchema, readSchema } from './db/schema-version.ts'
import { UriCheck } from './db/unreachable.ts'
import { openEmbedded } from './extensions.ts'
import { orDispose } from './lib/or-dispose.ts'

/**
 * A database that fits the configuration. Disposing of it closes the client, then gives the mongod
 * back.
 */
export interface OpenDatabase extends AsyncDisposable {
  readonly client: MongoClient
  readonly db: Db
  /** What every id, date and wait goes by. */
  readonly clock: DatabaseClock
  /** One line for the log: which database this is. */
  readonly description: string
  /**
   * Resolves, with a sentence, should an embedded mongod end unasked; never for MONGODB_URI, which
   * may come back.
   */
  readonly lost: Promise<string>
}

/** The part of the configuration that opening a database depends on. */
export type DatabaseConfig = Pick<Config, 'database' | 'following'>

/** How a database is opened. */
export interface OpenOptions {
  readonly profile: ClientProfile
  /**
   * Records on a fresh database how it is built, and creates missing collections and indexes; else
   * nothing is written. `forImport` leaves out the indexes that `buildAfterImport` builds.
   */
  readonly prepare: boolean | 'forImport'
  /** Opens a database of any schema version that a release has, for a migration. Default: no. */
  readonly anyVersion?: true
  /** Receives a line for each step that takes a while. */
  readonly log: (line: string) => void
  /**
   * Receives warnings for the operator about the database or this host's clock, at any time.
   * Default: `log`.
   */
  readonly warn?: (line: string) => void
}

/**
 * Opens MONGODB_URI, or the embedded mongod of the data folder, beside any other process that uses
 * it. An embedded database that is prepared, is migrated first if it has an older schema version.
 * @throws {SchemaVersionError} when the database has another schema version, or is of a build
 *   before 0.1.0; {ConfigError} when it was built with the other following mode;
 *   {UnreachableError}; the errors of {@link openEmbedded}; {Error} when the database's clock
 *   cannot be read; driver errors.
 */
export async function openDatabase(
  config: DatabaseConfig,
  options: OpenOptions,
): Promise<OpenDatabase> {
  const { profile, anyVersion, log, warn = log } = options
  const { uri, name, dataFolder } = config.database
  const mongod = uri === undefined ? await openEmbedded({ dataFolder, log }) : undefined
  const address = uri ?? mongod?.uri ?? ''
  const uriCheck = uri === undefined ? undefined : new UriCheck(uri, name)
  let client: MongoClient | undefined
  let clock: DatabaseClock | undefined
  const close = async () => {
    clock?.[Symbol.dispose]()
    await client?.close()
    await mongod?.stop()
  }
  try {
    const reach = async (as: ClientProfile) => {
      if (!uriCheck) return connect(address, as)
      const opened = await connect(address, as, {}, uriCheck.listen).catch((error: unknown) => {
        throw uriCheck.unreachable(error)
      })
      await orDispose(opened, () => uriCheck.checkServer(opened))
      return opened
    }
    if (!anyVersion) await check(await reach('bulk'), config, options)
    client = await reach(profile)
    if (anyVersion) await readSchema(client.db(name))
    clock = await DatabaseClock.start(client, warn)
    const lifetime = profile === 'serving' && uri ? await lifetimeWarning(client) : undefined
    if (lifetime) warn(lifetime)
    const hosts = client.options.hosts.join(',')
    const description = mongod?.description ?? `MongoDB at ${hosts}, database ${name}`
    const lost = mongod?.lost ?? new Promise<never>(() => {})
    const db = client.db(name)
    return { client, db, clock, description, lost, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw uriCheck?.explained(error) ?? error
  }
}

/**
 * The version and the mode come first: other indexes must not be created. Building one may take
 * long. Closes the client.
 */
async function check(
  client: MongoClient,
  { database, following }: DatabaseConfig,
  { prepare, log }: Pick<OpenOptions, 'prepare' | 'log'>,
): Promise<void> {
  const { uri, name } = database
  try {
    const db = client.db(name)
    if (prepare && uri === undefined) {
      await migrate(db, { signal: new AbortController().signal, log })
    }
    const schema = prepare ? await openSchema(db, following) : await readSchema(db)
    if (schema) checkVersion(schema, name)
    if (schema && schema.following !== following) {
      const built = schema.following
      throw new ConfigError([
        `FOLLOWING: this database was created with "${built}"; set FOLLOWING=${built} or use another database`,
      ])
    }
    if (prepare)
      await applyIndexes(db, following, undefined, { forImport: prepare === 'forImport' })
  } finally {
    await client.close()
  }
}
