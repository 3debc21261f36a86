import { expect, test } from 'vitest'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { subjectOf } from '../support/services.ts'

const app = useApp()
const of = (text: string) => text as Handle

async function ask(as: string | undefined, query: string) {
  const { data, errors } = await app.send({ as, query })
  expect(errors).toEqual([])
  return data
}

/** Opens an account and renames it, and returns its id. */
async function open(sub: string, ...handles: readonly string[]): Promise<UserId> {
  await ask(sub, 'mutation { createUser(input: { name: "N" }) { user { id } } }')
  for (const handle of handles) await rename(sub, handle)
  return (await app.services.subjects.find(subjectOf(sub))) as UserId
}
const rename = (sub: string, handle: string) =>
  ask(sub, `mutation { updateUser(input: { handle: "${handle}" }) { user { handle } } }`)

const handleOf = async (sub: string) => (await ask(sub, '{ viewer { handle } }')).viewer.handle
const leadsTo = async (handle: string) =>
  (await ask(undefined, `{ user(handle: "${handle}") { handle } }`)).user?.handle
const isFree = async (as: string | undefined, handle: string) =>
  (await ask(as, `{ isHandleAvailable(handle: "${handle}") }`)).isHandleAvailable

/** All that is stored about handles. */
const stored = async () => {
  const { handles, users } = app.services.collections
  const accounts = await users.find().project({ handle: 1, formerHandles: 1 }).toArray()
  return JSON.stringify([await handles.find().sort({ _id: 1 }).toArray(), accounts])
}

/** Whether the accounts and the handles say the same. */
async function expectAgreement() {
  const { handles, users } = app.services.collections
  const docs = await handles.find().toArray()
  const byAccounts = (await users.find().toArray()).flatMap(
    ({ _id, handle, formerHandles = [] }) => [
      { _id: handle, account: _id },
      ...formerHandles.map((former) => ({ _id: former.handle, account: _id, until: former.until })),
    ],
  )
  const sorted = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).sort()
  expect(sorted(docs)).toEqual(sorted(byAccounts))
}

test('an operator frees a former handle, so that others can take it and its account can rename again', async () => {
  const { handleDesk } = app.services
  const account = await open('amy', 'amy2', 'amy3', 'amy4', 'amy5', 'amy6')
  expect(await isFree('amy', 'amy7')).toBe(false)
  const { holder } = await handleDesk.show(of('amy3'))
  expect(holder).toEqual({ account, handle: 'amy6', until: expect.any(Date), isDeleted: false })
  const before = await stored()
  expect(await handleDesk.free(of('amy3'), true)).toMatchObject({
    ...{ changed: true, before: { holder }, after: { holder: null } },
  })
  expect(await stored()).toBe(before)
  expect(await handleDesk.free(of('amy3'), false)).toMatchObject({ changed: true })
  await expectAgreement()
  expect([await leadsTo('amy3'), await leadsTo('amy2')]).toEqual([undefined, 'amy6'])
  expect(await isFree('amy', 'amy7')).toBe(true)
  await rename('amy', 'amy7')
  await open('someone-else', 'amy3')
  expect(await leadsTo('amy3')).toBe('amy3')
  expect(await handleDesk.free(of('never-used'), false)).toMatchObject({ changed: false })
  await expectAgreement()
})

test('an operator does not free the present handle of an account, nor one of a deleted account', async () => {
  const { handleDesk, users } = app.services
  const [bea, bob] = [await open('bea', 'bea2'), await open('bob')]
  await users.delete(bea)
  const before = await stored()
  for (const handle of ['bea', 'bea2', 'bob']) {
    const refusal = { code: 'CONFLICT', message: expect.stringContaining(`"${handle}"`) }
    await expect(handleDesk.free(of(handle), false)).rejects.toMatchObject(refusal)
  }
  const move = handleDesk.move(of('bea'), bob, { dryRun: false })
  await expect(move).rejects.toMatchObject({ code: 'CONFLICT' })
  for (const to of [bea, 'Nobody12345' as UserId]) {
    const missing = handleDesk.move(of('unused'), to, { dryRun: false })
    await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' })
  }
  expect(await stored()).toBe(before)
  await app.rest()
})

