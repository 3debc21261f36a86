import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importGraph } from '../../packages/import/import-graph.ts'
import type { Handle } from '../../src/lib/ids.ts'
import { readAccountNames } from '../support/account-names.ts'
import { useApp } from '../support/app.ts'
import { subjectOf } from '../support/services.ts'

const app = useApp()
let folder = ''
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-imported-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Imports the edges of a text. @returns what was written. */
async function load(edges: string) {
  const file = join(folder, `${files++}.txt`)
  await writeFile(file, edges)
  return (await importGraph(app.services, { file, mutual: false })).written
}

/** Creates the account of a subject. @returns its id. */
async function register(subject: string, handle: string) {
  const profile = { name: subject, handle: handle as Handle }
  const user = await app.services.users.register(subjectOf(subject), profile)
  if (!user) throw new Error(`${subject} has no account`)
  return user.id
}

const rename = (account: Awaited<ReturnType<typeof register>>, handle: string) =>
  app.services.users.update(account, { handle: handle as Handle })
const followersOf = async (user: string) => {
  const edges = await app.database.collections.followers.find({ user }).toArray()
  const { handleOf } = await readAccountNames(app.database.collections)
  return edges.map(({ follower }) => handleOf(follower)).sort()
}
const viewerOf = async (subject: string) => {
  const query = '{ viewer { handle user { handle following { totalCount } } } }'
  return (await app.send({ as: subject, query })).data.viewer
}

test('an edge of a file belongs to the account that has the handle now', async () => {
  const ann = await register('auth0|ann', 'ann')
  await rename(ann, 'anna')
  expect(await load('ben anna\n')).toMatchObject({ users: 1, edges: 1, unknown: 0 })
  expect(await followersOf(ann)).toEqual(['ben'])
  const { handles } = app.database.collections
  await handles.updateOne({ _id: 'ann' }, { $set: { until: new Date(0) } })
  const other = await register('auth0|other', 'ann')
  expect(await load('cem ann\n')).toMatchObject({ users: 1, edges: 1, unknown: 0 })
  expect(await followersOf(other)).toEqual(['cem'])
  expect(await followersOf(ann)).toEqual(['ben'])
})

test('a handle that its former owner keeps opens no account, and its edges are skipped', async () => {
  const dan = await register('auth0|dan', 'dan')
  await rename(dan, 'daniel')
  const file = 'dan eli\nfay dan\nfay gus\n'
  expect(await load(file)).toMatchObject({ users: 2, edges: 1, unknown: 0 })
  expect(await load(`${file}# again\n`)).toMatchObject({ users: 0, edges: 0, unknown: 0 })
  const { handles } = app.database.collections
  expect(await handles.findOne({ _id: 'dan' })).toMatchObject({ account: dan })
  expect(await handles.findOne({ _id: 'eli' })).toBeNull()
  expect(await followersOf(dan)).toEqual([])
})

test('a handle whose account is lost opens no account', async () => {
  const { users, user_stats, handles } = app.database.collections
  const hal = await register('auth0|hal', 'hal')
  for (const collection of [users, user_stats]) await collection.deleteOne({ _id: hal })
  expect(await load('hal ian\njo hal\n')).toMatchObject({ users: 0, edges: 0, unknown: 0 })
  expect(await handles.findOne({ _id: 'hal' })).toEqual({ _id: 'hal', account: hal })
})

test('an imported account signs in with the subject that is its handle', async () => {
  expect(await viewerOf('kim')).toEqual({ handle: null, user: null })
  expect(await load('kim lea\n')).toMatchObject({ users: 2, edges: 1, unknown: 0 })
  const user = { handle: 'kim', following: { totalCount: 1 } }
  expect(await viewerOf('kim')).toEqual({ handle: 'kim', user })
})

test('a handle that is the subject of an account with another handle opens no account', async () => {
  const mia = await register('mia', 'mia.original')
  expect(await load('mia ned\nned oda\n')).toMatchObject({ users: 2, edges: 1, unknown: 1 })
  expect((await viewerOf('mia')).handle).toBe('mia.original')
  expect(await app.database.collections.handles.findOne({ _id: 'mia' })).toBeNull()
  expect(await followersOf(mia)).toEqual([])
  expect((await viewerOf('ned')).handle).toBe('ned')
})
