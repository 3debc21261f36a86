import { expect, test } from 'vitest'
import { type Stamp, type StampBuilder, Stamping } from '../../src/db/stamps.ts'
import { accountsOf, groupOf, type Subject, type Versions } from '../../src/db/versions.ts'

const author: Subject = 'account:author'
const group = groupOf(author)

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

const stampOf = (): Stamp => ({
  versions: new Map<Subject, string>([
    ['registrations', '1'],
    [group, '1'],
  ]),
  accounts: new Map([[author, 'a']]),
})

test('while its group is unchanged, no account is read', async () => {
  const { versions, reads } = versionsOf(
    new Map([
      ['registrations', '1'],
      [group, '1'],
    ] as const),
  )
  expect(await new Stamping(versions).isCurrent(stampOf())).toBe(true)
  expect(reads).toEqual([['registrations', group]])
})

test('a change of another account of the group costs one read, once', async () => {
  const values = new Map<Subject, string>([
    ['registrations', '1'],
    [group, '2'],
    [author, 'a'],
  ])
  const { versions, reads } = versionsOf(values)
  const stamp = stampOf()
  expect(await new Stamping(versions).isCurrent(stamp)).toBe(true)
  expect(await new Stamping(versions).isCurrent(stamp)).toBe(true)
  expect(reads).toEqual([['registrations', group], [author], ['registrations', group]])
})

test.each([
  ['changed', 'b'],
  ['expired', undefined],
])('an account that has %s is found', async (_, value) => {
  const values = new Map<Subject, string>([
    ['registrations', '1'],
    [group, '2'],
    ...(value ? [[author, value] as const] : []),
  ])
  const { versions } = versionsOf(values)
  const stamp = stampOf()
  expect(await new Stamping(versions).isCurrent(stamp)).toBe(false)
  expect(stamp.versions.get(group)).toBe('1')
})

test('after another change no account is read', async () => {
  const values = new Map<Subject, string>([
    ['registrations', '2'],
    [group, '2'],
  ])
  const { versions, reads } = versionsOf(values)
  expect(await new Stamping(versions).isCurrent(stampOf())).toBe(false)
  expect(reads).toEqual([['registrations', group]])
})

test('a read that depends on something without a version has no stamp, nor one of too many accounts', async () => {
  const values = new Map<Subject, string>()
  const { versions } = versionsOf(values)
  const begin = async () => (await new Stamping(versions).begin('reader')) as StampBuilder
  expect((await begin()).finish()).toBeUndefined()
  const everything = { get: () => '1', has: () => true } as unknown as Map<Subject, string>
  const stamping = new Stamping(versionsOf(everything).versions)
  const [spoiled, large] = [await stamping.begin('reader'), await stamping.begin('reader')]
  expect(spoiled?.finish()?.versions.size).toBe(4)
  spoiled?.spoil()
  expect(spoiled?.finish()).toBeUndefined()
  await large?.coverAccounts(accountsOf(Array.from({ length: 199 }, (_, n) => `${n}`)))
  expect(large?.finish()?.accounts.size).toBe(200)
  await large?.coverAccounts(accountsOf(['more']))
  expect(large?.finish()).toBeUndefined()
})

test('the versions of unchanged groups stand for those of their accounts in the next stamp', async () => {
  const values = new Map<Subject, string>([
    ['relations:reader', '1'],
    ['timeline:reader', '2'],
    ['registrations', '1'],
    [groupOf('account:reader' as Subject), '1'],
    ['account:reader', 'r'],
    [group, '1'],
    [author, 'a'],
  ])
  const { versions, reads } = versionsOf(values)
  const stamping = new Stamping(versions)
  expect(await stamping.isCurrent(stampOf())).toBe(true)
  const builder = await stamping.begin('reader')
  await builder?.coverAccounts([author])
  expect(builder?.finish()?.accounts.get(author)).toBe('a')
  expect(reads.flat().filter((one) => one === author)).toEqual([])
})

test('many posts of few authors have a stamp', async () => {
  const { versions } = versionsOf(new Map())
  versions.loadOrCreate = async (subjects) => new Map(subjects.map((subject) => [subject, 'v']))
  const builder = (await new Stamping(versions).begin('reader')) as StampBuilder
  await builder.coverAccounts(Array.from({ length: 300 }, () => author))
  expect(builder.finish()?.accounts.get(author)).toBe('v')
})
