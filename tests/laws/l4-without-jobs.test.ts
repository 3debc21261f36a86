import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { backfillJobs } from '../../src/feed/registry/backfill-jobs.ts'
import { permitMs } from '../../src/feed/registry/permits.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { share } from '../support/repetition.ts'
import { openAccounts, servicesOver, settleDeletions, useServices } from '../support/services.ts'
import {
  dyingAt,
  heldAt,
  playPost,
  processOver,
  publish,
  publisher,
  type Race,
} from './model/publishers.ts'
import {
  all,
  author,
  fan,
  follow,
  late,
  other,
  people,
  reader,
  type Step,
  takeOver,
  unfollow,
  work,
} from './model/race-steps.ts'
import { type Documents, readAll, restore } from './model/races.ts'
import { type Around, comparedTimelines } from './model/stored-timelines.ts'

const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
/** The calls of a post without a job whose author's followers are known. */
const callsOfPost = [
  'user_stats.findOneAndUpdate',
  'idempotency_keys.insertMany',
  'posts.insertMany',
  'inbox.insertMany',
  'commit',
  'versions.updateMany',
]
let given: Documents
let main: Services

beforeAll(async () => {
  main = servicesOver(
    harness.database,
    harness.clock,
    sameLimits({ threshold: 3, capacity: 2 }),
    'collection',
    { maintained: ['INBOX', 'SIZED_BUCKETS', 'CACHE'] },
  )
  await openAccounts(main, people)
  await all(follow(fan), follow(reader), work)(main)
  await harness.rest()
  given = await readAll(main)
})

/** What is wrong with the timelines at rest. */
async function problemsOf(strategies: readonly MaterialisedName[] = ['INBOX']): Promise<string[]> {
  const { problems, pending } = await comparedTimelines(main, people, strategies)
  return [...problems, ...pending]
}
const rest = () => harness.rest()

describe('a process that dies', () => {
  const subjects = ['timeline:ben', 'registrations'] as const

  test('sends five commands for a post, and one for the new versions', async () => {
    await restore(main, given)
    const { around, calls } = heldAt(-1)
    await publish(await publisher(harness, author, around), author, 'new')
    expect(calls).toEqual(callsOfPost)
    await rest()
  })

  test.each(share(1, ['before', 'after'] as const))(
    'at any call of a post, and %s it, leaves a post that is delivered, or none',
    async (when) => {
      const committed: number[] = []
      for (const [at, call] of callsOfPost.entries()) {
        await restore(main, given)
        const before = await main.versions.loadOrCreate(subjects)
        const { around } = dyingAt(at, when)
        const dead = await publisher(harness, author, around)
        // No client gets this answer.
        await publish(dead, author, 'new').catch(() => {})
        const { posts, inbox } = main.collections
        const stored = await posts.find({ text: 'new' }).toArray()
        const entries = await inbox.find({ '_id.post': stored[0]?._id ?? null }).toArray()
        const readers = entries.map(({ _id }) => _id.reader)
        expect(readers, call).toEqual(stored.length > 0 ? [reader, fan, author] : [])
        await takeOver(main)
        if (stored.length > 0) {
          committed.push(at)
          // An answer that was kept before is not sent any more.
          const after = await main.versions.load(subjects)
          expect(
            subjects.some((one) => after.get(one) !== before.get(one)),
            call,
          ).toBe(true)
          expect(await publish(main, author, 'new')).toBe(stored[0]?._id.toHexString())
        } else await publish(main, author, 'new')
        expect(await posts.countDocuments({ text: 'new' }), call).toBe(1)
        await rest()
        expect(await problemsOf(), call).toEqual([])
        expect(await main.collections.outbox.countDocuments()).toBe(0)
      }
      expect(committed).toEqual(when === 'before' ? [5] : [4, 5])
    },
  )

  test('while it does not know whether a post was committed leaves its permit to a worker', async () => {
    await restore(main, given)
    const dead = await publisher(harness, author, dyingAt(4, 'after').around)
    await publish(dead, author, 'new').catch(() => {})
    expect(dead.permit.current()).toBeUndefined()
    const [left] = await main.collections.outbox.find().toArray()
    expect(left).toMatchObject({ kind: 'timelines.permit', leased: expect.any(String) })
    await rest()
  })
})

