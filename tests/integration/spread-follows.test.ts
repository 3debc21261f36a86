import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { type Failure, failCommand, recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'
import { resultOf } from '../support/shared-follows.ts'

let scenes = 0

describe.each(sampledFollowing(0))('following by %s', (following) => {
  const harness = useServices(following)
  const mirror = following === 'collection' ? ['following'] : []
  // Follows have jobs while a strategy stores timelines.
  beforeAll(async () => {
    const { registrations, configured } = harness.services
    await registrations.register('INBOX', configured.INBOX)
    await harness.rest()
    // Memory holds the registrations.
    await harness.services.needsJobs()
  })

  /** Opens accounts with handles of one prefix. */
  async function newUsers(count: number) {
    const prefix = `sf${scenes++}-`
    const users = Array.from({ length: count }, (_, n) => handle(`${prefix}${n}`))
    await openAccounts(harness.services, users)
    return { prefix, users }
  }
  /** As {@link newUsers}, in pairs of a follower and a followee. */
  async function newPairs(count: number) {
    const { prefix, users } = await newUsers(2 * count)
    const pairs = Array.from({ length: count }, (_, n) => [users[2 * n], users[2 * n + 1]])
    return { prefix, pairs: pairs as [UserId, UserId][] }
  }
  const keyOf = (fan: UserId, followee: UserId, clientMutationId: string) =>
    createIdempotencyKey(fan, 'followUser', { clientMutationId, handle: followee } as never)
  const follow = (fan: UserId, followee: UserId, id?: string) =>
    harness.services.follows.follow(
      fan,
      followee,
      id === undefined ? undefined : keyOf(fan, followee, id),
    )
  const unfollow = (fan: UserId, followee: UserId) =>
    harness.services.follows.unfollow(fan, followee)
  const followAll = (pairs: readonly (readonly [UserId, UserId])[], id?: string) =>
    Promise.all(pairs.map(([fan, followee]) => follow(fan, followee, id)))
  /** The pairs that both directions of the graph have, of users with a prefix. */
  const storedPairs = async (prefix: string) => {
    const user = new RegExp(`^${prefix}`)
    const docs = await harness.services.collections.followers.find({ user }).toArray()
    return docs.map((doc) => `${doc.follower}>${doc.user}`).sort()
  }
  const namesOf = (pairs: readonly (readonly [UserId, UserId])[]) =>
    pairs.map(([fan, followee]) => `${fan}>${followee}`).sort()
  const commits = (labels: readonly string[]) =>
    labels.filter((label) => label === 'commitTransaction').length

  test('follows of 16 accounts that arrive together share one transaction, as do unfollows', async () => {
    const { prefix, pairs } = await newPairs(16)
    const { client } = harness.database
    const came = await recorded(client, () => followAll(pairs, 'once'))
    expect(
      came.result.map(({ changed, edge }) => [changed, edge?.follower, edge?.followee]),
    ).toEqual(pairs.map(([fan, followee]) => [true, fan, followee]))
    const written = ['followers', ...mirror]
    expect(labelsOf(came.commands)).toEqual(
      [
        'commitTransaction',
        'insert follow_events',
        ...written.map((name) => `insert ${name}`),
        'insert idempotency_keys',
        'read follow_events',
        'read restrictions',
        'read users',
        'update outbox',
        'update user_stats',
      ].sort(),
    )
    expect(await problemsOf(harness, prefix)).toEqual([])
    const jobs = await harness.services.collections.outbox.find({}).toArray()
    expect(jobs.map(({ payload }) => `${payload.follower}>${payload.followee}`).sort()).toEqual(
      namesOf(pairs),
    )

    const went = await recorded(client, () =>
      Promise.all(pairs.map(([fan, followee]) => unfollow(fan, followee))),
    )
    expect(went.result.map(({ changed }) => changed)).toEqual(pairs.map(() => true))
    expect(labelsOf(went.commands)).toEqual(
      [
        'commitTransaction',
        ...written.map((name) => `delete ${name}`),
        'insert follow_events',
        'read follow_events',
        'read followers',
        'update outbox',
        'update user_stats',
      ].sort(),
    )
    await harness.rest()
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('follows of the seventeenth account are in another transaction', async () => {
    const { prefix, pairs } = await newPairs(18)
    const { commands } = await recorded(harness.database.client, () => followAll(pairs))
    expect(commits(labelsOf(commands))).toBe(2)
    expect(await storedPairs(prefix)).toEqual(namesOf(pairs))
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('follows in a ring, of each other and by one user keep all counters in one transaction', async () => {
    const { prefix, users } = await newUsers(6)
    const [hub] = users as [UserId]
    const at = (n: number) => users[n % users.length] as UserId
    const ring = users.map((user, n) => [user, at(n + 1)] as const)
    const back = users.map((user, n) => [at(n + 1), user] as const)
    const spokes = users.slice(2, -1).map((user) => [hub, user] as const)
    const pairs = [...ring, ...back, ...spokes]
    const { commands, result } = await recorded(harness.database.client, () => followAll(pairs))
    expect(result.every(({ changed }) => changed)).toBe(true)
    expect(commits(labelsOf(commands))).toBe(1)
    expect(await storedPairs(prefix)).toEqual(namesOf(pairs))
    expect(await problemsOf(harness, prefix)).toEqual([])
    // Unfollows and follows whose counters add up to nothing.
    await Promise.all([
      unfollow(hub, at(1)),
      unfollow(at(1), hub),
      ...[2, 3].map((n) => follow(at(1), at(n + 1))),
    ])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('writes of several pairs apply in the order of their arrival', async () => {
    const { prefix, users } = await newUsers(3)
    const [ann, ben, cat] = users as [UserId, UserId, UserId]
    const { result, commands } = await recorded(harness.database.client, () =>
      Promise.all([
        follow(ann, ben),
        follow(ann, cat),
        unfollow(ann, ben),
        follow(ann, ben),
        unfollow(ann, cat),
        unfollow(ann, cat),
        follow(ben, ann),
      ]),
    )
    expect(result.map(({ changed }) => changed)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      true,
    ])
    expect(commits(labelsOf(commands))).toBe(1)
    expect(await storedPairs(prefix)).toEqual(
      namesOf([
        [ann, ben],
        [ben, ann],
      ]),
    )
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('each refused follow among follows of several accounts fails alone', async () => {
    const { prefix, pairs } = await newPairs(5)
    const [[blocker, blocked], [muter, muted], [fan, gone], ...others] = pairs as [
      [UserId, UserId],
      [UserId, UserId],
      [UserId, UserId],
      ...[UserId, UserId][],
    ]
    const { restrictions, users, collections } = harness.services
    await restrictions.block(blocker, blocked)
    await restrictions.mute(muter, muted)
    await users.delete(gone)
    const stranger = handle(`${prefix}stranger`)
    const { result, commands } = await recorded(harness.database.client, () =>
      Promise.all([
        resultOf(follow(blocker, blocked)),
        resultOf(follow(blocked, blocker)),
        resultOf(follow(muter, muted)),
        resultOf(follow(fan, gone)),
        resultOf(follow(stranger, fan)),
        ...others.map(([one, other]) => resultOf(follow(one, other))),
      ]),
    )
    const codes = result.map(({ code, result: found }) => code ?? found?.changed)
    expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN', true, 'NOT_FOUND', 'NOT_FOUND', true, true])
    expect(commits(labelsOf(commands))).toBe(1)
    await harness.rest()
    expect(await storedPairs(prefix)).toEqual(namesOf([[muter, muted], ...others]))
    expect(await collections.user_stats.countDocuments({ _id: { $in: [gone, stranger] } })).toBe(0)
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('a clientMutationId takes effect once in a shared transaction, whatever account it follows', async () => {
    const { prefix, users } = await newUsers(5)
    const [ann, ben, cat, dan, eve] = users as [UserId, UserId, UserId, UserId, UserId]
    await harness.services.restrictions.block(dan, eve)
    const { result: outcomes, commands } = await recorded(harness.database.client, () =>
      Promise.all([
        resultOf(follow(ann, ben, 'm')),
        resultOf(follow(ann, cat, 'm')),
        resultOf(follow(ann, ben, 'm')),
        resultOf(follow(cat, ben, 'm')),
        // A refused write leaves no record, so the next one with its id is the first.
        resultOf(follow(dan, eve, 'm')),
        resultOf(follow(dan, ann, 'm')),
      ]),
    )
    expect(commits(labelsOf(commands))).toBe(1)
    const codes = outcomes.map(({ code, result }) => code ?? result?.changed)
    expect(codes).toEqual([true, 'CONFLICT', true, true, 'FORBIDDEN', true])
    expect(await storedPairs(prefix)).toEqual(
      namesOf([
        [ann, ben],
        [cat, ben],
        [dan, ann],
      ]),
    )
    const later = await Promise.all([
      resultOf(follow(ann, ben, 'm')),
      resultOf(follow(ann, cat, 'm')),
      resultOf(follow(dan, ann, 'm')),
    ])
    expect(later.map(({ code, result }) => code ?? result)).toEqual([
      { changed: true, isRepeat: true },
      'CONFLICT',
      { changed: true, isRepeat: true },
    ])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  const failures: Readonly<Record<string, Partial<Failure>>> = {
    'collides with another write': {
      errorCode: 112,
      errorLabels: ['TransientTransactionError'],
    },
    'is refused a unique value': { errorCode: 11_000 },
    'fails for a reason of one account': { errorCode: 8000 },
  }

  test.each(Object.entries(failures))(
    'each account is followed alone, and once, after a shared transaction that %s',
    async (_, failure) => {
      for (const [command, collection] of [
        ['insert', 'followers'],
        ['update', 'user_stats'],
        ['update', 'outbox'],
      ] as const) {
        // Until then, no accounts share a transaction after the last collision.
        await sleep(150)
        const { prefix, pairs } = await newPairs(4)
        const namespace = `${harness.database.name}.${collection}`
        await using _failing = await failCommand(harness.database.client, {
          failCommands: [command],
          namespace,
          times: 1,
          ...failure,
        })
        const { result, commands } = await recorded(harness.database.client, () =>
          followAll(pairs, 'once'),
        )
        expect(result.every(({ changed }) => changed)).toBe(true)
        expect(commits(labelsOf(commands)), `${command} ${collection}`).toBe(pairs.length)
        expect(await storedPairs(prefix)).toEqual(namesOf(pairs))
        expect(await problemsOf(harness, prefix)).toEqual([])
      }
      await harness.rest()
    },
  )

  test('the locked counters of one follower, or of one followee, delay no other follow', async () => {
    for (const side of [0, 1] as const) {
      const { prefix, pairs } = await newPairs(4)
      const [stuck, ...others] = pairs as [[UserId, UserId], ...[UserId, UserId][]]
      const session = harness.database.client.startSession()
      session.startTransaction()
      const { user_stats } = harness.services.collections
      await user_stats.updateOne({ _id: stuck[side] }, { $inc: { guard: 1 } }, { session })
      const late = follow(...stuck)
      const done = await followAll(others)
      expect(done.every(({ changed }) => changed)).toBe(true)
      await session.abortTransaction()
      await session.endSession()
      expect(await late).toMatchObject({ changed: true })
      expect(await storedPairs(prefix)).toEqual(namesOf(pairs))
      expect(await problemsOf(harness, prefix)).toEqual([])
    }
  })

  if (following === 'collection')
    test('an edge in only one collection fails no follow of another account, and is restored', async () => {
      const { prefix, pairs } = await newPairs(5)
      const [[fan, followee]] = pairs as [[UserId, UserId]]
      const { collections, mint } = harness.services
      const _id = toObjectId(mint.next())
      await collections.following.insertOne({ _id, user: fan, followee, source: 'FEEDLINE' })
      expect((await followAll(pairs)).every(({ changed }) => changed)).toBe(true)
      expect(await problemsOf(harness, prefix)).toEqual([])
    })

  test('a malformed edge fails no follow of another account', async () => {
    const { prefix, pairs } = await newPairs(5)
    const [[fan, followee], ...others] = pairs as [[UserId, UserId], ...[UserId, UserId][]]
    const malformed = { _id: `${prefix}text`, user: followee, follower: fan, source: 'FEEDLINE' }
    const { followers } = harness.services.collections
    await followers.insertOne(malformed as never, { bypassDocumentValidation: true })
    const settled = await Promise.allSettled(pairs.map((pair) => follow(...pair)))
    expect(settled.map(({ status }) => status)).toEqual([
      'rejected',
      ...others.map(() => 'fulfilled'),
    ])
    await followers.deleteOne({ user: followee, follower: fan })
    expect(await storedPairs(prefix)).toEqual(namesOf(others))
    expect(await problemsOf(harness, prefix)).toEqual([])
  })
})

describe('the jobs of follows that are committed together', () => {
  const harness = useServices('collection', undefined, { maintained: ['INBOX', 'CACHE'] })

  test('add the posts of each followee to its follower alone, also of followees with many posts', async () => {
    const { services } = harness
    const { collections, mint, posts, follows } = services
    const prefix = `sj${scenes++}-`
    const counts = [0, 1, 3, 600]
    const [fans, authors] = ['fan', 'author'].map((name) =>
      counts.map((_, n) => handle(`${prefix}${name}${n}`)),
    ) as [UserId[], UserId[]]
    await openAccounts(services, [...fans, ...authors])
    for (const [at, count] of counts.entries()) {
      const author = authors[at] as UserId
      const docs = Array.from({ length: count }, () => ({
        _id: toObjectId(mint.next()),
        author,
        text: 'hello',
      }))
      if (docs.length > 0) await collections.posts.insertMany(docs)
    }
    const deleted = await posts.create(authors[2] as UserId, { text: 'gone' })
    await collections.posts.deleteOne({ _id: toObjectId(deleted.id) })
    await Promise.all(fans.map((fan, at) => follows.follow(fan, authors[at] as UserId)))
    await harness.rest()
    for (const [at, fan] of fans.entries()) {
      const entries = await collections.inbox.find({ '_id.reader': fan }).toArray()
      expect(entries).toHaveLength(counts[at] as number)
      expect(entries.every(({ author }) => author === authors[at])).toBe(true)
    }
  })
})
