import { expect, test } from 'vitest'
import { findAtOnce } from '../../src/db/find-at-once.ts'
import { outdateTimelines, Versions } from '../../src/db/versions.ts'
import { useServices } from '../support/services.ts'

const harness = useServices()

test('a version that was created again, or belongs to a new account, has another value', async () => {
  const { services } = harness
  const { versions, collections } = services
  const subject = 'account:other'
  const values = new Set<string>()
  for (let times = 0; times < 3; times++) {
    const seen = await versions.loadOrCreate([subject])
    values.add(seen.get(subject) as string)
    if (times === 0) await versions.remove('other')
    else await collections.versions.deleteOne({ _id: subject })
  }
  expect(values.size).toBe(3)
  const stored = await collections.versions.findOne({ _id: subject })
  expect(stored).toBeNull()
  await versions.loadOrCreate([subject])
  const { expiresAt } = (await collections.versions.findOne({ _id: subject })) as {
    expiresAt: Date
  }
  expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000 + 5_000)
})

test('the version of a timeline has seven new values, and is absent until it is created again', async () => {
  const { versions, collections } = harness.services
  const subject = 'timeline:raised'
  const currentValue = async () => (await versions.load([subject])).get(subject)
  const raise = () => outdateTimelines(collections, ['raised', 'others'])
  await raise()
  expect(await currentValue()).toBeUndefined()
  const values: (string | undefined)[] = []
  for (let times = 0; times < 2; times++) {
    const created = await versions.loadOrCreate([subject])
    expect(await versions.loadOrCreate([subject])).toEqual(created)
    values.push(created.get(subject))
    for (let raises = 1; raises < 8; raises++) {
      await raise()
      values.push(await currentValue())
    }
    await raise()
    expect(await currentValue()).toBeUndefined()
  }
  expect(new Set(values).size).toBe(16)
  expect(values).not.toContain(undefined)
  expect(await collections.versions.countDocuments({ _id: 'timeline:others' })).toBe(0)
})

test('pages that create the version of a timeline at the same time agree on it', async () => {
  const { versions } = harness.services
  const subject = 'timeline:together'
  const all = await Promise.all(Array.from({ length: 8 }, () => versions.loadOrCreate([subject])))
  const values = all.flatMap((some) => some.get(subject) ?? [])
  expect(values.length).toBeGreaterThan(0)
  expect(new Set(values).size).toBe(1)
  expect((await versions.load([subject])).get(subject)).toBe(values[0])
})

test('more versions than one answer holds are all loaded, and a longer answer is an error', async () => {
  const { versions, collections } = harness.services
  const subjects = Array.from({ length: 4_001 }, (_, at) => `timeline:many${at}` as const)
  const expiresAt = new Date(Date.now() + 3_600_000)
  const docs = subjects.map((_id) => ({ _id, value: 'v', expiresAt }))
  await collections.versions.insertMany(docs)
  expect((await versions.load(subjects)).size).toBe(4_001)
  const filter = { _id: /^timeline:many/ }
  await expect(findAtOnce(collections.versions, filter)).rejects.toThrow('more than 4,000')
  await collections.versions.deleteOne({ _id: 'timeline:many0' })
  expect(await findAtOnce(collections.versions, filter)).toHaveLength(4_000)
  expect(await findAtOnce(collections.versions, filter, { limit: 3 })).toHaveLength(3)
})

test('nothing is kept on a sharded cluster, where a change can be visible on one shard first', async () => {
  const { collections, transactions } = harness.services
  const meta = new Proxy(collections.meta, {
    get: (target, property) =>
      property === 'db'
        ? { command: async () => ({ msg: 'isdbgrid' }), collection: () => collections.meta }
        : Reflect.get(target, property, target),
  })
  const sharded = new Versions({ ...collections, meta }, transactions)
  expect(await sharded.isOn('keptAnswers')).toBe(false)
  expect(await new Versions(collections, transactions).isOn('keptAnswers')).toBe(true)
})
