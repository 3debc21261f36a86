import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoServerError, ObjectId } from 'mongodb'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { openMongod } from '../../packages/mongod/open.ts'
import { connect } from '../../src/db/client.ts'
import { migrations } from '../../src/db/migrations/list.ts'
import { migrate, planMigration } from '../../src/db/migrations/migrate.ts'
import { isView } from '../../src/db/migrations/steps.ts'
import type { Db } from '../../src/db/mongo.ts'
import { openSchema, readSchema, schemaVersion } from '../../src/db/schema-version.ts'
import { binFolder } from '../support/bin-folder.ts'
import { noteFact } from '../support/facts.ts'
import { failCommand } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { type FeedlineProcess, feedline } from '../support/process.ts'
import { share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'
import { compileNextRelease, formerName, nextName, nextRelease } from './migrations/next-release.ts'
import { nextVersion, retiredIndex } from './migrations/next-version.ts'

const newest = schemaVersion + 1
const [before, after] = ['trial_notes', 'trial_remarks']
const trial = nextVersion(before, after)
const all = [...migrations, trial]
const ids = Array.from({ length: 5 }, () => new ObjectId())

/** An empty database on a client of its own. Disposing of it drops it and closes the client. */
async function openEmpty() {
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = await connect(inject('mongoUri'), 'bulk', { appName: name })
  const db = client.db(name)
  const close = async () => {
    await db.dropDatabase()
    await client.close()
  }
  return { client, db, [Symbol.asyncDispose]: close }
}

/** A database of this release, with what the trial migrates. */
async function openTrial() {
  const database = await openEmpty()
  const { db } = database
  await openSchema(db, 'collection')
  await db.collection(before).insertMany(ids.map((_id, n) => ({ _id, text: `note ${n}` })))
  await db.collection('posts').createIndex({ trial: 1 }, { name: retiredIndex })
  return database
}

/** Migrates without an operator. @returns what it said. */
async function migrated(db: Db): Promise<string[]> {
  const lines: string[] = []
  const { signal } = new AbortController()
  await migrate(db, { signal, log: (line) => lines.push(line) }, all)
  return lines
}

/** All that a database holds, but for the record of a migration in progress. */
async function contents(db: Db): Promise<object> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray()
  const parts = listed
    .filter(({ name }) => name !== 'system.views')
    .map(async ({ name, type, options }) => {
      const documents = await db.collection<{ _id: string }>(name).find().sort({ _id: 1 }).toArray()
      const indexes = type === 'view' ? [] : await db.collection(name).indexes()
      return [
        name,
        { type, options, documents: documents.filter(({ _id }) => _id !== 'migration') },
        indexes.map((one) => one.name).sort(),
      ] as const
    })
  return (await Promise.all(parts)).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** What a database holds after a migration without failures. */
async function expectedContents(): Promise<object> {
  await using database = await openTrial()
  await migrated(database.db)
  return await contents(database.db)
}

/** MongoDB's codes: DocumentValidationFailure, CommandNotSupportedOnView. */
const [invalid, onView] = [121, 166]
const refusal = (write: Promise<unknown>) => write.then(String, (error) => error.code)

test('a migration says what it would change, changes that, and nothing when it is repeated', async () => {
  await using database = await openTrial()
  const { db } = database
  const untouched = await contents(db)
  const { from, changes } = await planMigration(db, all)
  expect(await contents(db)).toEqual(untouched)
  expect(from).toBe(schemaVersion)
  expect(changes).toContain('Drop the index trial_1 of posts.')
  expect(changes.slice(-2)).toEqual([
    'Rename trial_notes to trial_remarks, and refuse writes to trial_notes.',
    'Store since when 5 trial_remarks hold.',
  ])
  const [title, ...lines] = await migrated(db)
  expect(title).toBe(`Migrating from schema version ${schemaVersion} to ${newest}: ${trial.name}.`)
  expect(lines).toEqual(changes)
  expect(await readSchema(db)).toEqual({ version: newest, following: 'collection' })
  const remarks = await db.collection(after).find().sort({ _id: 1 }).toArray()
  expect(remarks.map(({ since }) => since)).toEqual(ids.map((id) => id.getTimestamp()))
  const settled = await contents(db)
  expect(await migrated(db)).toEqual([])
  expect(await planMigration(db, all)).toEqual({ from: newest, changes: [] })
  expect(await contents(db)).toEqual(settled)
})

test('a process of the previous release goes on reading, and its writes are refused', async () => {
  await using database = await openTrial()
  const { db } = database
  await migrated(db)
  expect(await db.collection(before).countDocuments()).toBe(5)
  expect(await refusal(db.collection(before).insertOne({ text: 'late' }))).toBe(onView)
  expect(await refusal(db.collection(after).insertOne({ text: 'late' }))).toBe(invalid)
})

test('what a process of the previous release writes between two commands of a migration is kept', async () => {
  await using database = await openTrial()
  const { db } = database
  const _id = new ObjectId()
  await db.collection(before).rename(after)
  await db.collection(before).insertOne({ _id, text: 'late' })
  await migrated(db)
  expect(await db.collection(after).findOne({ _id })).toEqual({
    _id,
    text: 'late',
    since: _id.getTimestamp(),
  })
  expect(await isView(db, before)).toBe(true)
})

/** Every command with which a migration may write. */
const failCommands = [
  ...['aggregate', 'insert', 'update', 'delete', 'findAndModify', 'create', 'collMod', 'drop'],
  ...['createIndexes', 'dropIndexes', 'renameCollection'],
]

test(
  'a migration comes out the same when it fails at any command, and is repeated',
  async () => {
    const expected = await expectedContents()
    const cases = Array.from({ length: 24 }, (_, n) => n)
    for (const skip of share(8, cases)) {
      await using database = await openTrial()
      const { client, db } = database
      {
        await using _failpoint = await failCommand(client, { failCommands, skip, errorCode: 1 })
        await migrated(db).catch((error: unknown) => {
          if (!(error instanceof MongoServerError && error.code === 1)) throw error
        })
      }
      // The lease of a process that could not release it runs out.
      const ended = { $set: { until: new Date(0) } }
      await db.collection('meta').updateOne({ _id: 'migration' as never }, ended)
      await migrated(db)
      expect(await contents(db), `failed at command ${skip}`).toEqual(expected)
    }
  },
  timeOfCases(120_000),
)

test('one process migrates at a time: another one says who works, and waits', async () => {
  const expected = await expectedContents()
  await using database = await openTrial()
  const both = await Promise.all([migrated(database.db), migrated(database.db)])
  const waited = both.filter(([line]) => line?.includes(`Process ${process.pid} on `))
  expect(waited).toHaveLength(1)
  expect(waited[0]).toHaveLength(1)
  expect(await contents(database.db)).toEqual(expected)
})

test('a migration waits for the lease of a process that was killed, and then goes on', async () => {
  await using database = await openTrial()
  const { db } = database
  const until = new Date(Date.now() + 1_500)
  const lease = { _id: 'migration' as never, holder: 'killed', process: '1 on elsewhere', until }
  await db.collection('meta').insertOne(lease)
  const running = migrated(db)
  await sleep(300)
  expect(await readSchema(db)).toMatchObject({ version: schemaVersion })
  const [line] = await running
  expect(line).toBe('Process 1 on elsewhere is migrating this database. Waiting until it ends.')
  expect(await readSchema(db)).toMatchObject({ version: newest })
})

/** A server, and its address. */
interface Server {
  readonly process: FeedlineProcess
  readonly url: string
}

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts on every field it reads
  readonly data: any
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[]
}

