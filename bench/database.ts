import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Db, MongoClient, MongoClientOptions } from 'mongodb'
import { connect } from '../src/db/client.ts'
import { applyIndexes } from '../src/db/indexes.ts'
import { openMongod } from '../src/dev/mongod/open.ts'
import { readConfig } from '../src/environment.ts'
import { createServices, type Services } from '../src/services.ts'

/** A fresh database that nothing else uses. Disposing of it removes it. */
export interface BenchDatabase extends AsyncDisposable {
  readonly uri: string
  readonly client: MongoClient
  readonly db: Db
  readonly services: Services
}

/** The services as a process of its own builds them over the database. */
export async function openServices(
  uri: string,
  name: string,
  env: Record<string, string> = {},
  extra: MongoClientOptions = {},
) {
  const client = await connect(uri, 'serving', { maxPoolSize: 100, ...extra })
  const db = client.db(name)
  return { client, db, services: createServices(client, db, readConfig(env)) }
}

/** Opens a fresh database on TEST_MONGODB_URI, or on an embedded mongod with its data in a temporary folder. */
export async function openBench(
  say: (line: string) => void,
  env: Record<string, string> = {},
  extra: MongoClientOptions = {},
): Promise<BenchDatabase> {
  const given = process.env.TEST_MONGODB_URI
  const folder = given ? undefined : await mkdtemp(join(tmpdir(), 'feedline-bench-'))
  const mongod = folder
    ? await openMongod({
        dataFolder: folder,
        binFolder: resolve('.feedline/bin'),
        mongodBinary: process.env.MONGOD_BINARY,
        log: say,
      })
    : undefined
  const uri = given ?? mongod?.uri ?? ''
  const name = `bench_${Date.now().toString(36)}`
  const { client, db, services } = await openServices(uri, name, env, extra)
  await applyIndexes(db, 'collection')
  return {
    uri,
    client,
    db,
    services,
    [Symbol.asyncDispose]: async () => {
      await db.dropDatabase()
      await client.close()
      await mongod?.stop()
      if (folder) await rm(folder, { recursive: true })
    },
  }
}
