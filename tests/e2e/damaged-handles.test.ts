import { beforeEach, expect, test } from 'vitest'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { subjectKey } from '../../src/users/subjects.ts'
import { useApp } from '../support/app.ts'
import { share } from '../support/repetition.ts'
import { subjectOf } from '../support/services.ts'

const app = useApp()
const of = (name: string) => name as Handle
const later = new Date('2099-01-01')
let round = 0
let ann: UserId
let ben: UserId
/** The names of a round. */
let names: Readonly<Record<'ann' | 'ben' | 'cem' | 'old' | 'free', string>>

async function open(name: string, ...handles: readonly string[]): Promise<UserId> {
  const user = await app.services.users.register(subjectOf(name), { name, handle: of(name) })
  for (const handle of handles)
    await app.services.users.update(user?.id as UserId, { handle: of(handle) })
  return user?.id as UserId
}

beforeEach(async () => {
  round++
  const named = (name: string) => `${name}${round}x`
  names = {
    ...{ ann: named('ann'), ben: named('ben'), cem: named('cem') },
    ...{ old: named('old'), free: named('free') },
  }
  ann = await open(names.ann, names.old, `new${names.ann}`)
  ben = await open(names.ben)
})

/**
 * Damages of what is stored about the handles of ann, who had her own name and `old`, and of ben.
 */
const damages: Readonly<Record<string, () => Promise<unknown>>> = {
  none: async () => {},
  'the handle is malformed, and names its account': () => setDoc(`new${names.ann}`, { until: 7 }),
  'the handle names another account': () => setDoc(`new${names.ann}`, { account: ben }),
  'the handle names no account': () => setDoc(`new${names.ann}`, { account: 'ghost' }),
  'the handle is malformed, and names no account': () => setDoc(`new${names.ann}`, { account: 7 }),
  'the handle ends': () => setDoc(`new${names.ann}`, { until: later }),
  'the former handle is malformed, and names its account': () => setDoc(names.old, { until: '' }),
  'the former handle has no end': () => setDoc(names.old, { until: undefined }),
  'a malformed handle names the account': () =>
    app.services.collections.handles.insertOne({
      ...{ _id: names.free, account: ann, until: 'soon' as never },
    }),
  'a handle names the account': () =>
    app.services.collections.handles.insertOne({ _id: names.free, account: ann }),
  'the account states the handle of another': () => setUser({ handle: names.ben }),
  'the account keeps the handle of another': () =>
    setUser({ formerHandles: [{ handle: names.ben, until: later }] }),
  'the account states no handle': () => setUser({ handle: undefined }),
  'the account states a malformed handle': () => setUser({ handle: 7 }),
  'the former handles are malformed': () => setUser({ formerHandles: 'none' }),
  'the account is lost': () => app.services.collections.users.deleteOne({ _id: ann }),
}

const changeOf = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) =>
      value === undefined ? ['$unset', { [field]: '' }] : ['$set', { [field]: value }],
    ),
  )
const setDoc = (handle: string, fields: Readonly<Record<string, unknown>>) =>
  app.services.collections.handles.updateOne({ _id: handle }, changeOf(fields))
const setUser = (fields: Readonly<Record<string, unknown>>) =>
  app.services.collections.users.updateOne({ _id: ann }, changeOf(fields))

async function take(as: string, handle: string): Promise<boolean> {
  const isNew = as === names.cem
  const mutation = isNew
    ? `createUser(input: { name: "C", handle: "${handle}" })`
    : `updateUser(input: { handle: "${handle}" })`
  const { errors } = await app.send({ as, query: `mutation { ${mutation} { user { handle } } }` })
  return errors.length === 0
}

const cases = Object.keys(damages).flatMap((damage) =>
  (['ann', 'ben', 'cem'] as const).map((as) => [damage, as] as const),
)

test.each(share(4, cases))(
  'a handle is available exactly if it can be taken: %s, asked by %s',
  async (damage, as) => {
    const { handles, users, subjects } = app.services.collections
    await damages[damage]?.()
    const stored = [await handles.find().toArray(), await users.find().toArray()] as const
    const differing: string[] = []
    for (const handle of [names.ann, names.old, `new${names.ann}`, names.ben, names.free]) {
      app.services.subjects.forget(subjectOf(names[as]))
      const query = `{ isHandleAvailable(handle: "${handle}") }`
      const { isHandleAvailable } = (await app.send({ as: names[as], query })).data
      const isTaken = await take(names[as], handle)
      if (isTaken !== isHandleAvailable) differing.push(`${handle}: says ${isHandleAvailable}`)
      await handles.deleteMany({})
      await handles.insertMany([...stored[0]])
      await users.deleteMany({})
      await users.insertMany([...stored[1]])
      await subjects.deleteMany({ _id: subjectKey(subjectOf(names.cem)) })
    }
    expect(differing).toEqual([])
  },
)

test('a rename reserves no handle that a document gives to another account', async () => {
  const { collections } = app.services
  await setUser({ handle: names.ben })
  await take(names.ann, names.free)
  expect(await collections.handles.findOne({ _id: names.ben })).toEqual({
    ...{ _id: names.ben, account: ben },
  })
})

test('an operator who moves a handle learns that its document names another account', async () => {
  await setDoc(`new${names.ann}`, { account: ben })
  const moved = app.services.handleDesk.move(of(`new${names.ann}`), ann, { dryRun: false })
  const message = expect.stringContaining('feedline verify')
  await expect(moved).rejects.toMatchObject({ code: 'CONFLICT', message })
})