async function send(url: string, as: string, query: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
  const body = JSON.stringify({ query })
  return (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).json()
}

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions.code)

/** Sends a request that may be repeated, again while a busy machine makes the server give up. */
async function sendPatiently(url: string, as: string, query: string): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await send(url, as, query)
    if (tries === 10 || !codesOf(answer).includes('UNAVAILABLE')) return answer
    await sleep(200)
  }
}

/** The data of an answer without errors. */
async function ask(url: string, as: string, query: string) {
  const { data, errors } = await sendPatiently(url, as, query)
  if (errors) throw new Error(`${as}: ${query}: ${JSON.stringify(errors)}`)
  return data
}

const mute = (name: string) =>
  `mutation { muteUser(input: { user: { handle: "${name}" } }) { changed } }`
const publish = (text: string) =>
  `mutation { createPost(input: { text: "${text}", clientMutationId: "${text}" }) { post { id } } }`
/** The people that the reader mutes, of some. */
const mutedOf = async ({ url }: Server, people: readonly string[]): Promise<string[]> => {
  const fields = people.map((name) => `${name}: user(handle: "${name}") { viewerHasMuted }`)
  const data = await ask(url, 'reader', `{ ${fields.join(' ')} }`)
  return people.filter((name) => data[name].viewerHasMuted)
}
const pageSize = 100
/** The first texts of the reader's timeline, newest first. */
const textsOf = async ({ url }: Server): Promise<string[]> => {
  const page = `{ timeline(first: ${pageSize}) { edges { node { text } } } }`
  const { timeline } = await ask(url, 'reader', page)
  return timeline.edges.map(({ node }: { node: { text: string } }) => node.text)
}

