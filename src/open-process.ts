import { setFlagsFromString } from 'node:v8'
import { type Deployment, deploymentLine, isRouter } from './db/deployment.ts'
import type { AppConfig } from './environment.ts'
import { orDispose } from './lib/or-dispose.ts'
import { release } from './lib/release.ts'
import type { Log } from './log.ts'
import { type OpenDatabase, openDatabase } from './open-database.ts'
import { startTracing } from './tracing/start.ts'

/** What a process that runs until a signal has opened, and closes at its end. */
export interface Opened {
  readonly tracing: AsyncDisposable
  readonly database: OpenDatabase
  readonly deployment: Deployment
}

/**
 * By how much the heap may grow between two collections, in percent. On a machine with much memory,
 * V8 lets it grow fourfold, and half of a server's resident memory is garbage.
 */
const heapGrowthPercent = 50

/**
 * Starts tracing, opens the database of a process that runs until a signal, logs the release and
 * what the deployment changes, and starts the process on both. If the start fails, they are closed.
 * A router has an address of its own, so a process on a replica set stays on it when the replica
 * set becomes a shard.
 */
export async function openProcess<T>(
  config: AppConfig,
  log: Log,
  start: (opened: Opened) => Promise<T>,
): Promise<T> {
  log.info(`release: Feedline ${release}`)
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`)
  const tracing = await startTracing(config.operations.traceEndpoint, log)
  return orDispose(tracing, async () => {
    const database = await openDatabase(config, {
      profile: 'serving',
      prepare: true,
      log: (line) => log.info(line),
      warn: (line) => log.warn(line),
    })
    return orDispose(database, async () => {
      const isEmbedded = config.database.uri === undefined
      const deployment = { isEmbedded, isSharded: await isRouter(database.db) }
      log.info(deploymentLine(deployment))
      return start({ tracing, database, deployment })
    })
  })
}
