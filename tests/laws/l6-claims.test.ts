import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { User } from '../../src/users/profile.ts'
import { sameLimits } from '../support/engagement.ts'
import { patient } from '../support/patience.ts'
import { lawRuns } from '../support/seed.ts'
import { drain, servicesOver, subjectOf, useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import { type Outcome, outcomeOf } from './model/model.ts'

const rounds = lawRuns(12)
const budgetMs = 120_000 + rounds * 5_000
const harness = useServices()
let processes: readonly Services[] = []
beforeAll(() => {
  const limits = sameLimits({ threshold: 3, capacity: 2 })
  const others = [1, 2].map(() => servicesOver(harness.database, harness.clock, limits))
  processes = [harness.services, ...others]
})

let names = 0
const newName = (of: string) => `${of}-${names++}`
const by = (n: number) => processes[n % processes.length] as Services

const register = (services: Services, handle: string, subject = newName('subject')) =>
  services.users.register(subjectOf(subject), { handle: handle as Handle, name: 'Name' })

const rename = (services: Services, account: UserId, handle: string) =>
  services.users.update(account, { handle: handle as Handle })

async function newAccount(): Promise<UserId> {
  return ((await register(harness.services, newName('handle'))) as User).id
}

/** Whether `handles` and `subjects` say the same as the accounts. */
async function expectAgreement(): Promise<void> {
  const { users, handles, subjects } = harness.services.collections
  const now = harness.clock.now()
  const byAccounts = new Set<string>()
  for await (const { _id, handle, formerHandles = [], subject } of users.find()) {
    byAccounts.add(`${handle} of ${_id}`).add(`${subject} of ${_id}`)
    for (const former of formerHandles) {
      if (former.until.getTime() > now)
        byAccounts.add(`${former.handle} of ${_id} until ${former.until.getTime()}`)
    }
  }
  const stored = new Set<string>()
  for (const collection of [handles, subjects]) {
    for await (const { _id, account, until } of collection.find()) {
      if (until === undefined) stored.add(`${_id} of ${account}`)
      else if (until.getTime() > now) stored.add(`${_id} of ${account} until ${until.getTime()}`)
    }
  }
  expect([...stored].sort()).toEqual([...byAccounts].sort())
}

/** How the handle was before: the owner had it, or keeps it and claims it too. */
const befores = [
  'new',
  'expired',
  'of a deleted account',
  'kept by a claimant',
  'given up now',
] as const
type Before = (typeof befores)[number]

/** Gives the handle its past. @returns the account that has or keeps it. */
async function prepare(before: Before, handle: string): Promise<UserId | undefined> {
  if (before === 'new') return undefined
  const { id } = (await register(harness.services, handle)) as User
  if (before === 'given up now') return id
  if (before === 'of a deleted account') {
    await harness.services.users.delete(id)
    await drain(harness.services)
    return undefined
  }
  await rename(harness.services, id, newName('handle'))
  if (before === 'kept by a claimant') return id
  harness.clock.advance(31 * 86_400_000)
  return undefined
}

const claims = fc.record({
  before: fc.constantFrom(...befores),
  kinds: fc.array(fc.constantFrom('register' as const, 'rename' as const), {
    ...{ minLength: 4, maxLength: 12, size: 'max' },
  }),
})

test(
  'of concurrent claims of a handle by several processes, exactly one wins',
  async () => {
    const law = fc.asyncProperty(claims, async ({ before, kinds }) => {
      const handle = newName('contested')
      const owner = await prepare(before, handle)
      const accounts = await Promise.all(
        kinds.map((kind) => (kind === 'rename' ? newAccount() : undefined)),
      )
      const ownClaim =
        owner && rename(by(1), owner, before === 'given up now' ? newName('handle') : handle)
      const outcomes = await Promise.all(
        accounts.map((account, n) =>
          outcomeOf(account ? rename(by(n), account, handle) : register(by(n), handle)),
        ),
      )
      await ownClaim
      const wins = outcomes.filter((outcome) => outcome === 'changed')
      expect(wins, before).toHaveLength(owner ? 0 : 1)
      const lost: Outcome[] = Array(kinds.length - wins.length).fill('CONFLICT')
      expect(outcomes.filter((outcome) => outcome !== 'changed')).toEqual(lost)
      await expectAgreement()
      const named = await by(2).users.byHandles([handle as Handle])
      const { handle: current } = named.get(handle as Handle) as User
      expect(current === handle).toBe(before !== 'given up now')
    })
    await checkLaw(law, { name: 'L6, claims', histories: rounds, budgetMs })
  },
  patient(budgetMs + 30_000),
)

test('of concurrent registrations of a subject, exactly one wins, and leaves no other handle', async () => {
  const subject = newName('subject')
  const handles = Array.from({ length: 10 }, () => newName('handle'))
  const outcomes = await Promise.all(
    handles.map((handle, n) => outcomeOf(register(by(n), handle, subject))),
  )
  expect(outcomes.toSorted()).toEqual([...Array(9).fill('CONFLICT'), 'changed'])
  const { users } = harness.services.collections
  expect(await users.countDocuments({ subject: ` ${subject}` })).toBe(1)
  const taken = await harness.services.handles.findHolders(handles as Handle[])
  expect([...taken.keys()]).toEqual([handles[outcomes.indexOf('changed')]])
  await expectAgreement()
})

test('concurrent repeats of a registration by several processes get the same account', async () => {
  const subject = newName('subject')
  const profile = { handle: newName('handle') as Handle, name: 'Name' }
  const clientMutationId = 'open'
  const repeats = await Promise.all(
    Array.from({ length: 10 }, (_, n) => {
      const viewer = `~${n}` as UserId
      const key = createIdempotencyKey(viewer, 'createUser', { ...profile, clientMutationId })
      return by(n).users.register(subjectOf(subject), profile, key)
    }),
  )
  expect(new Set(repeats.map((user) => user?.id)).size).toBe(1)
  const { users } = harness.services.collections
  expect(await users.countDocuments({ subject: ` ${subject}` })).toBe(1)
  await expectAgreement()
})

test('after concurrent renames of an account, it has one handle and keeps the others', async () => {
  const account = await newAccount()
  const handles = Array.from({ length: 8 }, () => newName('handle'))
  const outcomes = await Promise.all(
    handles.map((handle, n) => outcomeOf(rename(by(n), account, handle))),
  )
  expect(outcomes.toSorted()).toEqual([...Array(3).fill('CONFLICT'), ...Array(5).fill('changed')])
  await expectAgreement()
})
