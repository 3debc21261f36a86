import 'reflect-metadata'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { AppConfig } from './environment.ts'
import { registerStrategies } from './feed/feeds.ts'
import { RebuildWatch } from './feed/registry/rebuild-watch.ts'
import { createServer } from './graphql/server.ts'
import { Metrics } from './integrity/metrics.ts'
import { DriftWatch } from './integrity/watch.ts'
import { jobLeaseMs } from './jobs/lease.ts'
import { Worker } from './jobs/worker.ts'
import type { Log } from './log.ts'
import { openDatabase } from './open-database.ts'
import { loadValidators } from './posts/content.ts'
import { createServices, type Services } from './services.ts'

/** How long the database may take to answer whether it is there, in milliseconds. */
const readyMsMax = 1_000

/** A running server. */
export interface App extends AsyncDisposable {
  readonly url: string
  readonly services: Services
  /** Resolves, with a sentence, when there is no way to go on: the embedded mongod ended unasked. */
  readonly lost: Promise<string>
}

/**
 * Starts the server with its worker, and logs the database, the URL and the strategy.
 * Its disposal answers running requests, releases jobs and closes the database.
 */
export async function startApp(config: AppConfig, log: Log): Promise<App> {
  const validators = await loadValidators(config.posts.validatorModules)
  const database = await openDatabase(config, {
    profile: 'serving',
    prepare: true,
    log: (line) => log.info(line),
    warn: (line) => log.warn(line),
  })
  try {
    const { client, db, clock } = database
    const services = createServices(client, db, config, { validators, now: clock.now })
    const worker = new Worker(services.queue, services.tasks, log, {
      concurrency: 4,
      pollMs: 1_000,
      leaseMs: jobLeaseMs,
    })
    const ready = () =>
      Promise.race([
        sleep(readyMsMax, false),
        db.command({ ping: 1, maxTimeMS: readyMsMax }).then(
          () => true,
          () => false,
        ),
      ])
    for (const warning of await registerStrategies(services, config.feed.maintained)) {
      log.warn(warning)
    }
    const rebuilds = new RebuildWatch(services.registrations, log)
    await rebuilds.checkStrategies()
    services.inline.start(services.tasks, log)
    const metrics = new Metrics({ clockSkewSeconds: () => clock.skewSeconds() })
    const watch = new DriftWatch(services, config.drift, log, metrics.sampled)
    const nudge = () => worker.nudge()
    const http = await createServer({ config, services, log, ready, nudge, metrics })
    const url = await listen(http, config)
    worker.start()
    watch.start()
    rebuilds.start()
    log.info(`database: ${database.description}`)
    log.info(`GraphQL: ${url}/graphql${config.production ? '' : `, playground: ${url}/`}`)
    const { strategy, maintained } = config.feed
    log.info(`timeline strategy: ${strategy}; maintained: ${maintained.join(', ')}`)
    const close = async () => {
      await using _ = database
      await http.close()
      await Promise.all([worker.stop(), watch.stop(), rebuilds.stop()])
    }
    return { url, services, lost: database.lost, [Symbol.asyncDispose]: close }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

async function listen(http: FastifyInstance, { http: { host, port } }: AppConfig): Promise<string> {
  try {
    const address = await http.listen({ host, port })
    return host === '127.0.0.1' ? address.replace('127.0.0.1', 'localhost') : address
  } catch (error) {
    await http.close()
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use: set PORT to another port`, { cause: error })
    }
    throw error
  }
}
