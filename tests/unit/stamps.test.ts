import { expect, test } from 'vitest'
import { type AccountSource, type Stamp, type StampBuilder, Stamping } from '../../src/db/stamps.ts'
import { groupOf, type Subject, type Versions } from '../../src/db/versions.ts'

const author = 'author'
const group = groupOf(`account:${author}`)

/** Reads of versions, and the subjects that they named. */
function versionsOf(values: Map<Subject, string>) {
  const reads: (readonly Subject[])[] = []
  const load = async (subjects: readonly Subject[]) => {
    if (subjects.length > 0) reads.push(subjects)
    return new Map(subjects.flatMap((one) => (values.has(one) ? [[one, values.get(one)]] : [])))
  }
  const isOn = async () => true
  return { versions: { load, loadOrCreate: load, isOn } as unknown as Versions, reads }
}

/** Accounts in memory, and the handles that were asked for. */
function accountsOf(accounts: ReadonlyMap<string, object>) {
  const asked: (readonly string[])[] = []
  const source: AccountSource = {
    load: async (ids) => {
      asked.push(ids)
      return new Map(
        ids.flatMap((id) => (accounts.has(id) ? [[id, accounts.get(id) as object]] : [])),
      )
    },
  }
  return { source, asked }
}

const kept = { handle: author }
const stampOf = (): Stamp => ({
  versions: new Map<Subject, string>([
    ['registrations', '1'],
    [group, '1'],
  ]),
  accounts: new Map([[author, kept]]),
})

test('while its group is unchanged, no account is looked at', async () => {
  const { versions, reads } = versionsOf(
    new Map([
      ['registrations', '1'],
      [group, '1'],
    ] as const),
  )
  const { source, asked } = accountsOf(new Map())
  expect(await new Stamping(versions, source).isCurrent(stampOf())).toBe(true)
  expect(reads).toEqual([['registrations', group]])
  expect(asked).toEqual([])
})

test('a change of another account of the group costs one look, once', async () => {
  const values = new Map<Subject, string>([
    ['registrations', '1'],
    [group, '2'],
  ])
  const { versions } = versionsOf(values)
  const { source, asked } = accountsOf(new Map([[author, kept]]))
  const stamp = stampOf()
  expect(await new Stamping(versions, source).isCurrent(stamp)).toBe(true)
  expect(await new Stamping(versions, source).isCurrent(stamp)).toBe(true)
  expect(asked).toEqual([[author]])
})

test.each([
  ['changed', { handle: author }],
  ['ended', undefined],
])('an account that has %s is found', async (_, now) => {
  const values = new Map<Subject, string>([
    ['registrations', '1'],
    [group, '2'],
  ])
  const { source } = accountsOf(new Map(now ? [[author, now]] : []))
  const stamp = stampOf()
  expect(await new Stamping(versionsOf(values).versions, source).isCurrent(stamp)).toBe(false)
  expect(stamp.versions.get(group)).toBe('1')
})

test('after another change no account is looked at', async () => {
  const values = new Map<Subject, string>([
    ['registrations', '2'],
    [group, '2'],
  ])
  const { source, asked } = accountsOf(new Map([[author, kept]]))
  expect(await new Stamping(versionsOf(values).versions, source).isCurrent(stampOf())).toBe(false)
  expect(asked).toEqual([])
})

const everything = { get: () => '1', has: () => true } as unknown as Map<Subject, string>
const nobody = accountsOf(new Map()).source

async function begin(values: Map<Subject, string>) {
  const stamping = new Stamping(versionsOf(values).versions, nobody)
  await stamping.seeFacts('reader')
  return { stamping, builder: (await stamping.begin('reader')) as StampBuilder }
}

test('a read that depends on something without a version has no stamp, nor one of too many accounts', async () => {
  expect((await begin(new Map())).builder.finish()).toBeUndefined()
  const spoiled = (await begin(everything)).builder
  expect(spoiled.finish()?.versions.size).toBe(3)
  spoiled.spoil()
  expect(spoiled.finish()).toBeUndefined()
  const { stamping, builder } = await begin(everything)
  const ids = Array.from({ length: 200 }, (_, n) => `${n}`)
  const live = new Map([...ids, 'more'].map((id) => [id, { id }]))
  builder.coverAccounts(ids, live, stamping)
  expect(builder.finish()?.accounts.size).toBe(200)
  builder.coverAccounts(['more'], live, stamping)
  expect(builder.finish()).toBeUndefined()
})

test('a read has no stamp if an author has no account, or changed between two rounds', async () => {
  const without = await begin(everything)
  without.builder.coverAccounts([author], new Map(), without.stamping)
  expect(without.builder.finish()).toBeUndefined()
  const { stamping, builder } = await begin(everything)
  builder.coverAccounts([author], new Map([[author, kept]]), stamping)
  builder.coverAccounts([author], new Map([[author, { ...kept }]]), stamping)
  expect(builder.finish()).toBeUndefined()
})

test('many posts of few authors have a stamp', async () => {
  const { stamping, builder } = await begin(everything)
  const ids = Array.from({ length: 300 }, () => author)
  builder.coverAccounts(ids, new Map([[author, kept]]), stamping)
  expect(builder.finish()?.accounts.get(author)).toBe(kept)
})