describe('a process that lives', () => {
  const subjects = ['timeline:ben', 'registrations'] as const

  test.each([
    [
      'is cut off once makes all kept answers out of date before the client has its answer',
      1,
      true,
    ],
    ['keeps failing leaves its permit to a worker', Number.POSITIVE_INFINITY, false],
  ])('and whose command for the new versions %s', async (_, failures, isHeld) => {
    await restore(main, given)
    let left = failures
    const around: Around = async (label, call) => {
      if (label.startsWith('versions.') && left-- > 0) throw new Error('the socket is closed')
      return call()
    }
    const living = await publisher(harness, author, around)
    const before = await main.versions.loadOrCreate(subjects)
    await publish(living, author, 'new')
    const after = await main.versions.load(subjects)
    expect(subjects.some((one) => after.get(one) !== before.get(one))).toBe(isHeld)
    expect(living.permit.current() !== undefined).toBe(isHeld)
    living.permit.giveUp()
    await rest()
  })
})

/** Plays a race at every call of the post. @returns what is wrong at rest. */
async function everywhere(
  race: Pick<Race, 'whileHeld'> & Partial<Race>,
  strategies?: readonly MaterialisedName[],
): Promise<string[]> {
  const problems: string[] = []
  for (const [at, call] of callsOfPost.entries()) {
    const whole = { deployment: harness, main, given, author, afterwards: rest, ...race }
    await playPost(whole, at)
    problems.push(...(await problemsOf(strategies)).map((one) => `${call}: ${one}`))
  }
  return problems
}

const swap = all(unfollow(fan), follow(late), work)
const swapTogether: Step = async (services) => {
  await Promise.all([unfollow(fan)(services), follow(late)(services)])
  await work(services)
}
const leave: Step = async (services) => {
  await services.users.delete(fan)
  await settleDeletions(services.collections)
  await work(services)
}

test('a permit ends for a process that was suspended, and outlasts a wall clock that is set back', async () => {
  await restore(main, given)
  const { services } = processOver(harness, ['INBOX'], (_, call) => call())
  const wall = Date.now.bind(Date)
  await services.permit.renew()
  const setTo = (aheadMs: number) =>
    vi.spyOn(Date, 'now').mockImplementation(() => wall() + aheadMs)
  setTo(-3_600_000)
  expect(services.permit.current()).toBeDefined()
  setTo(7_000)
  expect(services.permit.current()).toBeUndefined()
  await services.permit.end()
  expect(await main.collections.outbox.countDocuments()).toBe(0)
})

describe('followers in memory', () => {
  const changes: Record<string, Step> = {
    'a user follows': all(follow(other), work),
    'a follower leaves': all(unfollow(fan), work),
    'a user follows in place of another': swap,
    'two users change places in one transaction': swapTogether,
    'a follower is blocked': all(({ restrictions }) => restrictions.block(author, fan), work),
    'a follower deletes the account': leave,
  }

  test.each(share(1, Object.entries(changes)))(
    'are current when %s in another process',
    async (_, whileHeld) => {
      expect(await everywhere({ whileHeld })).toEqual([])
    },
  )

  test('with their number as their version lack a follower, so the tests above can fail', async () => {
    const mutate = ({ stats }: Services) => {
      const right = stats.countPosts.bind(stats)
      stats.countPosts = async (tx, counts, earlier = new Map()) =>
        new Map(
          [...(await right(tx, counts))].map(([id, one]) => {
            const before = earlier.get(id)
            const isSame = before?.followers.length === one.followers
            return [id, isSame ? { ...one, audience: before.version } : one] as const
          }),
        )
    }
    const problems = await everywhere({ whileHeld: swap, mutate })
    expect(problems.join()).toContain('INBOX: eve reads')
  })

  test('of a deleted account deliver no post', async () => {
    await restore(main, given)
    const slow = await publisher(harness, author, (_, call) => call())
    await main.users.delete(author)
    const before = await main.collections.posts.countDocuments({ author })
    await expect(publish(slow, author, 'new')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await main.collections.posts.countDocuments({ author })).toBe(before)
    slow.permit.giveUp()
    await rest()
    expect(await problemsOf()).toEqual([])
  })
})

const register =
  (name: MaterialisedName): Step =>
  async (services) => {
    await services.registrations.register(name, services.configured[name])
    // The first page of a cache creates it.
    if (name === 'CACHE') {
      const window = { limit: 3, backward: false }
      await services.feed.timeline(fan, { window, strategy: name, projection: 'ref' })
    }
    await work(services)
  }
const settled = async () => {
  harness.clock.advance(permitMs)
  await rest()
}
/** A registration that waits for no process. */
const hasty =
  (step: Step): Step =>
  async (services) => {
    const { registrations, collections } = services
    const settle = async (_id: string) => {
      await collections.strategies.updateOne({ _id }, { $unset: { settlesAt: '' } })
      await collections.outbox.updateMany(backfillJobs(), { $set: { runAt: new Date(0) } })
      return true
    }
    const right = Reflect.get(registrations, 'settle')
    Object.assign(registrations, { settle })
    await step(services).finally(() => Object.assign(registrations, { settle: right }))
  }

