import { type Config, ConfigError } from './config.ts'
import { type ClientProfile, connect } from './db/client.ts'
import { DatabaseClock } from './db/clock.ts'
import type { MetaDoc, StrategyDoc } from './db/collections.ts'
import { applyIndexes } from './db/indexes.ts'
import { lifetimeWarning } from './db/lifetime.ts'
import { migrate } from './db/migrations/migrate.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { checkVersion, openSchema, readSchema } from './db/schema-version.ts'
import { isUnauthorized, UriCheck } from './db/unreachable.ts'
import { openEmbedded } from './extensions.ts'
import { orDispose } from './lib/or-dispose.ts'

/** A database that fits the configuration. Disposing of it closes the client, then gives the mongod back. */
export interface OpenDatabase extends AsyncDisposable {
  readonly client: MongoClient
  readonly db: Db
  /** What every id, date and wait goes by. */
  readonly clock: DatabaseClock
  /** One line for the log: which database this is. */
  readonly description: string
  /** Resolves, with a sentence, should an embedded mongod end unasked; never for MONGODB_URI, which may come back. */
  readonly lost: Promise<string>
}

/** The part of the configuration that opening a database depends on. */
export type DatabaseConfig = Pick<Config, 'database' | 'following'>

/** How a database is opened. */
export interface OpenOptions {
  readonly profile: ClientProfile
  /**
   * Records on a fresh database how it is built, and creates missing collections and indexes; else nothing is written.
   * `forImport` leaves out the indexes that `buildAfterImport` builds.
   */
  readonly prepare: boolean | 'forImport'
  /** Opens a database of any schema version as it is, for a migration. Default: refuses it. */
  readonly anyVersion?: true
  /** Receives a line for each step that takes a while. */
  readonly log: (line: string) => void
  /** Receives warnings for the operator about the database or this host's clock, at any time. Default: `log`. */
  readonly warn?: (line: string) => void
}

/**
 * Opens MONGODB_URI, or the embedded mongod of the data folder, beside any other process that uses it. An embedded
 * database that is prepared, is migrated first if it has an older schema version.
 * @throws {SchemaVersionError} when the database has another schema version; {ConfigError} when it was built with the
 *   other following mode; {UnreachableError}; the errors of {@link openEmbedded}; {Error} when the database's clock cannot be read; driver
 *   errors.
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
    if (anyVersion) await checkData(client, config.database)
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

/** The version and the mode come first: other indexes must not be created. Building one may take long. Closes the client. */
async function check(
  client: MongoClient,
  { database, following }: DatabaseConfig,
  { prepare, log }: Pick<OpenOptions, 'prepare' | 'log'>,
): Promise<void> {
  const { uri, name } = database
  try {
    const db = client.db(name)
    await checkData(client, database)
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

/**
 * Checks that this release sees all data. Up to four commands.
 * @throws {ConfigError} if other releases have stored some of it elsewhere.
 */
async function checkData(client: MongoClient, database: DatabaseConfig['database']): Promise<void> {
  await checkFormer(client, database)
  await checkTimelines(client.db(database.name))
  await checkStrategies(client.db(database.name))
}

/**
 * A release that did not read the path of MONGODB_URI may have stored everything in its standard database. One command
 * if the path alone names the database, and one more if that is new.
 * @throws {ConfigError} then.
 */
async function checkFormer(
  client: MongoClient,
  { name, formerName }: DatabaseConfig['database'],
): Promise<void> {
  if (!formerName || (await readSchema(client.db(name)))) return
  const former = await readSchema(client.db(formerName)).catch((error: unknown) => {
    // A user without rights on it never stored anything there.
    if (isUnauthorized(error)) return undefined
    throw error
  })
  if (!former) return
  throw new ConfigError([
    `MONGODB_URI: the database "${name}" in its path is new, and "${formerName}" has the data of a release that did not read the path; ` +
      `set MONGODB_DATABASE=${formerName} to use them, or MONGODB_DATABASE=${name} to begin a new database`,
  ])
}

/**
 * Earlier releases could store timelines on a cluster of their own, which a record in `meta` names. One command.
 * @throws {ConfigError}
 */
async function checkTimelines(db: Db): Promise<void> {
  const record = await db.collection<MetaDoc>('meta').findOne({ _id: 'timelines' })
  if (!record) return
  throw new ConfigError([
    'TIMELINES_URI: this database stores its timelines on a cluster of their own, which this release does not read; run "feedline timelines move" of the previous release without TIMELINES_URI',
  ])
}

/**
 * Earlier releases had a strategy HYBRID, whose inboxes nothing would maintain. One command.
 * @throws {ConfigError}
 */
async function checkStrategies(db: Db): Promise<void> {
  const strategies = db.collection<StrategyDoc>('strategies')
  if (!(await strategies.findOne({ _id: 'HYBRID' }))) return
  throw new ConfigError([
    'FEED_STRATEGY: this database maintains HYBRID, which this release does not have; run "feedline timelines drop HYBRID" of the previous release, and set INBOX instead',
  ])
}
