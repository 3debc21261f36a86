import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Db, MongoClient } from 'mongodb'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { loadIndexStates } from '../../src/db/indexes.ts'
import { readConfig } from '../../src/environment.ts'
import { openDatabase } from '../../src/open-database.ts'
import { compiled, root } from '../support/process.ts'
import { share } from '../support/repetition.ts'

const uri = inject('mongoUri')
const edges = 24_000
let [client, folder]: [MongoClient, string] = [undefined as never, '']
let db: Db

beforeAll(async () => {
  client = await connect(uri, 'bulk')
  folder = await mkdtemp(join(tmpdir(), 'feedline-import-indexes-'))
  const lines = Array.from({ length: edges }, (_, n) => `a${n % 300} b${Math.floor(n / 300)}`)
  await writeFile(join(folder, 'graph.txt'), lines.join('\n'))
})
beforeEach(async () => {
  await db?.dropDatabase()
  db = client.db(`test_${randomBytes(6).toString('hex')}`)
})
afterAll(async () => {
  await db.dropDatabase()
  await client.close()
  await rm(folder, { recursive: true, force: true })
})

const env = () => ({ MONGODB_URI: uri, MONGODB_DATABASE: db.databaseName })

/** Begins an import, and waits until some of its edges are written. */
async function beginLoad(stderr?: 'pipe'): Promise<ChildProcess> {
  const child = load(stderr)
  const imports = db.collection<{ position: number }>('imports')
  const begun = async () => ((await imports.findOne({}))?.position ?? 0) > 0
  await expect.poll(begun, { interval: 10 }).toBe(true)
  return child
}

const load = (stderr: 'pipe' | 'ignore' = 'ignore') =>
  spawn(process.execPath, [`${compiled}/main.js`, 'load', join(folder, 'graph.txt')], {
    cwd: root,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...env() },
    stdio: ['ignore', 'ignore', stderr],
  })

const missing = async () =>
  (await loadIndexStates(db, 'collection'))
    .filter(({ present }) => !present)
    .map(({ collection, name }) => `${collection} ${name}`)

const leftOut = [
  'followers user_1__id_-1_follower_1_source_1',
  'following user_1_followee_1',
  'following user_1__id_-1_followee_1_source_1',
  'following group_by_recency',
  'following group_membership',
  'follow_events followee_1',
]

async function openAsServer(): Promise<void> {
  await using _ = await openDatabase(readConfig(env()), {
    ...{ profile: 'bulk', prepare: true, log: () => {} },
  })
}

const cases: Readonly<Record<string, () => Promise<void>>> = {
  'a signal ends an import without the indexes that it does not read, and names them; its repeat builds them':
    async () => {
      const child = await beginLoad('pipe')
      const printed = text(child.stderr as Readable)
      expect(await missing()).toEqual(leftOut)
      child.kill('SIGINT')
      expect(await once(child, 'exit')).toEqual([130, null])
      expect(await missing()).toEqual(leftOut)
      expect(await printed).toContain(
        `An import has not built these indexes yet: ${leftOut.join(', ')}. ` +
          'Repeat the import, or run "feedline indexes --apply".\n',
      )
      const again = load('pipe')
      const building = text(again.stderr as Readable)
      expect(await once(again, 'exit')).toEqual([0, null])
      expect(await building).toContain(`Building indexes: ${leftOut.join(', ')}\n`)
      expect(await missing()).toEqual([])
    },
  'a server that starts after a killed import builds the indexes, and the import goes on':
    async () => {
      const child = await beginLoad()
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(await missing()).toEqual(leftOut)
      await openAsServer()
      expect(await missing()).toEqual([])
      expect(await once(load(), 'exit')).toEqual([0, null])
      expect(await db.collection('following').countDocuments()).toBe(edges)
    },
  'a server that starts during an import builds the indexes, and both go on': async () => {
    const child = await beginLoad()
    await openAsServer()
    expect(await missing()).toEqual([])
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await missing()).toEqual([])
    expect(await db.collection('following').countDocuments()).toBe(edges)
  },
}

test.each(share(3, Object.entries(cases)))('%s', async (_, run) => run(), 60_000)
