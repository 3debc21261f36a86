import { type Document, MongoServerError } from 'mongodb'
import { beforeEach, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Tx } from '../../src/db/transaction.ts'
import { reconcile } from '../../src/integrity/run.ts'
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

  const run = () => reconcile(harness.services, { readers: 'all' })
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

  test('reconcile writes nothing if no counter has drifted', async () => {
    const { result, commands } = await recorded(harness.database.client, () => run())
    const { followers } = harness.services.collections
    const edges = await followers.countDocuments()
    const checked = { users: 12, edges, posts: 1, engagements: 7, readers: 0, timelines: 0 }
    expect(result).toMatchObject({ checked, differences: 0, inFlight: 0 })
    const writes = commands.filter(({ name }) => ['insert', 'update', 'delete'].includes(name))
    expect(writes).toEqual([])
  })

  test('reconcile changes counters by the difference', async () => {
    const { user_stats, posts } = harness.services.collections
    await user_stats.updateOne({ _id: ann }, { $inc: { followers: 7, following: -2 } })
    await user_stats.updateOne({ _id: ben }, { $inc: { posts: -3 } })
    await posts.updateOne({ _id: toObjectId(post) }, { $inc: { 'counts.likes': 40 } })
    const found = [
      { kind: 'followers', subject: ann, found: 7, expected: 0 },
      { kind: 'following', subject: ann, found: 1, expected: 3 },
      { kind: 'posts', subject: ben, found: -3, expected: 0 },
      { kind: 'counts', subject: `${post}.likes`, found: 47, expected: 7 },
    ]
    expect((await verified(harness.services)).differences).toMatchObject(found)
    expect(await statsOf(ben)).toMatchObject({ posts: -3 })
    const sample = found.map((one) => ({ ...one, repaired: true }))
    expect(await run()).toMatchObject({ differences: 4, repaired: 4, remaining: 0, sample })
    await clean()
    expect(await run()).toMatchObject({ differences: 0, sample: [] })
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
    const { byKind, remaining, unrepairable, sample } = await run()
    // With one collection, a missing edge is missing in both directions.
    const both = following === 'collection'
    expect([remaining, byKind['L3 sides']]).toEqual([0, both ? 2 : undefined])
    const left = await followers.find({ follower: ann }).project({ _id: 0, user: 1 }).toArray()
    expect(left.map(({ user }) => user).sort()).toEqual(both ? [ben, carl] : [carl])
    expect(await followers.findOne({ user: carl, follower: ben })).not.toBeNull()
    const lost = [...(both ? [] : [`${ann}>${ben}`]), `${ann}>${dora}`]
    const contradicted = [...lost, `${ben}>${carl}`]
    const reported = sample.filter((one) => !one.repaired)
    expect(reported.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual(
      contradicted.map((pair) => `history ${pair}`),
    )
    expect(unrepairable).toBe(contradicted.length)
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
    const report = await run()
    expect(report).toMatchObject({ repaired: 0, remaining: 0, unrepairable: found.length })
    expect(report.sample).toEqual(found)
    expect(await stored()).toEqual(before)
  })

  test('reconcile deletes data without an account that nothing names, and gives accounts their missing counters', async () => {
    const { users, user_stats, followers, handles, subjects } = harness.services.collections
    const edges = { $or: [{ user: dora }, { follower: dora }] }
    await users.deleteOne({ _id: dora })
    await user_stats.deleteMany({ _id: { $in: [dora, ben] } })
    expect(await run()).toMatchObject({
      ...{ remaining: 0, unrepairable: 1 },
      byKind: { 'L3 counters': 1, 'L3 no-account': 1 },
    })
    expect(await followers.countDocuments(edges)).toBeGreaterThan(0)
    for (const names of [handles, subjects]) await names.deleteMany({ account: dora })
    expect(await run()).toMatchObject({
      ...{ remaining: 0, unrepairable: 0 },
      byKind: { 'L3 no-account': 1 },
    })
    harness.clock.advance(60_000)
    await harness.rest()
    expect(await users.findOne({ _id: dora })).toBeNull()
    expect(await followers.countDocuments(edges)).toBe(0)
    await clean()
  })

  test('reconcile keeps writes between scan and repair, and applies no difference twice', async () => {
    const { user_stats } = harness.services.collections
    await user_stats.updateOne({ _id: people[11] as UserId }, { $inc: { followers: 10 } })
    const { client } = harness.database
    let meddled: Promise<unknown> | undefined
    const meddle = ({ command }: { command: object }) => {
      const { update, updates } = command as { update?: string; updates?: readonly Document[] }
      const isLedger = update === 'user_stats' && updates?.[0]?.u.$inc?.repairs === 1
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
    expect([one?.remaining, other?.remaining]).toEqual([0, 0])
    expect(await statsOf(people[11] as UserId)).toMatchObject({ followers: 4 })
    await clean()
  })

  test('an interrupted run of reconcile leaves the rest to its repeat, and adds no difference twice', async () => {
    const { user_stats } = harness.services.collections
    await user_stats.updateMany({}, { $inc: { followers: 1 } })
    const stop = new AbortController()
    const { client } = harness.database
    const onUpdate = ({ command }: { command: object }) => {
      if ((command as { update?: string }).update === 'user_stats') stop.abort(new Error('stop'))
    }
    client.on('commandStarted', onUpdate)
    const cut = reconcile(harness.services, { readers: 'all', signal: stop.signal })
    await expect(cut).rejects.toThrow('stop')
    client.off('commandStarted', onUpdate)
    const { differences } = await run()
    expect(differences).toBeLessThanOrEqual(12)
    await clean()
    expect(await run()).toMatchObject({ differences: 0 })
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
    const report = await reconcile({ ...harness.services, transactions }, { readers: 'all' })
    expect(report).toMatchObject({ checked: { users: 12 }, repaired: 12, remaining: 0 })
    expect(scans).toBeGreaterThan(3)
    await clean()
  })
})
