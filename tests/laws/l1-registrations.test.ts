import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { DomainError } from '../../src/errors.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { sameLimits } from '../support/engagement.ts'
import { patient } from '../support/patience.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts, runJobs, servicesOver, useServices } from '../support/services.ts'
import { comparedTimelines, holding, watchedDatabase } from './model/stored-timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const names = ['INBOX', 'TIME_BUCKETS', 'CACHE'] as const
const feed = { maintained: names, cacheSize: 3 }
const harness = useServices('collection', engagement, { ...feed, maintained: [] })
const people = ['ann', 'bob', 'cat'].map(handle) as [UserId, UserId, UserId]
const [ann, bob, cat] = people

/** The next step of a process. */
const step = fc.record({
  act: fc.constantFrom('register', 'drop', 'drop cut off', 'rebuild', 'post', 'follow', 'work'),
  name: fc.constantFrom(...names),
  who: fc.nat(2),
  /** The delays of the calls to the database, in milliseconds. */
  waits: fc.array(fc.nat(6), { minLength: 1, maxLength: 4 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Another process whose calls to the database are delayed by `waits`. */
function process(waits: () => number): Services {
  const around = async <T>(_: string, call: () => Promise<T>): Promise<T> => {
    await sleep(waits())
    return call()
  }
  const watched = watchedDatabase(harness.database, around)
  return servicesOver(watched, harness.clock, engagement, 'collection', feed)
}

/** Ignores the errors that are allowed while another process changes the same registration. */
function refused(error: unknown): void {
  const isConflict = error instanceof DomainError && error.code === 'CONFLICT'
  if (error instanceof ConfigError || isConflict || error === cutOff) return
  throw error
}
const cutOff = new Error('the drop was cut off')

async function applyStep(services: Services, { act, name, who }: Step): Promise<void> {
  const person = people[who] as UserId
  switch (act) {
    case 'register':
      return void (await registerStrategies(services, [name]))
    case 'drop':
      return void (await services.registrations.drop(name))
    case 'drop cut off':
      return void (await services.registrations.drop(name, AbortSignal.abort(cutOff)))
    case 'rebuild':
      return void (await services.registrations.rebuild(name))
    case 'post':
      return void (await services.posts.create(person, { text: 'x' }))
    case 'follow':
      return void (await services.follows.follow(person, people[(who + 1) % 3] as UserId))
    default:
      return void (await runJobs(services))
  }
}

/** Creates users, edges and posts in an empty database, with these strategies complete. */
async function begin(registered: readonly MaterialisedName[]): Promise<void> {
  const { services } = harness
  for (const [name, one] of Object.entries(services.collections)) {
    if (name !== 'meta')
      await (one as { deleteMany(filter: object): Promise<unknown> }).deleteMany({})
  }
  await openAccounts(services, people)
  for (const one of [ann, bob]) await services.follows.follow(one, cat)
  for (const one of people) await services.posts.create(one, { text: 'before' })
  await registerStrategies(services, registered)
  await harness.rest()
}

/** Ends all interrupted drops and all jobs. Then expects that all timelines are right. */
async function expectRight(): Promise<void> {
  const { services } = harness
  for (const { _id, dropping } of (await services.registry.read()).values()) {
    if (dropping) await services.registrations.drop(_id as MaterialisedName)
  }
  await harness.rest()
  const reading = process(() => 0)
  const registered = [...(await reading.registry.read()).values()]
  for (const { _id, complete } of registered) expect(complete, `${_id} is complete`).toBe(true)
  const strategies = registered.map(({ _id }) => _id)
  const { problems, served } = await comparedTimelines(reading, people, strategies)
  expect(problems).toEqual([])
  for (const name of strategies) expect(served).toContain(name)
}

test('an interrupted drop that another process has finished deletes no later entries', async () => {
  await begin(['INBOX'])
  // Holds the beginning of its second transaction.
  const held = holding('meta.updateOne 2')
  const watched = watchedDatabase(harness.database, held.around)
  const first = servicesOver(watched, harness.clock, engagement).registrations.drop('INBOX')
  await held.reached
  expect(await harness.services.registrations.drop('INBOX')).toBe(true)
  await registerStrategies(harness.services, ['INBOX'])
  await harness.rest()
  held.go()
  await expect(first).rejects.toMatchObject({ code: 'CONFLICT' })
  await expectRight()
})

test(
  'after concurrent registrations, drops and rebuilds of three processes, no timeline lacks a post',
  async () => {
    const runs = lawRuns(4)
    const law = fc.asyncProperty(
      fc.subarray([...names]),
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 3 }),
      async (registered, plans) => {
        await begin(registered)
        await Promise.all(
          plans.map(async (plan) => {
            let current: Step | undefined
            let calls = 0
            const services = process(() => current?.waits[calls++ % current.waits.length] ?? 0)
            for (const next of plan) {
              current = next
              await applyStep(services, next).catch(refused)
            }
          }),
        )
        await expectRight()
      },
    )
    await fc.assert(law, { numRuns: runs, endOnFailure: true, ...lawSeed() })
  },
  patient(120_000 + lawRuns(4) * 3_000),
)
