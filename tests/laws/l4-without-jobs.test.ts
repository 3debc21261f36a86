import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Services } from '../../src/services.ts'
import { backfillJobs } from '../../src/timeline/registry/backfill-jobs.ts'
import { transactionMsMax } from '../../src/timeline/registry/registry.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { sameLimits } from '../support/engagement.ts'
import { keepMemory } from '../support/memory.ts'
import { share } from '../support/repetition.ts'
import { openAccounts, servicesOver, useServices } from '../support/services.ts'
import {
  dyingAt,
  heldAt,
  keepingProcess,
  playPost,
  processOver,
  publish,
} from './model/publishers.ts'
import {
  all,
  author,
  fan,
  follow,
  people,
  reader,
  type Step,
  takeOver,
  work,
} from './model/race-steps.ts'
import { type Documents, readAll, restore } from './model/races.ts'
import { comparedTimelines } from './model/stored-timelines.ts'

const harness = useServices()
/** The calls of a post without a job. */
const callsOfPost = [
  'user_stats.findOneAndUpdate',
  'idempotency_keys.insertMany',
  'posts.insertMany',
  'commit',
]
const maintained = ['INBOX', 'SIZED_BUCKETS', 'CACHE'] as const
let given: Documents
let main: Services

beforeAll(async () => {
  main = servicesOver(
    harness.database,
    harness.clock,
    sameLimits({ threshold: 3, capacity: 2 }),
    'collection',
    { maintained },
  )
  await openAccounts(main, people)
  await all(follow(fan), follow(reader), work)(main)
  await harness.rest()
  given = await readAll(main)
  await keepMemory(main)
})
afterAll(() => main.memory.close())

/**
 * Registers a strategy and runs what is due. Then a reader visits, which creates a cache if the
 * strategy is complete.
 */
const register =
  (name: MaterialisedName): Step =>
  async (services) => {
    await services.registrations.register(name, services.configured[name])
    await work(services)
    // A page is read under the registrations that its process has seen last.
    await services.registry.read()
    const window = { limit: 3, backward: false }
    await services.feed.timeline(fan, { window, strategy: name, projection: 'ref' })
  }
const settled: Step = async () => {
  harness.clock.advance(transactionMsMax)
  await harness.rest()
}
/** A registration that waits for no transaction. */
const hasty =
  (name: MaterialisedName): Step =>
  async (services) => {
    await services.registrations.register(name, services.configured[name])
    await services.collections.strategies.updateMany({}, { $unset: { settlesAt: '' } })
    await services.collections.outbox.updateMany(backfillJobs(), { $set: { runAt: new Date(0) } })
    await register(name)(services)
  }

/** What is wrong with the timelines at rest. */
async function problemsOf(strategies: readonly MaterialisedName[]): Promise<string[]> {
  const { problems, pending, served } = await comparedTimelines(main, people, strategies)
  const unserved = strategies.filter((name) => !served.has(name))
  return [...problems, ...pending, ...unserved.map((name) => `${name} serves no page`)]
}

test('a process that dies at any call of a post leaves the post, or none, and no job', async () => {
  for (const when of share(1, ['before', 'after'] as const)) {
    const committed: number[] = []
    for (const [at, call] of callsOfPost.entries()) {
      await restore(main, given)
      await using dead = await keepingProcess(harness, dyingAt(at, when).around)
      await publish(dead.services, author, 'before')
      dead.watch()
      // No client gets this answer.
      await publish(dead.services, author, 'new').catch(() => {})
      await takeOver(main)
      const stored = await main.collections.posts.find({ text: 'new' }).toArray()
      if (stored.length > 0) committed.push(at)
      const repeated = await publish(main, author, 'new')
      if (stored[0]) expect(repeated, call).toBe(stored[0]._id.toHexString())
      expect(await main.collections.posts.countDocuments({ text: 'new' }), call).toBe(1)
      expect(await main.collections.outbox.countDocuments(), call).toBe(0)
    }
    expect(committed).toEqual(when === 'before' ? [] : [callsOfPost.length - 1])
  }
})

describe.each(share(1, maintained))('%s as the first strategy', (name) => {
  /** Plays a race at every call of the post. @returns what is wrong at rest. */
  async function everywhere(whileHeld: Step): Promise<string[]> {
    const problems: string[] = []
    for (const [at, call] of callsOfPost.entries()) {
      const race = { deployment: harness, main, given, author, whileHeld, afterwards: settled }
      expect(await playPost(race, at), call).toBe(true)
      problems.push(...(await problemsOf([name])).map((one) => `${call}: ${one}`))
    }
    return problems
  }

  test('that is registered while a post without a job is published gets the post', async () => {
    const whileHeld: Step = async (services) => {
      await register(name)(services)
      const registration = await services.collections.strategies.findOne({ _id: name })
      expect(registration).toMatchObject({ complete: false, settlesAt: expect.any(Date) })
    }
    expect(await everywhere(whileHeld)).toEqual([])
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: true })
    expect(registration).not.toHaveProperty('settlesAt')
  })

  test('that is back-filled too early lacks the post, so the test above can fail', async () => {
    expect((await everywhere(hasty(name))).join()).toContain(`${name}: `)
  })

  test('makes all later posts have jobs, and the next strategy waits for nothing', async () => {
    await restore(main, given)
    await register(name)(main)
    await settled(main)
    const { around, calls } = heldAt(-1)
    await using keeping = await keepingProcess(harness, around)
    const { services, watch } = keeping
    watch()
    await publish(services, author, 'new')
    expect(calls).toContain('outbox.bulkWrite')
    const next = maintained.find((other) => other !== name) ?? name
    await register(next)(main)
    const registration = await main.collections.strategies.findOne({ _id: next })
    expect(registration).toMatchObject({ complete: true })
    await harness.rest()
    expect(await problemsOf([name, next])).toEqual([])
  })

  test('waits once a worker has begun its back-fill, however late that is', async () => {
    await restore(main, given)
    await main.registrations.register(name, main.configured[name])
    harness.clock.advance(10 * transactionMsMax)
    const begun = harness.clock.now()
    await work(main)
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: false })
    expect(registration?.settlesAt?.getTime()).toBeGreaterThan(begun + transactionMsMax)
  })

  test('that is dropped and registered again waits again', async () => {
    await restore(main, given)
    await register(name)(main)
    await settled(main)
    await main.registrations.drop(name)
    await publish(main, author, 'new')
    await register(name)(main)
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: false, settlesAt: expect.any(Date) })
    await settled(main)
    expect(await problemsOf([name])).toEqual([])
  })
})

test('a process that keeps nothing writes the job of each post', async () => {
  await restore(main, given)
  const { around, calls } = heldAt(-1)
  const { services, watch } = processOver(harness, [], around)
  watch()
  await publish(services, author, 'new')
  expect(calls).toContain('outbox.bulkWrite')
})

test('the first strategy of a database without accounts waits for nothing, and gets the first post', async () => {
  await restore(main, new Map())
  await register('INBOX')(main)
  const registration = await main.collections.strategies.findOne({ _id: 'INBOX' })
  expect(registration).toMatchObject({ complete: true })
  await openAccounts(main, people)
  await publish(main, author, 'new')
  await harness.rest()
  expect(await problemsOf(['INBOX'])).toEqual([])
})
