import 'reflect-metadata'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { type ClientProfile, connect } from './db/client.ts'
import { openEmbedded } from './db/embedded.ts'
import { applyIndexes, followingModeOf } from './db/indexes.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { createServer } from './graphql/server.ts'
import { Worker } from './jobs/worker.ts'
import type { Log } from './log.ts'
import { loadValidators } from './posts/content.ts'
import { createServices, type Services } from './services.ts'

/** A database with all its collections and indexes. */
export interface OpenDatabase extends AsyncDisposable {
  readonly client: MongoClient
  readonly db: Db
  /** One line for the log: which database this is. */
  readonly description: string
}

/**
 * Opens the configured database, or the embedded one, and sees to its collections and indexes.
 * Disposing of it closes the client, and ends the embedded mongod when nobody else uses it.
 * @throws Error in one sentence when it cannot be had, or was built with the other FOLLOWING.
 */
export async function openDatabase(
  config: Config,
  say: (line: string) => void,
  profile: ClientProfile = 'serving',
): Promise<OpenDatabase> {
  const { uri, name, dataFolder, mongodBinary } = config.database
  const embedded = uri === undefined ? await openEmbedded({ dataFolder, mongodBinary, say }) : undefined
  const address = uri ?? embedded?.uri ?? ''
  let client: MongoClient | undefined
  const close = async () => {
    await client?.close()
    await embedded?.stop()
  }
  try {
    await prepare(address, config)
    client = await connect(address, profile)
    const host = client.options.hosts.join(',')
    const description = embedded?.description ?? `MongoDB at ${host}, database ${name}`
    return { client, db: client.db(name), description, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Building an index may take longer than a command of a request. */
async function prepare(address: string, { database, following }: Config): Promise<void> {
  const client = await connect(address, 'bulk')
  try {
    const db = client.db(database.name)
    const built = await followingModeOf(db, following)
    if (built !== following) {
      throw new Error(`FOLLOWING: this database was built with "${built}"; set FOLLOWING=${built}, or use another database`)
    }
    await applyIndexes(db, following)
  } finally {
    await client.close()
  }
}

/** A running server. */
export interface App extends AsyncDisposable {
  readonly url: string
  readonly services: Services
}

/**
 * Starts the server with its worker, and says in one line each which database, URL and strategy.
 * Disposing of it answers what is under way, hands jobs back, and closes the database.
 */
export async function startApp(config: Config, log: Log): Promise<App> {
  const validators = await loadValidators(config.posts.validatorModules)
  const database = await openDatabase(config, (line) => log.info(line))
  try {
    const services = createServices(database.client, database.db, config, validators)
    const worker = new Worker(services.queue, services.tasks, log, {
      concurrency: 4,
      pollMs: 1_000,
      leaseMs: 30_000,
    })
    const ready = () => database.db.command({ ping: 1, maxTimeMS: 1_000 }).then(() => true, () => false)
    const http = await createServer({ config, services, log, ready, nudge: () => worker.nudge() })
    const url = await listen(http, config)
    worker.start()
    log.info(`database: ${database.description}`)
    log.info(`GraphQL: ${url}/graphql${config.production ? '' : `, playground: ${url}/`}`)
    log.info(`timeline strategy: ${config.feed.strategy}`)
    const close = async () => {
      await http.close()
      await worker.stop()
      await database[Symbol.asyncDispose]()
    }
    return { url, services, [Symbol.asyncDispose]: close }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

async function listen(http: FastifyInstance, { http: { host, port } }: Config): Promise<string> {
  try {
    const address = await http.listen({ host, port })
    return host === '127.0.0.1' ? address.replace('127.0.0.1', 'localhost') : address
  } catch (error) {
    await http.close()
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use: set PORT to another one`, { cause: error })
    }
    throw error
  }
}
