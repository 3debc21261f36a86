import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createIdempotencyKey, type IdempotencyKey } from '../../src/db/idempotency.ts'
import type { Tx } from '../../src/db/transaction.ts'
import type { FollowChange } from '../../src/follows/decide-follow.ts'
import { Follows } from '../../src/follows/follows.ts'
import { Restrictions } from '../../src/follows/restrictions.ts'
import { IdMint, type UserId } from '../../src/lib/ids.ts'
import type { Pair } from '../../src/visibility/visibility.ts'
import { sameLimits } from '../support/engagement.ts'
import { persist } from '../support/eventually.ts'
import { recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import {
  admissionWith,
  handle,
  problemsOf,
  servicesOver,
  useServices,
} from '../support/services.ts'
import { newScene, resultOf } from '../support/shared-follows.ts'

const limits = sameLimits({ threshold: 3, capacity: 2 })
describe.each(sampledFollowing(1))('following by %s', (following) => {
  const harness = useServices(following)
  const secondCollection = following === 'collection' ? 1 : 0

  test('64 concurrent follows, and 64 unfollows, of one account share one transaction each', async () => {
    const { follows, stats } = harness.services
    const { prefix, star, fans } = await newScene(harness, 64)
    const { client } = harness.database
    // Memory holds the registrations.
    await harness.services.needsJobs()

    const came = await recorded(client, () =>
      Promise.all(fans.map((fan) => follows.follow(fan, star))),
    )
    expect(came.result.map(({ changed, edge }) => [changed, edge?.follower])).toEqual(
      fans.map((fan) => [true, fan]),
    )
    expect(came.commands).toHaveLength(6 + secondCollection)
    const counted = came.commands.filter(({ collection }) => collection === 'user_stats')
    const ofStar = counted.flatMap(({ command }) =>
      (command.updates ?? []).flatMap(({ q, u }: { q: { _id: string }; u: object }) =>
        q._id === star ? [u] : [],
      ),
    )
    expect(ofStar).toEqual([{ $inc: { followers: 64 } }])
    expect((await stats.byIds([star])).get(star)).toMatchObject({ followers: 64 })
    expect(await problemsOf(harness, prefix)).toEqual([])

    const went = await recorded(client, () =>
      Promise.all(fans.map((fan) => follows.unfollow(fan, star))),
    )
    expect(went.result.map(({ changed }) => changed)).toEqual(fans.map(() => true))
    expect(went.commands).toHaveLength(6 + secondCollection)
    expect((await stats.byIds([star])).get(star)).toMatchObject({ followers: 0 })
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('follows of three processes beyond the batch size keep the counters exact', async () => {
    const { prefix, star, fans } = await newScene(harness, 200)
    const processes = [0, 1, 2].map(() =>
      servicesOver(harness.database, harness.clock, limits, following),
    )
    const outcomes = await Promise.all(
      fans.map((fan, at) =>
        resultOf(persist(() => (processes[at % 3] ?? harness.services).follows.follow(fan, star))),
      ),
    )
    expect(outcomes.flatMap(({ code }) => code ?? [])).toEqual([])
    const { stats } = harness.services
    expect((await stats.byIds([star])).get(star)).toMatchObject({ followers: 200 })
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('each follow in a batch gets its own result, independent of the other follows', async () => {
    const { services } = harness
    const { follows, restrictions } = services
    const { prefix, star, opener, fans } = await newScene(harness, 6)
    const [blocked, blocker, old, leaver, muter, fan] = fans as [
      UserId,
      UserId,
      UserId,
      UserId,
      UserId,
      UserId,
    ]
    await restrictions.block(star, blocked)
    await restrictions.block(blocker, star)
    await restrictions.mute(muter, star)
    const before = await follows.follow(old, star)
    await follows.follow(leaver, star)
    const nobody = handle(`${prefix}nobody`)
    const outcomes = await Promise.all([
      resultOf(follows.follow(opener, star)),
      resultOf(follows.follow(blocked, star)),
      resultOf(follows.follow(blocker, star)),
      resultOf(follows.follow(nobody, star)),
      resultOf(follows.follow(star, star)),
      resultOf(follows.follow(old, star)),
      resultOf(follows.unfollow(leaver, star)),
      resultOf(follows.unfollow(blocked, star)),
      resultOf(follows.follow(muter, star)),
      resultOf(follows.follow(fan, star, undefined, 'TWITTER')),
    ])
    const forbidden = {
      code: 'FORBIDDEN',
      message: expect.stringMatching('cannot follow this user'),
    }
    expect(outcomes).toEqual([
      { result: { changed: true, edge: expect.objectContaining({ follower: opener }) } },
      forbidden,
      forbidden,
      { code: 'NOT_FOUND', message: expect.stringMatching('no account yet') },
      { code: 'BAD_USER_INPUT', message: expect.stringMatching('yourself') },
      { result: { changed: false, edge: before.edge } },
      { result: { changed: true, edge: expect.objectContaining({ follower: leaver }) } },
      { result: { changed: false } },
      { result: { changed: true, edge: expect.objectContaining({ follower: muter }) } },
      {
        result: {
          changed: true,
          edge: expect.objectContaining({ follower: fan, source: 'TWITTER' }),
        },
      },
    ])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('all follows of a missing account get NOT_FOUND', async () => {
    const { follows } = harness.services
    const { prefix, fans } = await newScene(harness, 5)
    const nobody = handle(`${prefix}nobody`)
    const outcomes = await Promise.all([
      ...fans.map((fan) => resultOf(follows.follow(fan, nobody))),
      resultOf(follows.unfollow(fans[0] as UserId, nobody)),
    ])
    const missing = { code: 'NOT_FOUND', message: 'There is no such user' }
    expect(outcomes).toEqual([...fans.map(() => missing), { result: { changed: false } }])
  })

  test('follows and unfollows of one pair apply in the order of their arrival', async () => {
    const { follows } = harness.services
    const { prefix, star, fans } = await newScene(harness, 16)
    // Every order of four writes, one order for each of 16 users: together one batch.
    const comes = (fan: number, at: number) => ((fan >> at) & 1) === 1
    const writes = [0, 1, 2, 3].flatMap((at) =>
      fans.map((user, fan) => ({ user, comes: comes(fan, at) })),
    )
    const commits = await recorded(harness.database.client, () =>
      Promise.all(
        writes.map(({ user, comes }) =>
          comes ? follows.follow(user, star) : follows.unfollow(user, star),
        ),
      ),
    )
    const expected: FollowChange[] = []
    const edges = new Map<UserId, FollowChange['edge']>()
    for (const [at, { user, comes }] of writes.entries()) {
      const edge = edges.get(user)
      const made = commits.result[at]?.edge
      if (comes) {
        expected.push(
          edge
            ? { changed: false, edge }
            : { changed: true, edge: expect.objectContaining({ follower: user }) },
        )
        edges.set(user, edge ?? made)
      } else {
        expected.push(edge ? { changed: true, edge } : { changed: false })
        edges.delete(user)
      }
    }
    expect(commits.result).toEqual(expected)
    expect(commits.commands.filter(({ name }) => name === 'commitTransaction')).toHaveLength(1)
    expect(await problemsOf(harness, prefix)).toEqual([])
    await harness.rest()
  })
})

describe('idempotency keys and jobs in a batch', () => {
  const harness = useServices()
  const key = (viewer: UserId, mutation: string, id: string): IdempotencyKey =>
    createIdempotencyKey(viewer, mutation, { clientMutationId: id }) as IdempotencyKey

  /** The result of a repeat, which reads the edge again. */
  const repeated = { result: { changed: true, isRepeat: true } }

  test('a repeated idempotency key in a follow batch takes effect once, and a repeat says the same', async () => {
    const { follows, collections } = harness.services
    const { prefix, star, opener, fans } = await newScene(harness, 3)
    const [fan, other, blocked] = fans as [UserId, UserId, UserId]
    await harness.services.restrictions.block(star, blocked)
    const follow = (user: UserId, id = 'm') =>
      resultOf(follows.follow(user, star, key(user, 'follow', id)))
    const unfollow = (user: UserId, id: string) =>
      resultOf(follows.unfollow(user, star, key(user, 'unfollow', id)))
    const [, first, left, repeat, late, again, own, conflict, refused, twice] = await Promise.all([
      follow(opener),
      follow(fan),
      unfollow(fan, 'u'),
      follow(fan),
      unfollow(fan, 'u'),
      follow(fan, 'm2'),
      follow(other),
      unfollow(other, 'm'),
      follow(blocked),
      follow(blocked),
    ])
    expect(first).toMatchObject({ result: { changed: true, edge: { follower: fan } } })
    expect(repeat).toEqual(repeated)
    expect(left).toEqual(first)
    expect(late).toEqual(repeated)
    expect(again).toMatchObject({ result: { changed: true } })
    expect(again).not.toEqual(first)
    expect(own).toMatchObject({ result: { changed: true, edge: { follower: other } } })
    expect(conflict).toMatchObject({ code: 'CONFLICT' })
    expect([refused.code, twice.code]).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    // Repeats later, alone and in a batch.
    expect(await follow(fan)).toEqual(repeated)
    const [, later] = await Promise.all([follow(opener), follow(fan), unfollow(other, 'u')])
    expect(later).toEqual(repeated)
    await harness.services.restrictions.unblock(star, blocked)
    expect(await follow(blocked)).toMatchObject({ result: { changed: true } })
    expect(await collections.idempotency_keys.countDocuments({ '_id.viewer': fan })).toBe(3)
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('the same idempotency keys in batches of two processes take effect once', async () => {
    const { prefix, star, fans } = await newScene(harness, 20)
    const processes = [0, 1].map(() => servicesOver(harness.database, harness.clock, limits))
    const [one = [], two = []] = await Promise.all(
      processes.map(({ follows }) =>
        Promise.all(
          fans.map((fan) => resultOf(follows.follow(fan, star, key(fan, 'follow', 'm')))),
        ),
      ),
    )
    for (const [at, fan] of fans.entries()) {
      const first = { result: { changed: true, edge: expect.objectContaining({ follower: fan }) } }
      expect([one[at], two[at]]).toEqual(expect.arrayContaining([first, repeated]))
    }
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('a follow conflicts with a deletion even if the followee’s counter does not change', async () => {
    const { services } = harness
    const { collections, edges, stats, outbox, transactions, users } = services
    const { prefix, star, opener, fans } = await newScene(harness, 2)
    const [comer, leaver] = fans as [UserId, UserId]
    await services.follows.follow(leaver, star)
    const mint = new IdMint(harness.clock.now)
    class Interrupted extends Restrictions {
      private interrupt: (() => Promise<unknown>) | undefined = () => users.delete(star)

      override async restrictionsBetween(pairs: readonly Pair[], tx: Tx) {
        const found = await super.restrictionsBetween(pairs, tx)
        const isOurs = pairs.some(({ viewer }) => viewer === comer)
        if (isOurs) await this.interrupt?.()
        if (isOurs) this.interrupt = undefined
        return found
      }
    }
    const { now } = harness.clock
    const parts = { collections, edges, stats, outbox, transactions, mint, now }
    const admission = admissionWith(services, new Interrupted(parts))
    const follows = new Follows({
      ...parts,
      needsJobs: services.needsJobs,
      admission,
      followeesMax: 100,
    })
    const first = await resultOf(follows.follow(opener, star))
    const others = await Promise.all([
      resultOf(follows.follow(comer, star)),
      resultOf(follows.unfollow(leaver, star)),
    ])
    expect([first, ...others]).toMatchObject([
      { result: { changed: true } },
      { code: 'NOT_FOUND', message: 'There is no such user' },
      { result: { changed: true } },
    ])
    await harness.rest()
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('the process runs the job of each follow before the answer, as long as it has free slots', async () => {
    const { star, opener, fans } = await newScene(harness, 40)
    await harness.rest()
    const services = servicesOver(harness.database, harness.clock, limits)
    const ran: unknown[] = []
    const created = async ({ follower }: Record<string, unknown>) => void ran.push(follower)
    services.inline.start({ 'follow.created': created }, pino({ level: 'silent' }))
    const few = fans.slice(0, 8)
    await Promise.all(
      [opener, ...few].map(async (fan) => {
        await services.follows.follow(fan, star)
        expect(ran).toContain(fan)
      }),
    )
    expect(ran).toHaveLength(9)
    expect(await services.collections.outbox.countDocuments()).toBe(0)
    const many = fans.slice(8)
    await Promise.all(many.map((fan) => services.follows.follow(fan, star)))
    const left = await services.collections.outbox.find().toArray()
    const names = [...ran, ...left.map(({ payload }) => payload.follower)]
    expect(left.length).toBeGreaterThan(0)
    expect([...names].sort()).toEqual([opener, ...fans].sort())
    await harness.rest()
  })
})