describe.each(share(1, ['SIZED_BUCKETS', 'CACHE'] as const))('%s that is registered', (name) => {
  const strategies = ['INBOX', name] as const

  test('while a post without a job is published gets the post', async () => {
    const whileHeld: Step = async (services) => {
      await register(name)(services)
      const registration = await services.collections.strategies.findOne({ _id: name })
      expect(registration).toMatchObject({ complete: false, settlesAt: expect.any(Date) })
    }
    expect(await everywhere({ whileHeld, afterwards: settled }, strategies)).toEqual([])
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: true })
    expect(registration).not.toHaveProperty('settlesAt')
  })

  test('after a worker took over the permit of a process that lives gets the posts of that process', async () => {
    await restore(main, given)
    const { services: living } = processOver(harness, ['INBOX'], (_, call) => call())
    await living.permit.renew()
    // As if the clock of the database had stepped forward.
    await takeOver(main)
    await register(name)(main)
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: false })
    await publish(living, author, 'new')
    living.permit.giveUp()
    await settled()
    expect(await problemsOf(strategies)).toEqual([])
    expect(await main.collections.outbox.countDocuments()).toBe(0)
  })

  test('and back-filled too early lacks the post, so the test above can fail', async () => {
    const whileHeld = hasty(register(name))
    const problems = await everywhere({ whileHeld, afterwards: settled }, strategies)
    expect(problems.join()).toContain(`${name}: `)
  })

  test('without a process that publishes such posts is complete at once', async () => {
    await restore(main, given)
    await register(name)(main)
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: true })
    await rest()
  })

  test('is complete soon, also if a worker looks for jobs before it is known that nothing waits', async () => {
    await restore(main, given)
    let looks = 0
    const { services: slow, watch } = processOver(harness, ['INBOX', name], async (label, call) => {
      if (label === 'outbox.findOne' && looks++ === 0) await work(main)
      return call()
    })
    watch()
    await slow.registrations.register(name, slow.configured[name])
    expect(looks).toBe(1)
    await work(main)
    const registration = await main.collections.strategies.findOne({ _id: name })
    expect(registration).toMatchObject({ complete: true })
    expect(await main.collections.outbox.countDocuments()).toBe(0)
    await rest()
  })

  /** Registers the strategy while a process gets its permit, held at one of its calls. Then that process publishes. */
  async function permitHeldAt(at: number, mutate: (slow: Services) => Promise<void>) {
    await restore(main, given)
    const { around, calls, reached, go } = heldAt(at)
    const { services: slow, watch } = processOver(harness, ['INBOX'], around)
    await mutate(slow)
    watch()
    const renewed = slow.permit.renew()
    await Promise.race([reached, renewed])
    await register(name)(main)
    go()
    await renewed
    await publish(slow, author, 'new')
    slow.permit.giveUp()
    await settled()
    return { calls, problems: await problemsOf(strategies) }
  }

  test('while a process gets its permit gets the posts of that process', async () => {
    const { calls } = await permitHeldAt(-1, async () => {})
    expect(calls.slice(0, 2)).toEqual(['outbox.bulkWrite', 'strategies.find'])
    for (const at of [0, 1, 2])
      expect((await permitHeldAt(at, async () => {})).problems, `${at}`).toEqual([])
  })

  test('lacks posts of a process that reads it before its permit, so the test above can fail', async () => {
    const { problems } = await permitHeldAt(0, async ({ registry }) => {
      const before = await registry.read()
      registry.read = async () => before
    })
    expect(problems.join()).toContain(`${name}: `)
  })
})

describe('INBOX that is dropped while a post without a job is published', () => {
  /** @returns the entries that the drop leaves. */
  async function leftEntries(): Promise<number> {
    let left = 0
    for (const at of callsOfPost.keys()) {
      let dropped: Promise<unknown> | undefined
      const whileHeld: Step = async ({ registrations, collections }) => {
        dropped = registrations.drop('INBOX')
        await expect.poll(() => collections.strategies.countDocuments({ complete: true })).toBe(0)
        // A drop that does not wait would end now.
        await Promise.race([dropped, sleep(100)])
      }
      const afterwards: Step = async ({ collections }) => {
        harness.clock.advance(permitMs)
        await dropped
        await rest()
        left += await collections.inbox.countDocuments()
      }
      await playPost({ deployment: harness, main, given, author, whileHeld, afterwards }, at)
    }
    return left
  }

  test('leaves no entry of the post', async () => {
    expect(await leftEntries()).toBe(0)
  })

  test('and removed too early leaves entries, so the test above can fail', async () => {
    const { registrations } = main
    Object.assign(registrations, { waitForPermits: async () => {} })
    const left = await leftEntries().finally(() =>
      Reflect.deleteProperty(registrations, 'waitForPermits'),
    )
    expect(left).toBeGreaterThan(0)
  })
})
