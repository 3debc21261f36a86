import { randomBytes } from 'node:crypto'
import { BSON, type Db, type MongoClient } from 'mongodb'
import { pino } from 'pino'
import { inject } from 'vitest'
import { connect } from '../../../src/db/client.ts'
import { migrate } from '../../../src/db/migrations/migrate.ts'
import { readConfig } from '../../../src/environment.ts'
import { registerStrategies } from '../../../src/feed/feeds.ts'
import { createServer } from '../../../src/graphql/server.ts'
import { Readiness } from '../../../src/http/readiness.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { contents, type RecordedDatabase, restore } from './release-fixture.ts'

/** A database as an earlier release left it. Disposing of it drops it and closes the client. */
export interface RestoredDatabase extends AsyncDisposable {
  readonly client: MongoClient
  readonly db: Db
  readonly env: Readonly<Record<string, string>>
}

/** Stores a recorded database under a random name, on a client of its own. */
export async function restored(recorded: RecordedDatabase): Promise<RestoredDatabase> {
  const uri = inject('mongoUri')
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = await connect(uri, 'bulk', { appName: name })
  const db = client.db(name)
  await restore(db, recorded)
  const env = { ...recorded.env, MONGODB_URI: uri, MONGODB_DATABASE: name }
  const close = async () => {
    await db.dropDatabase()
    await client.close()
  }
  return { client, db, env, [Symbol.asyncDispose]: close }
}

/** Migrates without an operator. @returns what it said. */
export async function migrated(db: Db, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = []
  await migrate(db, { signal, log: (line) => lines.push(line) })
  return lines
}

/** Ends the lease of a migration that was killed. */
export async function expireLease(db: Db): Promise<void> {
  const lease = { _id: 'migration' as never }
  await db.collection('meta').updateOne(lease, { $set: { until: new Date(0) } })
}

/** What a migrated database holds, without the ids of new jobs and the times at which jobs are due. */
export async function outcome(db: Db): Promise<object> {
  const { outbox, ...rest } = await contents(db)
  const jobs = outbox?.documents.map(({ _id, runAt: _, kind, payload, ...job }) =>
    BSON.EJSON.stringify({ kind, payload, ...job, ...(kind === 'follow.created' ? {} : { _id }) }),
  )
  return { ...rest, outbox: { ...outbox, documents: [...new Set(jobs)].sort() } }
}

/** A server of this release, without a worker. */
export async function serve({ client, db, env }: RestoredDatabase) {
  const config = readConfig(env)
  const services: Services = createServices(client, db, config)
  await registerStrategies(services, config.feed.maintained)
  const { http } = await createServer({
    config,
    services,
    log: pino({ level: 'silent' }),
    readiness: new Readiness(async () => {}),
    nudge: () => {},
  })
  const url = await http.listen({ port: 0, host: '127.0.0.1' })
  const ask = async (as: string, query: string, variables: object): Promise<unknown> => {
    const headers = { authorization: `Dev ${as}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ query, variables })
    const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
    const { data, errors } = (await answer.json()) as { data?: unknown; errors?: unknown }
    if (errors) throw new Error(JSON.stringify(errors))
    return data
  }
  return { services, ask, [Symbol.asyncDispose]: async () => http.close() }
}
