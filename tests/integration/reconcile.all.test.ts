import { MongoServerError } from 'mongodb'
import { beforeEach, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Tx } from '../../src/db/transaction.ts'
import { type ReconcileOptions, reconcile } from '../../src/integrity/reconcile.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

describe.each(sampledFollowing(0))('FOLLOWING=%s', (following) => {
  const harness = useServices(following)
  const people = Array.from({ length: 12 }, (_, n) => handle(`p${String(n).padStart(2, '0')}`))
  const [ann, ben, carl, dora] = people as [UserId, UserId, UserId, UserId]
  let post: PostId

  const run = (options: Partial<ReconcileOptions> = {}) =>
    reconcile(harness.services, { users: 'all', readers: 'all', dryRun: false, ...options })
  const statsOf = async (user: UserId) => (await harness.services.stats.byIds([user])).get(user)
  const clean = async () => {
    await harness.rest()
    expect(await problemsOf(harness, 'p')).toEqual([])
    expect((await verified(harness.services)).differences).toEqual([])
  }

  beforeEach(async () => {
    const { services } = harness
    for (const one of Object.values(services.collections)) {
      await (one as unknown as { deleteMany(filter: object): Promise<unknown> }).deleteMany({})
    }
    await openAccounts(services, people)
    for (const [n, one] of people.entries()) {
      for (const other of people.slice(n + 1, n + 4)) await services.follows.follow(one, other)
    }
    ;({ id: post } = await services.posts.create(ann, { text: 'hello' }))
    for (const one of people.slice(1, 8)) {
      await services.engagements.add('likes', one, { author: ann, id: post })
    }
    await harness.rest()
  })

  test('reconcile writes only the record of its run if no counter has drifted', async () => {
    const { result, commands } = await recorded(harness.database.client, () => run())
    const none = { drifted: 0, repaired: 0, edges: 0, accounts: 0, remaining: 0 }
    expect(result.tally).toMatchObject({ users: 12, posts: 1, ...none })
    // The documents: each edge in each collection and at both ends, the users, the post and its likes.
    const edges = await harness.services.collections.followers.countDocuments()
    const sides = following === 'collection' ? 2 * edges : 0
    expect(result.tally.documents).toBe(sides + 2 * edges + 12 + 1 + 1 + 7)
    const writes = commands.filter(({ name }) => ['insert', 'update', 'delete'].includes(name))
    expect(new Set(writes.map(({ collection }) => collection))).toEqual(
      new Set(['reconciliations']),
    )
  })

  test('reconcile changes counters by the difference, and reports the largest difference first', async () => {
    const { user_stats, posts } = harness.services.collections
    await user_stats.updateOne({ _id: ann }, { $inc: { followers: 7, following: -2 } })
    await user_stats.updateOne({ _id: ben }, { $inc: { posts: -3 } })
    await posts.updateOne({ _id: toObjectId(post) }, { $inc: { 'counts.likes': 40 } })
    const dry = await run({ dryRun: true })
    const largest = [
      { id: post, kind: 'POST', delta: { likes: -40 }, counted: { likes: 47 }, size: 40 },
      { id: ann, kind: 'USER', delta: { followers: -7, following: 2 }, size: 7, repairedEdges: 0 },
      { id: ben, kind: 'USER', delta: { posts: 3 }, counted: { posts: -3 }, size: 3 },
    ]
    expect(dry).toMatchObject({ run: undefined, tally: { drifted: 3, repaired: 0 }, largest })
    expect(await statsOf(ben)).toMatchObject({ posts: -3 })
    expect(await run()).toMatchObject({ tally: { drifted: 3, repaired: 3, remaining: 0 }, largest })
    await clean()
    expect(await run()).toMatchObject({ tally: { drifted: 0 }, largest: [] })
  })

  test('reconcile of listed users repairs these users and their posts only', async () => {
    const { user_stats, posts } = harness.services.collections
    await user_stats.updateMany({ _id: { $in: [ann, ben] } }, { $inc: { followers: 5 } })
    await posts.updateOne({ _id: toObjectId(post) }, { $inc: { 'counts.likes': 1 } })
    expect(await run({ users: [ben] })).toMatchObject({
      tally: { users: 1, drifted: 1, repaired: 1 },
    })
    expect(await statsOf(ann)).toMatchObject({ followers: 5 })
    expect(await run({ users: [ann] })).toMatchObject({
      tally: { users: 1, posts: 1, repaired: 2 },
    })
    await clean()
  })

  test('reconcile restores an edge that one collection lost, and reports a history that both contradict', async () => {
    const { collections } = harness.services
    const { followers, following: ahead, follow_events } = collections
    await followers.deleteOne({ user: ben, follower: ann })
    await ahead.deleteOne({ user: ann, followee: carl })
    await followers.deleteOne({ user: dora, follower: ann })
    await ahead.deleteOne({ user: ann, followee: dora })
    const edge = { user: ben, followee: carl }
    const [event] = await follow_events.find(edge).toArray()
    if (!event) throw new Error('no history')
    const { _id, ...rest } = event
    await follow_events.insertOne({
      ...rest,
      _id: toObjectId(`${'f'.repeat(23)}0` as PostId),
      type: 'UNFOLLOWED',
    })
    const { tally, reported } = await run()
    // With one collection, a missing edge is missing in both directions.
    const both = following === 'collection'
    expect(tally).toMatchObject({ remaining: 0, edges: both ? 2 : 0 })
    const left = await followers.find({ follower: ann }).project({ _id: 0, user: 1 }).toArray()
    expect(left.map(({ user }) => user).sort()).toEqual(both ? [ben, carl] : [carl])
    expect(await followers.findOne({ user: carl, follower: ben })).not.toBeNull()
    const lost = [...(both ? [] : [`${ann}>${ben}`]), `${ann}>${dora}`]
    const contradicted = [...lost, `${ben}>${carl}`]
    expect(reported.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual(
      contradicted.map((pair) => `history ${pair}`),
    )
    expect(tally.reported).toBe(contradicted.length)
    await harness.rest()
    const { differences } = await verified(harness.services)
    expect(differences.map(({ subject }) => subject).sort()).toEqual(contradicted)
  })

  test('reconcile reports a disordered history, and reverses no follow or unfollow', async () => {
    const { services } = harness
    const { follow_events } = services.collections
    await services.follows.follow(ben, ann)
    await services.follows.unfollow(ben, ann)
    await services.follows.unfollow(ann, carl)
    await services.follows.follow(ann, carl)
    await harness.rest()
    // The clocks of two hosts differ: the last two events of each pair have ids in reverse order.
    for (const pair of [
      { user: ben, followee: ann },
      { user: ann, followee: carl },
    ]) {
      const events = await follow_events.find(pair).sort({ _id: 1 }).toArray()
      const ids = events.map(({ _id }) => _id)
      ids.push(...ids.splice(-2).reverse())
      await follow_events.deleteMany(pair)
      await follow_events.insertMany(
        events.map((event, n) => ({ ...event, _id: ids[n] as (typeof event)['_id'] })),
      )
    }
    const stored = () =>
      Promise.all(
        (['followers', 'following', 'follow_events', 'user_stats'] as const).map((name) =>
          (services.collections[name] as unknown as typeof follow_events)
            .find({}, { projection: { repairs: 0 } })
            .sort({ _id: 1 })
            .toArray(),
        ),
      )
    const before = await stored()
    const pairs = [`${ann}>${carl}`, `${ben}>${ann}`]
    const found = (await verified(services)).differences
    expect([...new Set(found.map(({ subject }) => subject))].sort()).toEqual(pairs)
    expect(found.filter(({ unrepairable }) => unrepairable === undefined)).toEqual([])
    for (const users of ['all', [ann, ben]] as const) {
      const { tally, reported } = await run({ users })
      expect(tally).toMatchObject({ drifted: 0, edges: 0, others: 0, remaining: 0 })
      expect(tally.reported).toBe(found.length)
      expect(reported).toEqual(expect.arrayContaining(found))
    }
    expect(await stored()).toEqual(before)
  })

  test('reconcile deletes data without an account, and gives accounts their missing counters', async () => {
    const { users, user_stats, followers } = harness.services.collections
    await users.deleteOne({ _id: dora })
    await user_stats.deleteMany({ _id: { $in: [dora, ben] } })
    expect(await run()).toMatchObject({ tally: { accounts: 2, remaining: 0 } })
    harness.clock.advance(60_000)
    await harness.rest()
    expect(await users.findOne({ _id: dora })).toBeNull()
    expect(await followers.countDocuments({ $or: [{ user: dora }, { follower: dora }] })).toBe(0)
    await clean()
  })

  test('reconcile keeps writes between scan and repair, and applies no difference twice', async () => {
    const { user_stats } = harness.services.collections
    await user_stats.updateOne({ _id: people[11] as UserId }, { $inc: { followers: 10 } })
    const { client } = harness.database
    let meddled: Promise<unknown> | undefined
    const meddle = ({ commandName, command }: { commandName: string; command: object }) => {
      const isLedger = commandName === 'find' && (command as { find?: string }).find === 'repairs'
      if (!isLedger || meddled !== undefined) return
      meddled = (async () => {
        await run()
        await harness.services.follows.follow(ann, people[11] as UserId)
      })()
    }
    client.on('commandStarted', meddle)
    const [one, other] = await Promise.all([run(), run()])
    client.off('commandStarted', meddle)
    await meddled
    expect(one?.tally.remaining).toBe(0)
    expect(other?.tally.remaining).toBe(0)
    expect(await statsOf(people[11] as UserId)).toMatchObject({ followers: 4 })
    await clean()
  })

  test('an interrupted run of reconcile resumes where it was, under the same id', async () => {
    const { user_stats, reconciliations } = harness.services.collections
    await user_stats.updateMany({}, { $inc: { followers: 1 } })
    const stop = new AbortController()
    const cut = run({
      signal: stop.signal,
      onProgress: ({ part }) => part === 'users' && stop.abort(new Error('stop')),
    })
    await expect(cut).rejects.toThrow('stop')
    const [left] = await reconciliations.find().toArray()
    expect(left).toMatchObject({ part: expect.any(String), tally: { users: 12, repaired: 12 } })
    const resumed = await run()
    expect(resumed).toMatchObject({
      run: left?._id,
      tally: { users: 12, drifted: 12, repaired: 12 },
    })
    expect(await reconciliations.countDocuments()).toBe(1)
    await clean()
    expect((await run()).run).not.toBe(left?._id)
  })

  test('reconcile replaces a dropped snapshot by snapshots of fewer users', async () => {
    const { user_stats } = harness.services.collections
    await user_stats.updateMany({}, { $inc: { following: -1 } })
    const transactions = Object.create(harness.services.transactions)
    let scans = 0
    transactions.atSnapshot = async (read: (at: Tx) => Promise<unknown>) => {
      const found = await harness.services.transactions.atSnapshot(read)
      if (scans++ % 3 === 0) throw new MongoServerError({ message: 'too old', code: 239 })
      return found
    }
    const found = await reconcile(
      { ...harness.services, transactions },
      { users: 'all', readers: 'all', dryRun: false },
    )
    expect(found.tally).toMatchObject({ users: 12, repaired: 12, remaining: 0 })
    expect(found.tally.renewed).toBeGreaterThan(0)
    await clean()
  })
})
