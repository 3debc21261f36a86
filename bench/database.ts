import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Db, MongoClient, MongoClientOptions } from 'mongodb'
import { openMongod } from '../packages/mongod/open.ts'
import { connect } from '../src/db/client.ts'
import { applyIndexes } from '../src/db/indexes.ts'
import { readConfig } from '../src/environment.ts'
import { createServices, type Services } from '../src/services.ts'

/** A new database for one benchmark. It is dropped when it is disposed of. */
export interface BenchDatabase extends AsyncDisposable {
  readonly uri: string
  readonly client: MongoClient
  readonly db: Db
  readonly services: Services
}

/** How the embedded mongods that run now are stopped, with their folders. */
const running = new Set<() => Promise<void>>()

/** Stops all embedded mongods and deletes their data. For a benchmark that is interrupted. */
export async function stopDatabases(): Promise<void> {
  await Promise.allSettled([...running].map((stop) => stop()))
}

/** Connects to a database and creates services as a Feedline process does. */
export async function openServices(
  uri: string,
  name: string,
  env: Record<string, string> = {},
  clientOptions: MongoClientOptions = {},
) {
  const client = await connect(uri, 'serving', { maxPoolSize: 100, ...clientOptions })
  const db = client.db(name)
  return { client, db, services: createServices(client, db, readConfig(env)) }
}

/** The versions of Node and MongoDB on which a benchmark runs. */
export async function readVersions({ db }: Pick<BenchDatabase, 'db'>): Promise<string[]> {
  const { version } = await db.admin().command({ buildInfo: 1 })
  return [`Node ${process.version}`, `MongoDB ${version}`]
}

/**
 * Copies collections with their documents, without indexes, into another database of the same
 * server.
 */
export async function copyCollections(db: Db, to: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await db
      .collection(name)
      .aggregate([{ $out: { db: to, coll: name } }])
      .toArray()
}

/**
 * Creates a new database on TEST_MONGODB_URI, or on an embedded mongod with its data in a temporary
 * folder.
 */
export async function openBenchDatabase(
  log: (line: string) => void,
  env: Record<string, string> = {},
  clientOptions: MongoClientOptions = {},
): Promise<BenchDatabase> {
  const configuredUri = process.env.TEST_MONGODB_URI
  const folder = configuredUri ? undefined : await mkdtemp(join(tmpdir(), 'feedline-bench-'))
  const mongod = folder
    ? await openMongod({
        dataFolder: folder,
        binFolder: resolve('.feedline/bin'),
        log,
      })
    : undefined
  const stop = async () => {
    running.delete(stop)
    await mongod?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  }
  running.add(stop)
  const uri = configuredUri ?? mongod?.uri ?? ''
  const name = `bench_${Date.now().toString(36)}`
  const { client, db, services } = await openServices(uri, name, env, clientOptions)
  await applyIndexes(db, 'collection')
  return {
    uri,
    client,
    db,
    services,
    [Symbol.asyncDispose]: async () => {
      await db.dropDatabase()
      await client.close()
      await stop()
    },
  }
}