test('an operator moves a handle that is free, kept or reserved, and the next page shows it', async () => {
  const { handleDesk } = app.services
  const [cid, dot] = [await open('cid', 'cid2'), await open('dot')]
  await open('reader')
  await ask('reader', 'mutation { followUser(input: { user: { handle: "dot" } }) { changed } }')
  await ask('dot', 'mutation { createPost(input: { text: "hi" }) { post { id } } }')
  const page = '{ timeline(first: 5) { edges { node { author { handle } } } } }'
  const author = async () => (await ask('reader', page)).timeline.edges[0].node.author.handle
  // Often enough to be kept.
  for (let times = 0; times < 4; times++) expect(await author()).toBe('dot')
  const how = { dryRun: false }
  // Kept by another account.
  const moved = await handleDesk.move(of('cid'), dot, how)
  expect(moved).toMatchObject({
    ...{ changed: true, before: { holder: { account: cid } }, after: { holder: { account: dot } } },
    renamed: [{ account: dot, from: 'dot', to: 'cid', keptUntil: expect.any(Date) }],
  })
  expect([await author(), await leadsTo('dot'), await leadsTo('cid')]).toEqual([
    'cid',
    'cid',
    'cid',
  ])
  expect(await handleDesk.move(of('cid'), dot, how)).toMatchObject({ changed: false, renamed: [] })
  // Its own former one, a free one, and reserved ones.
  for (const handle of ['dot', 'dora', 'support', 'help']) {
    await handleDesk.move(of(handle), dot, how)
    expect([await author(), await handleOf('dot')]).toEqual([handle, handle])
    await expectAgreement()
  }
  const tooMany = async () => {
    for (const handle of ['one-more', 'two-more']) await handleDesk.move(of(handle), dot, how)
  }
  await expect(tooMany()).rejects.toMatchObject({ code: 'CONFLICT' })
  await expectAgreement()
})

test('an operator moves the present handle of an account only with another one for it', async () => {
  const { handleDesk } = app.services
  const [eli, fox] = [await open('eli'), await open('fox')]
  const before = await stored()
  const refused = [
    { dryRun: false },
    ...['eli', 'fox', 'reader'].map((renameTo) => ({ dryRun: false, renameTo: of(renameTo) })),
  ]
  for (const how of refused)
    await expect(handleDesk.move(of('eli'), fox, how)).rejects.toMatchObject({ code: 'CONFLICT' })
  const renameTo = of('eli-before')
  await expect(
    handleDesk.move(of('quite-free'), fox, { dryRun: false, renameTo }),
  ).rejects.toMatchObject({ code: 'CONFLICT' })
  await handleDesk.move(of('eli'), fox, { dryRun: true, renameTo })
  expect(await stored()).toBe(before)
  const { renamed } = await handleDesk.move(of('eli'), fox, { dryRun: false, renameTo })
  expect(renamed).toEqual([
    { account: fox, from: 'fox', to: 'eli', keptUntil: expect.any(Date) },
    { account: eli, from: 'eli', to: 'eli-before', keptUntil: null },
  ])
  expect([await handleOf('eli'), await handleOf('fox')]).toEqual(['eli-before', 'eli'])
  await expectAgreement()
})

test('of concurrent moves, renames and registrations of a handle, one wins', async () => {
  const { handleDesk, users } = app.services
  const accounts = await Promise.all(['gia', 'hal', 'ivy', 'jon'].map((sub) => open(sub)))
  const outcomes = await Promise.allSettled([
    ...accounts.slice(0, 2).map((to) => handleDesk.move(of('wanted'), to, { dryRun: false })),
    ...accounts.slice(2).map((account) => users.update(account, { handle: of('wanted') })),
    users.register(subjectOf('kim'), { name: 'K', handle: of('wanted') }),
  ])
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await expectAgreement()
})

test('an operator gives no handle of an account away whose documents are damaged', async () => {
  const { handleDesk, collections } = app.services
  const { handles, users } = collections
  const owner = await open('nora', 'nora2')
  const other = await open('nick')
  const move = (handle: string) => handleDesk.move(of(handle), other, { dryRun: false })
  const damaged = { code: 'CONFLICT', message: expect.stringContaining('feedline verify') }
  const doc = await users.findOne({ _id: owner })
  const all = () => handles.find().sort({ _id: 1 }).toArray()
  const before = await all()
  await users.deleteOne({ _id: owner })
  for (const handle of ['nora', 'nora2'])
    for (const change of [() => move(handle), () => handleDesk.free(of(handle), false)])
      await expect(change()).rejects.toMatchObject(damaged)
  if (doc) await users.insertOne(doc)
  expect(await all()).toEqual(before)
  for (const account of [7, null, [other]]) {
    await handles.updateOne({ _id: 'nora2' }, { $set: { account: account as never } })
    await expect(move('nora2')).rejects.toMatchObject(damaged)
  }
})
