import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { importRelations } from '../../packages/import/import-relations.ts'
import { readConfig } from '../../src/environment.ts'
import { reconcile } from '../../src/integrity/run.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { createServices } from '../../src/services.ts'
import { intercepted } from '../support/intercept.ts'
import { csv } from '../support/relations.ts'
import { handle, keyOf, openAccounts, subjectOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const harness = useServices()
const later = new Date('2099-01-01')
const handleOf = (name: string) => name as Handle

/** Opens an account of its own for a test. */
async function register(name: string, chosen = name): Promise<UserId> {
  const { users } = harness.services
  const user = await users.register(subjectOf(name), { name, handle: handleOf(chosen) })
  if (!user) throw new Error('the account is there')
  return user.id
}

const findings = async () =>
  (await verified(harness.services)).differences.map(({ kind, subject }) => `${kind} ${subject}`)
const repairs = async () => {
  const { sample } = await reconcile(harness.services, { readers: 0 })
  return sample.map(
    ({ kind, subject, repaired }) => `${repaired ? 'repaired' : 'left'} ${kind} ${subject}`,
  )
}

test('verify finds nothing after renames, deletions, registrations again and imports', async () => {
  const { services, clock, rest } = harness
  await openAccounts(services, ['old', 'older'].map(handle))
  await services.users.update(handle('old'), { handle: handleOf('newer') })
  const ann = await register('ann')
  for (const name of ['ann2', 'ann3', 'ann']) {
    await services.users.update(ann, { handle: handleOf(name) })
    expect(await findings()).toEqual([])
  }
  const bob = await register('bob')
  await services.users.update(bob, { handle: handleOf('bobby') })
  await services.users.delete(bob)
  await services.users.delete(handle('older'))
  expect(await findings()).toEqual([])
  await rest()
  expect(await services.collections.handles.countDocuments({ account: bob })).toBe(0)
  clock.advance(60_000)
  expect(await findings()).toEqual([])
  expect(await register('bob')).not.toBe(bob)
  // An import opens no account whose subject belongs to another one.
  await register('eve', 'evelyn')
  const folder = await mkdtemp(join(tmpdir(), 'feedline-names-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'relations.csv')
  await writeFile(file, csv(['eve dan 0 0 5 0 5']))
  await importRelations(services, { file })
  const { users } = services.collections
  expect(await users.findOne({ handle: 'eve' })).toBeNull()
  expect(await findings()).toEqual([])
  clock.advance(365 * 86_400_000)
  expect(await findings()).toEqual([])
  // The account before still lists it as a handle that it kept.
  await register('another', 'ann2')
  expect(await findings()).toEqual([])
})

test('reconcile frees no handle that a document keeps for an account, and stores until when it keeps others', async () => {
  const { handles } = harness.services.collections
  const account = await register('fay')
  const { users } = harness.services
  await users.update(account, { handle: handleOf('fay2') })
  const kept = await handles.findOne({ _id: 'fay' })
  await handles.updateOne({ _id: 'fay' }, { $unset: { until: '' } })
  await handles.insertOne({ _id: 'fay3', account, until: later })
  await handles.updateOne({ _id: 'fay2' }, { $set: { until: later } })
  expect(await findings()).toEqual([
    ...[`handle ${account} "fay2"`, `handle ${account} "fay"`, 'spare-handle "fay3"'],
  ])
  await reconcile(harness.services, { readers: 0 })
  expect(await findings()).toEqual([])
  expect(await handles.find({ account }).sort({ _id: 1 }).toArray()).toEqual([
    kept,
    { _id: 'fay2', account },
    { _id: 'fay3', account, until: later },
  ])
  expect(await harness.services.collections.users.findOne({ _id: account })).toMatchObject({
    handle: 'fay2',
    formerHandles: [
      { handle: 'fay', until: kept?.until },
      { handle: 'fay3', until: later },
    ],
  })
})

test('reconcile gives a handle and a subject back only if the account that has them does not claim them', async () => {
  const { handles, subjects, users } = harness.services.collections
  const [gus, hal] = [await register('gus'), await register('hal')]
  await users.updateOne({ _id: hal }, { $set: { subject: keyOf(handle('gus')) } })
  await subjects.deleteOne({ _id: keyOf(handle('hal')) })
  await users.updateOne(
    { _id: gus },
    { $set: { formerHandles: [{ handle: 'hal', until: later }] } },
  )
  await handles.updateOne({ _id: 'hal' }, { $set: { account: gus, until: later } })
  expect(await repairs()).toEqual(
    expect.arrayContaining([`left handle ${hal} "hal"`, `left subject ${hal} " gus"`]),
  )
  expect(await findings()).toHaveLength(2)
  await users.updateOne({ _id: gus }, { $unset: { formerHandles: '' } })
  await users.updateOne({ _id: hal }, { $set: { subject: keyOf(handle('hal')) } })
  await reconcile(harness.services, { readers: 0 })
  expect(await findings()).toEqual([])
  expect(await handles.findOne({ _id: 'hal' })).toEqual({ _id: 'hal', account: hal })
})

test('reconcile keeps the names of an account whose document is lost and whose counters are there', async () => {
  const { handles, users } = harness.services.collections
  const [ida, jon] = [await register('ida'), await register('jon')]
  await harness.services.posts.create(ida, { text: 'kept' })
  const doc = await users.findOne({ _id: ida })
  if (!doc) throw new Error('the account is there')
  await users.deleteOne({ _id: ida })
  await users.updateOne({ _id: jon }, { $set: { handle: 'ida' } })
  await handles.deleteOne({ _id: 'jon' })
  expect(await repairs()).toEqual([
    ...[`left counters ${ida}`, `left no-account ${ida}`, `left handle ${jon} "ida"`],
  ])
  await users.insertOne(doc)
  await users.updateOne({ _id: jon }, { $set: { handle: 'jon' } })
  await reconcile(harness.services, { readers: 0 })
  expect(await findings()).toEqual([])
  expect(await handles.findOne({ _id: 'ida' })).toEqual({ _id: 'ida', account: ida })
})

/** Reconciles, and runs something between the check of a repair and its write to `handles`. */
async function reconcileDuring(method: string, run: () => Promise<unknown>): Promise<void> {
  const { database, clock } = harness
  let isOver = false
  const db = intercepted(database.db, {
    before: async (call) => {
      if (call.collection !== 'handles' || call.method !== method || isOver) return
      isOver = true
      await run()
    },
  })
  const repairing = createServices(database.client, db, readConfig({}), { now: clock.now })
  await reconcile(repairing, { readers: 0 })
  expect(isOver).toBe(true)
}

test('a repair takes no handle from an account that takes it at the same time', async () => {
  const { users, collections } = harness.services
  const [lea, max] = [await register('lea'), await register('max')]
  await collections.handles.updateOne({ _id: 'lea' }, { $set: { account: max } })
  await reconcileDuring('bulkWrite', () => users.update(max, { handle: handleOf('lea') }))
  expect(await collections.handles.findOne({ _id: 'lea' })).toEqual({ _id: 'lea', account: max })
  expect(await findings()).toEqual([`handle ${lea} "lea"`])
})

test('a repair writes no handle into an account that takes another one at the same time', async () => {
  const { users, collections } = harness.services
  const account = await register('mia')
  await collections.users.updateOne({ _id: account }, { $set: { handle: '' } })
  await reconcileDuring('bulkWrite', () => users.update(account, { handle: handleOf('mia2') }))
  expect((await users.byIds([account])).get(account)?.handle).toBe('mia2')
  expect(await collections.handles.findOne({ _id: 'mia' })).toEqual({ _id: 'mia', account })
  expect(await findings()).toEqual(expect.arrayContaining(['spare-handle "mia"']))
  await collections.handles.deleteOne({ _id: 'mia' })
})

test('a repair restores no name of an account that is deleted at the same time', async () => {
  const { users, collections } = harness.services
  const account = await register('noa')
  await collections.users.updateOne({ _id: account }, { $set: { subject: '' } })
  let isOver = false
  const db = intercepted(harness.database.db, {
    before: async ({ collection, method }) => {
      if (collection !== 'subjects' || method !== 'bulkWrite' || isOver) return
      isOver = true
      await users.delete(account)
    },
  })
  const { database, clock } = harness
  const repairing = createServices(database.client, db, readConfig({}), { now: clock.now })
  await reconcile(repairing, { readers: 0 })
  expect(isOver).toBe(true)
  expect(await collections.users.findOne({ _id: account })).toMatchObject({ subject: '' })
  await harness.rest()
  await reconcile(harness.services, { readers: 0 })
  expect(await register('noa')).not.toBe(account)
})

test('no account opens for a subject or under a handle whose account is lost, until a repair frees both', async () => {
  const { users, collections } = harness.services
  const before = await register('nat')
  await collections.users.deleteOne({ _id: before })
  await collections.user_stats.deleteOne({ _id: before })
  harness.services.subjects.forget(subjectOf('nat'))
  await expect(register('nat', 'nat2')).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(register('nat2', 'nat')).rejects.toMatchObject({ code: 'CONFLICT' })
  const freed = ['repaired spare-handle "nat"', 'repaired spare-subject " nat"']
  expect(await repairs()).toEqual(expect.arrayContaining(freed))
  const account = await register('nat')
  expect(account).not.toBe(before)
  expect(await users.byHandles([handleOf('nat')])).toMatchObject(
    new Map([[handleOf('nat'), { id: account }]]),
  )
})

test('an account has a new id if the one before ended while its subject was looked up', async () => {
  const { database, clock } = harness
  const { users, user_stats, subjects, handles } = harness.services.collections
  const before = await register('oli')
  let isOver = false
  const db = intercepted(database.db, {
    before: async ({ collection, args }) => {
      if (collection !== 'subjects' || !args[1]?.session || isOver) return
      isOver = true
      for (const one of [users, user_stats]) await one.deleteOne({ _id: before })
      await subjects.deleteOne({ _id: keyOf('oli') })
      await handles.deleteOne({ _id: 'oli' })
    },
  })
  const racing = createServices(database.client, db, readConfig({}), { now: clock.now })
  const profile = { name: 'oli', handle: handleOf('oli') }
  const account = (await racing.users.register(subjectOf('oli'), profile))?.id
  expect(account).not.toBe(before)
  expect(await users.findOne({ _id: String(account) })).toMatchObject({ handle: 'oli' })
})
