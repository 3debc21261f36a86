import { beforeEach, describe, expect, test } from 'vitest'
import { schemaVersion } from '../../src/db/schema-version.ts'
import { release } from '../../src/lib/release.ts'
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

/** What builds before 0.1.0 recorded: at first no version, and later versions of their own. */
const formerRecords = [
  { _id: 'following', value: 'collection' },
  ...[2, schemaVersion, 5].map((version) => ({ _id: 'schema', version, following: 'collection' })),
]

describe.each(share(2, formerRecords))('a database of a build before 0.1.0, with %o', (record) => {
  beforeEach(async () => {
    await records().deleteMany({})
    await records().insertOne({ ...record })
  })

  test.each(share(3, [...commands, 'migrate', 'migrate --dry-run']))(
    'is refused by %s, which changes nothing',
    async (command) => {
      expect(await run(...command.split(' '))).toEqual({
        code: 1,
        out: '',
        err:
          `feedline: The database "${database.name}" was made by a build before 0.1.0, the first ` +
          'release, and no release migrates it. Use another database.\n',
      })
      expect(await records().find().toArray()).toEqual([record])
    },
  )
})

test.each(share(3, [...commands, 'migrate'], 1))(
  'a newer schema version is refused by %s',
  async (command) => {
    await records().deleteMany({})
    const newer = { _id: 'schema', version: schemaVersion + 1, following: 'collection', release }
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
  const recorded = { version: schemaVersion, following: 'collection', release }
  expect(await records().findOne({ _id: 'schema' })).toMatchObject(recorded)
  const nothing = `The database has schema version ${schemaVersion}. There is nothing to migrate.\n`
  for (const args of [['migrate'], ['migrate', '--dry-run']])
    expect(await run(...args)).toEqual({ code: 0, out: nothing, err: '' })
})

test('"feedline --version" prints the release', async () => {
  expect(await run('--version')).toEqual({ code: 0, out: `${release}\n`, err: '' })
})
