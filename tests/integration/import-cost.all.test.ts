import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importGraph } from '../../packages/import/import-graph.ts'
import type { ImportServices } from '../../packages/import/importer.ts'
import { readAccountNames } from '../support/account-names.ts'
import { useImports } from '../support/imports.ts'
import { recorded } from '../support/mongo.ts'
import { handle, namesOf } from '../support/services.ts'

const imports = useImports('collection')
const { database, services, expectExact } = imports

/** Imports a list of edges. @returns the commands that were sent, by name and collection. */
async function commandsOf(name: string, edges: string): Promise<Record<string, number>> {
  const file = join(imports.folder, name)
  await writeFile(file, edges)
  const { commands } = await recorded(database.client, () =>
    importGraph(services(), { file, mutual: false }),
  )
  const sent: Record<string, number> = {}
  for (const { name, collection } of commands) {
    const command = `${name} ${collection ?? ''}`.trim()
    sent[command] = (sent[command] ?? 0) + 1
  }
  return sent
}

/** Each of 30 people follows `count` of 200 others. */
const list = (count: number) =>
  Array.from({ length: 30 * count }, (_, n) => `hub${n % 30} u${Math.floor(n / 30)}\n`).join('')

/** The commands of any import of new edges. */
const common = {
  'findAndModify imports': 1,
  'find handles': 1,
  'find restrictions': 1,
  'insert followers': 1,
  'insert following': 1,
  'insert follow_events': 1,
  'update meta': 1,
  'find strategies': 1,
  'update imports': 3,
  commitTransaction: 3,
}

test('6,000 new edges of new accounts take twelve commands of data in one transaction', async () => {
  expect(await commandsOf('new.txt', list(200))).toEqual({
    ...common,
    'find subjects': 1,
    'insert handles': 1,
    'insert subjects': 1,
    'insert users': 1,
    'insert user_stats': 1,
  })
  expect(await expectExact()).toBe(6_000)
})

test('6,000 new edges of known accounts take ten commands of data in one transaction', async () => {
  const people = Array.from({ length: 30 }, (_, n) => `hub${n}`)
  await commandsOf(
    'accounts.txt',
    [...people, ...(list(200).match(/u\d+/g) ?? [])].map((name) => `seed ${name}\n`).join(''),
  )
  expect(await commandsOf('known.txt', list(200))).toEqual({
    ...common,
    'find users': 1,
    'find follow_events': 1,
    'update user_stats': 1,
  })
  expect(await expectExact()).toBe(6_230)
})

test('a batch with a stored edge is tried again, and the import looks for stored edges from then on', async () => {
  const { users, follows } = services()
  for (const id of ['hub0', 'u0'])
    await users.create(handle(id), { ...namesOf(handle(id)), name: id })
  await commandsOf('first.txt', 'hub0 u0\n')
  await follows.unfollow(handle('hub0'), handle('u0'))
  await follows.follow(handle('hub0'), handle('u0'))
  const sent = await commandsOf('again.txt', list(200))
  // In the second try, no event is later than the import.
  expect(sent).toMatchObject({ 'insert followers': 2, 'find followers': 1, abortTransaction: 1 })
  expect(await expectExact()).toBe(6_000)
})

test('an imported edge is the last event of its pair, also if the import began before an unfollow', async () => {
  const { users, follows } = services()
  const [one, other] = [handle('u0'), handle('u1')]
  for (const id of [one, other]) await users.create(id, { ...namesOf(id), name: id })
  await follows.follow(one, other)
  await follows.unfollow(one, other)
  const { commands } = await recorded(database.client, () =>
    imports.graph({ now: () => Date.UTC(2026, 0, 2) }),
  )
  // Some event is later, then that of a pair, and then the id above it.
  const reads = commands.filter(
    ({ name, collection }) => name === 'find' && collection === 'follow_events',
  )
  expect(reads).toHaveLength(3)
  const events = await database.collections.follow_events
    .find({ user: one, followee: other })
    .sort({ _id: 1 })
    .toArray()
  expect(events.map(({ type, source }) => [type, source])).toEqual([
    ['FOLLOWED', 'FEEDLINE'],
    ['UNFOLLOWED', 'FEEDLINE'],
    ['FOLLOWED', 'IMPORT'],
  ])
  const edge = await database.collections.followers.findOne({ user: other, follower: one })
  expect(edge?.source).toBe('IMPORT')
  expect(events.at(-1)?.at).toEqual(new Date(Date.UTC(2026, 0, 2)))
})

test('an import skips accounts that are deleted between two of its batches', async () => {
  await writeFile(imports.file, 'a b\nc d\nc e\nd e\na c\nb d\n')
  const parts = services()
  let batches = 0
  const upkeep: ImportServices['upkeep'] = {
    async leaveJobs() {
      if (++batches !== 2) return
      const { idOf } = await readAccountNames(parts.collections)
      await parts.users.delete(idOf('a'))
    },
  }
  const options = { file: imports.file, mutual: false, batchSize: 2 }
  const { written } = await importGraph({ ...parts, upkeep }, options)
  expect(written).toMatchObject({ users: 5, edges: 5, unknown: 0 })
  const { user_stats } = database.collections
  const { idOf } = await readAccountNames(database.collections)
  expect(await user_stats.findOne({ _id: idOf('d') })).toMatchObject({ followers: 2, following: 1 })
  expect(await user_stats.findOne({ _id: idOf('c') })).toMatchObject({ followers: 0, following: 2 })
})
