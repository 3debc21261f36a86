import 'reflect-metadata'
import type { AppConfig } from './environment.ts'
import { createServer } from './graphql/server.ts'
import { loadTrustedDocuments, type TrustedDocuments } from './graphql/trusted-documents.ts'
import { startAdmin } from './http/admin.ts'
import { listenOn } from './http/listen.ts'
import { Readiness } from './http/readiness.ts'
import { Worker } from './jobs/worker.ts'
import { everyMinute } from './lib/every-minute.ts'
import type { Log } from './log.ts'
import { followedFacts } from './memory/followed-facts.ts'
import { Log as ChangeLog } from './memory/log.ts'
import { measureDatabase } from './observe.ts'
import { type Opened, openProcess } from './open-process.ts'
import { type ContentValidator, loadValidators } from './posts/content.ts'
import { createServices, type Services } from './services.ts'
import { registerStrategies } from './timeline/feeds.ts'
import { RebuildWatch } from './timeline/registry/rebuild-watch.ts'
import { issuerWarnings } from './users/issuers.ts'

/**
 * The most of the time to stop that is left for jobs and the database after the last answer, in
 * milliseconds.
 */
const stopReserveMs = 2_000

/** How long a server waits for the log of changes before its first request, in milliseconds. */
const openingMsMax = 1_000

/** How many readers' pages a server reads before its first request. */
const warmUpReaders = 64

/** A running server. */
export interface App extends AsyncDisposable {
  readonly url: string
  readonly adminUrl: string
  readonly services: Services
  /**
   * Resolves, with a sentence, when there is no way to go on: the embedded mongod ended unasked.
   */
  readonly lost: Promise<string>
  /** Makes readiness say 503 and claims no more jobs. Requests are still answered. */
  readonly drain: () => void
}

/**
 * Starts the server with its worker, and logs the database, the URL and the strategy. Its disposal
 * answers running requests, releases jobs and closes the database, within the configured time.
 */
export async function startApp(config: AppConfig, log: Log): Promise<App> {
  const validators = await loadValidators(config.posts.validatorModules)
  const trusted = await loadTrustedDocuments(config.http.trustedDocuments, config)
  return openProcess(config, log, (opened) =>
    serve(config, log, { ...opened, validators, trusted }),
  )
}

/** What is read from files before anything is opened. */
interface Loaded {
  readonly validators: readonly ContentValidator[]
  readonly trusted: TrustedDocuments | undefined
}

/** Starts server and worker on what is open. They close it at their end. */
async function serve(
  config: AppConfig,
  log: Log,
  { tracing, database, deployment, validators, trusted }: Opened & Loaded,
): Promise<App> {
  const { client, db, clock } = database
  const services = createServices(client, db, config, { validators, now: clock.now })
  const worker = new Worker(services.queue, services.tasks, log, { concurrency: 4 })
  for (const warning of await registerStrategies(services, config.feed.maintained)) {
    log.warn(warning)
  }
  for (const warning of await issuerWarnings(services.collections, config.auth)) log.warn(warning)
  const rebuilds = new RebuildWatch(services.registrations, log)
  const checkJobs = async () => {
    await Promise.all([services.periodic.queueDue(), rebuilds.checkStrategies()])
  }
  await checkJobs()
  services.inline.start(services.tasks, log)
  services.feed.start(log)
  if (config.feed.pageCacheMb > 0 && !deployment.isSharded)
    services.memory.start(new ChangeLog(db, followedFacts), log)
  const nudge = () => worker.nudge()
  const readiness = new Readiness(() => db.command({ ping: 1, maxTimeMS: 1_000 }))
  measureDatabase(database, services)
  const { http, requests } = await createServer({
    config,
    services,
    log,
    readiness,
    nudge,
    trusted,
  })
  // Before it listens, so that no request is among the first of this process. What is read earlier
  // is not kept.
  await services.memory.waitUntilOpen(openingMsMax)
  await services.feed.warmUp(await services.stats.sample(warmUpReaders).catch(() => []))
  const url = await listenOn(http, config.http)
  const admin = await startAdmin(config.operations.admin, readiness).catch(async (error) => {
    await http.close()
    throw error
  })
  worker.start()
  const jobChecks = everyMinute(checkJobs, (err) =>
    log.warn({ err }, 'it could not be checked which jobs are missing'),
  )
  log.info(`database: ${database.description}`)
  log.info(`metrics and probes: ${admin.url}/metrics, /livez, /readyz`)
  log.info(`GraphQL: ${url}/graphql${config.production ? '' : `, playground: ${url}/`}`)
  if (trusted) {
    const others = trusted.isRequired ? 'no other is executed' : 'others are executed too'
    log.info(`trusted documents: ${trusted.size}; ${others}`)
  }
  const { strategy, maintained } = config.feed
  log.info(`timeline strategy: ${strategy}; maintained: ${maintained.join(', ')}`)
  // A worker that stops at once leaves its jobs to other processes for the whole drain.
  let stopped: Promise<unknown> | undefined
  const drain = () => {
    readiness.stop()
    stopped ??= Promise.all([worker.stop(), jobChecks.stop()])
  }
  const close = async () => {
    await using _tracing = tracing
    await using _ = database
    await using _admin = admin
    drain()
    const { stopMs } = config.operations
    await requests.close(stopMs - Math.min(stopReserveMs, stopMs / 2))
    await Promise.all([stopped, services.memory.close()])
  }
  const { lost } = database
  return { url, adminUrl: admin.url, services, lost, drain, [Symbol.asyncDispose]: close }
}
