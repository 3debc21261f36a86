import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { runCommand } from '../support/command-line.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
const [ann, ben] = [handle('ann'), handle('ben')]
const membership = 'user_1_followee_1'
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-import-indexes-cli-'))
  await writeFile(join(folder, 'graph.txt'), 'cat dan')
  const { services } = harness
  await openAccounts(services, [ann, ben])
  await services.follows.follow(ann, ben)
  await registerStrategies(services, ['INBOX'])
  await harness.rest()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (...args: string[]) =>
  runCommand(args, {
    MONGODB_URI: harness.database.uri,
    MONGODB_DATABASE: harness.database.name,
  })

test('verify names the indexes that a killed import has left out, and the command that builds them', async () => {
  await harness.database.db.collection('following').dropIndex(membership)
  expect(await run('verify')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `feedline: An import has not built these indexes yet: following ${membership}. ` +
      'Repeat the import, or run "feedline indexes --apply".\n',
  })
  expect((await run('indexes')).stdout).toContain('1 missing')
  expect((await run('indexes', '--apply')).code).toBe(0)
  expect(await run('verify')).toMatchObject({ code: 0, stderr: '' })
})

test('an import that cannot build its indexes says why and fails, after it has queued the rebuild', async () => {
  const { registrations, collections } = harness.services
  const { following, outbox } = collections
  await registrations.runExclusive((tx) => registrations.invalidateChanged(tx, [ann], 60_000))
  await harness.database.db.collection('following').dropIndex(membership)
  const edge = await following.findOne({ user: ann }, { projection: { _id: 0 } })
  const { insertedId } = await following.insertOne(edge as never)
  const failed = await run('load', join(folder, 'graph.txt'), '--json')
  expect(failed.code).toBe(1)
  expect(failed.stderr).toMatch(
    /^Building indexes: following user_1_followee_1\nIndexes could not be built \(.*E11000 .*\)\. Remove the cause and run "feedline indexes --apply"\.\nServers and workers fill the timelines of about \d+ readers\. .*\n$/,
  )
  expect(JSON.parse(failed.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ edges: 1 })
  const [job] = await outbox.find({ kind: 'strategy.backfill' }).toArray()
  expect(job?.runAt.getTime()).toBeLessThanOrEqual(harness.clock.now())
  await following.deleteOne({ _id: insertedId })
  const building = `Building indexes: following ${membership}\n`
  const repeated = await run('load', join(folder, 'graph.txt'))
  expect(repeated).toMatchObject({ code: 0, stderr: expect.stringContaining(building) })
  await harness.rest()
  // No timeline is left to fill.
  expect(await run('load', join(folder, 'graph.txt'))).toMatchObject({ code: 0, stderr: '' })
})

test('an import that fails builds no index, names those that are missing, and queues the rebuild', async () => {
  const { registrations, collections } = harness.services
  const { db } = harness.database
  await registrations.runExclusive((tx) => registrations.invalidateChanged(tx, [ann], 60_000))
  await db.collection('following').dropIndex(membership)
  const lines = Array.from({ length: 20_000 }, (_, n) => `eve${n} fay${(n * 7_919) % 10_007}`)
  const whole = gzipSync(lines.join('\n'))
  await writeFile(join(folder, 'cut.gz'), whole.subarray(0, whole.length - 100))
  const failed = await run('load', join(folder, 'cut.gz'))
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain(
    `An import has not built these indexes yet: following ${membership}. ` +
      'Repeat the import, or run "feedline indexes --apply".\nfeedline: ',
  )
  expect(await db.collection('following').indexExists(membership)).toBe(false)
  const [job] = await collections.outbox.find({ kind: 'strategy.backfill' }).toArray()
  expect(job?.runAt.getTime()).toBeLessThanOrEqual(harness.clock.now())
})