/** Waits until a command says a text about its progress. @returns false if it ended without. */
async function says(command: FeedlineProcess, text: string): Promise<boolean> {
  let isOver = false
  const ended = command.ended.then(() => {
    isOver = true
  })
  while (!isOver && !command.err().includes(text)) await Promise.race([sleep(5), ended])
  return command.err().includes(text)
}

describe('a server of this release beside the next release', () => {
  beforeAll(compileNextRelease)

  test(
    'a server of the previous release reads on during a migration, and its writes are seen or refused',
    async () => {
      await using database = await openEmpty()
      const { client, db } = database
      const mongoUri = inject('mongoUri')
      const env = {
        ...{ NODE_ENV: 'test', PORT: '0' },
        ...{ MONGODB_URI: mongoUri, MONGODB_DATABASE: db.databaseName },
      }
      const start = async (folder?: string): Promise<Server> => {
        const server = feedline(['serve'], env, folder)
        return { process: server, url: (await server.says(/GraphQL: (http\S+)\/graphql/))[1] ?? '' }
      }
      // Commands of its processes meet the failpoint of the client of this name.
      const uri = `${mongoUri}${mongoUri.includes('?') ? '&' : '?'}appName=${db.databaseName}`
      const next = (...args: readonly string[]) =>
        feedline(args, { ...env, MONGODB_URI: uri }, nextRelease)
      /** Runs a command of the next release to its end. */
      const runNext = async (...args: readonly string[]) => {
        const command = next(...args)
        const code = await command.ended
        return { code, out: command.out(), err: command.err() }
      }
      const previous = await start()
      const people = Array.from({ length: 40 }, (_, n) => `person${n}`)
      for (const name of ['reader', 'author', ...people])
        await ask(
          previous.url,
          name,
          `mutation { createUser(input: { name: "${name}", clientMutationId: "${name}" }) { user { id } } }`,
        )
      await ask(
        previous.url,
        'reader',
        'mutation { followUser(input: { user: { handle: "author" } }) { changed } }',
      )
      await db.collection('posts').createIndex({ trial: 1 }, { name: retiredIndex })

      const published: string[] = []
      const outcomes = new Map<string, 'muted' | 'refused' | 'unknown'>()
      let wanted = 0
      let goesOn = true
      const traffic = async () => {
        for (let n = 0; goesOn; n++) {
          const text = `post ${n}`
          await ask(previous.url, 'author', publish(text))
          published.unshift(text)
          expect(await textsOf(previous)).toEqual(published.slice(0, pageSize))
          const name = people[outcomes.size]
          if (outcomes.size === wanted || !name) continue
          const codes = codesOf(await sendPatiently(previous.url, 'reader', mute(name)))
          const isRefused = codes.includes('INTERNAL_SERVER_ERROR')
          outcomes.set(name, codes.length === 0 ? 'muted' : isRefused ? 'refused' : 'unknown')
        }
      }
      const running = traffic()
      running.catch(() => {})
      /** Waits until the previous release has tried some more mutes. */
      const tryMutes = async (count: number) => {
        wanted = outcomes.size + count
        while (outcomes.size < wanted) await Promise.race([sleep(10), running])
      }
      const namesOf = (outcome: string) => people.filter((name) => outcomes.get(name) === outcome)
      await tryMutes(5)

      const early = await runNext('serve')
      expect(early).toMatchObject({ code: 1 })
      expect(early.err).toContain(
        `has schema version ${schemaVersion}, and this release needs version ${newest}. Run "feedline migrate".`,
      )
      const plan = await runNext('migrate', '--dry-run')
      const changes = plan.out
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
      expect(changes).toContain(
        `Rename ${formerName} to ${nextName}, and refuse writes to ${formerName}.`,
      )
      const lease = { _id: 'migration' as never }
      let kills = 0
      const expire = () => db.collection('meta').updateOne(lease, { $set: { until: new Date(0) } })
      for (const [step, command] of [
        ['Drop the index', 'dropIndexes'],
        ['Rename', 'renameCollection'],
        ['Store since', 'collMod'],
      ] as const) {
        // The command of the killed process arrives late, as it may.
        await using _ = await failCommand(client, { failCommands: [command], blockMs: 5_000 })
        const killed = next('migrate')
        // On a busy machine, the kill before may have come too late.
        if (!(await says(killed, step))) break
        killed.child.kill('SIGKILL')
        if ((await killed.ended) === null) kills++
        await expire()
        await tryMutes(2)
      }
      const both = await Promise.all([runNext('migrate'), runNext('migrate'), tryMutes(4)])
      expect(both.map((ended) => ended?.code)).toEqual([0, 0, undefined])
      expect(await readSchema(db)).toMatchObject({ version: newest })
      expect(await isView(db, formerName)).toBe(true)

      const current = await start(nextRelease)
      await tryMutes(4)
      goesOn = false
      await running
      const [muted, refused] = [namesOf('muted'), namesOf('refused')]
      noteFact(
        `mixed releases: ${published.length} posts and ${muted.length} mutes beside a migration that was killed ${kills} times, ${refused.length} mutes refused`,
      )
      expect(muted.slice(0, 5)).toEqual(people.slice(0, 5))
      expect(refused.length).toBeGreaterThan(3)
      for (const server of [previous, current]) {
        expect(await mutedOf(server, [...muted, ...refused])).toEqual(muted)
        expect(await textsOf(server)).toEqual(published.slice(0, pageSize))
      }
      // The previous release sees what the next one writes.
      await ask(current.url, 'reader', mute('author'))
      for (const server of [previous, current]) expect(await textsOf(server)).toEqual([])

      const again = feedline(['serve'], env)
      expect(await again.ended).toBe(1)
      expect(again.err()).toContain(`supports only version ${schemaVersion}. Use a newer release`)
      const verified = await runNext('verify')
      expect(verified.code, verified.out + verified.err).toBe(0)
      for (const { process } of [previous, current]) {
        process.child.kill('SIGTERM')
        expect(await process.ended, process.err()).toBe(0)
      }
    },
    patient(150_000),
  )

  test('an embedded database is migrated when the next release starts', async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'feedline-releases-'))
    const mongod = await openMongod({ dataFolder, binFolder, log: () => {} })
    try {
      const client = await connect(mongod.uri, 'bulk')
      const db = client.db('feedline')
      await openSchema(db, 'collection')
      const server = feedline(['serve'], { PORT: '0', FEEDLINE_DATA: dataFolder }, nextRelease)
      await server.says(/Migrating from schema version/)
      await server.says(/GraphQL: http/)
      expect(await readSchema(db)).toMatchObject({ version: newest })
      server.child.kill('SIGTERM')
      expect(await server.ended, server.err()).toBe(0)
      await client.close()
    } finally {
      await mongod.stop()
      await rm(dataFolder, { recursive: true, force: true })
    }
  })
})
