import 'reflect-metadata'
import { spawnSync } from 'node:child_process'
import '../packages/mongod/register.ts'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/environment.ts'
import { createLog } from '../src/log.ts'
import { type OpenDatabase, openDatabase } from '../src/open-database.ts'
import { createServices } from '../src/services.ts'
import { continueSample, storeSample } from './demo/sample.ts'
import { serveExample } from './example-site.ts'

// Builds the example with Apollo Client, stores a sample in a database of its own, and serves both
// until a signal.

/** The time between two steps of the sample's people, in milliseconds. Each fifth is a post. */
const stepMs = 4_000

// Each start drops this database, so it must be no other.
const config = readConfig({ ...process.env, MONGODB_DATABASE: 'feedline_demo' })
const log = createLog('warn', 'terminal')

console.log('Building examples/apollo')
const build = spawnSync('npm', ['run', 'build', '-w', 'examples/apollo'], { encoding: 'utf8' })
if (build.status !== 0) throw new Error(build.stderr)

console.log('Starting the server and storing the sample')
await dropDatabase()
await using app = await startApp(config, log)
const accounts = await storePastPosts()
await using site = await serveExample({
  example: 'apollo',
  serverUrl: `${app.url}/graphql`,
  pollSeconds: 5,
  guide: 'kaya',
  port: Number(process.env.DEMO_PORT ?? 5173),
})
console.log(`\n  The app:        ${site.url}/   (sign in as alice)`)
console.log(`  The playground: ${app.url}/\n`)
console.log('Others go on writing while you watch. Press Ctrl+C to stop.')
const goOn = continueSample(app.services, accounts)
const timer = setInterval(() => goOn().catch(console.error), stepMs)
await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
clearInterval(timer)

/** Removes the sample of an earlier start. */
async function dropDatabase(): Promise<void> {
  await using database = await openToWrite()
  await database.db.dropDatabase()
}

async function storePastPosts() {
  await using database = await openToWrite()
  const { client, db, clock: present } = database
  const clock = { now: present.now() }
  const past = createServices(client, db, config, { now: () => clock.now })
  return await storeSample({ past, present: app.services, clock })
}

function openToWrite(): Promise<OpenDatabase> {
  return openDatabase(config, { profile: 'bulk', prepare: false, log: () => {} })
}
