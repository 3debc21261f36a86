import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { openMongod } from '../../packages/mongod/open.ts'
import { connect } from '../../src/db/client.ts'
import { schemaVersion } from '../../src/db/schema-version.ts'
import { openDatabase } from '../../src/open-database.ts'
import { binFolder } from '../support/bin-folder.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'

const database = useDatabase()
const records = () => database.db.collection<{ _id: string }>('meta')

async function run(...args: string[]) {
  const { code, stdout, stderr } = await runCommand(args, {
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.name,
    PORT: '0',
  })
  return { code, out: stdout, err: stderr }
}

const commands = ['serve', 'worker', 'verify', 'reconcile', 'jobs', 'timelines', 'indexes --apply']

const untilStopped =
  'Run "feedline migrate --previous-stopped" when no process of the previous release runs any more. ' +
  'Until then: posts, accounts and relations in memory, PAGE_CACHE_MB: none; ' +
  'the job of a post while no strategy stores timelines: one, which delivers nothing; ' +
  'retention: everything is kept; facts of a page: six commands; ' +
  'writes of the previous release: refused by MongoDB if this release would not see them.\n'

describe('a database of an older schema version', () => {
  beforeEach(async () => {
    await records().deleteMany({})
    await records().insertOne({ _id: 'schema', version: 2, following: 'collection' } as never)
  })

  test.each(share(3, commands))(
    'is refused by %s, with the command that migrates it',
    async (command) => {
      expect(await run(...command.split(' '))).toEqual({
        code: 1,
        out: '',
        err:
          `feedline: The database "${database.name}" has schema version 2, and this release needs ` +
          `version ${schemaVersion}. Run "feedline migrate".\n`,
      })
      expect(await records().countDocuments()).toBe(1)
    },
  )

  test('is accepted after "feedline migrate", which needs no FOLLOWING', async () => {
    const plan = await run('migrate', '--dry-run')
    expect(plan).toMatchObject({ code: 0, err: '' })
    expect(plan.out).toMatch(/^Nothing was changed\. A migration from schema version 2 to 5 /)
    expect(await records().countDocuments()).toBe(1)
    const migration = await run('migrate')
    expect(migration).toMatchObject({
      code: 0,
      out: `The database now has schema version 5.\n${untilStopped}`,
    })
    expect(await run('jobs')).toMatchObject({ code: 0, err: '' })
    const nothing = 'The database has schema version 5. There is nothing to migrate.\n'
    expect((await run('migrate')).out).toBe(nothing + untilStopped)
    expect(await records().findOne({ _id: 'log' })).toBeNull()
    expect((await run('migrate', '--previous-stopped')).out).toBe(nothing)
    expect(await records().findOne({ _id: 'log' })).not.toBeNull()
    expect(await run('migrate')).toEqual({ code: 0, out: nothing, err: '' })
  })
})

test.each(share(3, [...commands, 'migrate'], 2))(
  'a database of a build that was never published is refused by %s',
  async (command) => {
    await records().deleteMany({})
    // All that version 1 recorded.
    await records().insertOne({ _id: 'following', value: 'collection' } as never)
    expect(await run(...command.split(' '))).toEqual({
      code: 1,
      out: '',
      err:
        `feedline: The database "${database.name}" has schema version 1, of a build that was never ` +
        'published, and no release migrates it. Use another database.\n',
    })
    expect(await records().countDocuments()).toBe(1)
  },
)

test.each(share(3, [...commands, 'migrate'], 1))(
  'a newer schema version is refused by %s',
  async (command) => {
    await records().deleteMany({})
    const newer = { _id: 'schema', version: schemaVersion + 1, following: 'collection' }
    await records().insertOne(newer)
    expect(await run(...command.split(' '))).toEqual({
      code: 1,
      out: '',
      err:
        `feedline: The database "${database.name}" has schema version ${schemaVersion + 1}, and this ` +
        `release supports only version ${schemaVersion}. Use a newer release of Feedline.\n`,
    })
  },
)

test('a new database gets the schema version of the release that uses it first', async () => {
  await records().deleteMany({})
  expect((await run('migrate')).out).toBe(
    `The database is new. "feedline serve" creates it with schema version ${schemaVersion}.\n`,
  )
  expect(await records().countDocuments()).toBe(0)
  expect((await run('indexes', '--apply')).code).toBe(0)
  const recorded = { version: schemaVersion, following: 'collection' }
  expect(await records().findOne({ _id: 'schema' })).toMatchObject(recorded)
  expect(await records().findOne({ _id: 'log' })).not.toBeNull()
})

test('an embedded database is migrated when it is opened', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'feedline-schema-'))
  const mongod = await openMongod({ dataFolder, binFolder, log: () => {} })
  try {
    const client = await connect(mongod.uri, 'bulk')
    const meta = client.db('feedline').collection<{ _id: string }>('meta')
    await meta.insertOne({ _id: 'schema', version: 2, following: 'reverse-index' } as never)
    const said: string[] = []
    const opened = await openDatabase(
      {
        database: { uri: undefined, mayEmbed: true, name: 'feedline', dataFolder },
        following: 'reverse-index',
      },
      { profile: 'serving', prepare: true, log: (line) => said.push(line) },
    )
    expect(said).toContainEqual(expect.stringMatching(/^Migrating from schema version 2 to 3: /))
    expect(await meta.findOne({ _id: 'schema' })).toMatchObject({ version: schemaVersion })
    await opened[Symbol.asyncDispose]()
    await client.close()
  } finally {
    await mongod.stop()
    await rm(dataFolder, { recursive: true, force: true })
  }
})
