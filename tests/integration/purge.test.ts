import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { RestrictionDoc } from '../../src/db/collections.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { JobQueue } from '../../src/jobs/queue.ts'
import { type Task, Worker } from '../../src/jobs/worker.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import type { StatsChange } from '../../src/users/stats.ts'
import { recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import {
  handle,
  openAccounts,
  problemsOf,
  settleDeletions,
  useServices,
} from '../support/services.ts'

const fansCount = 1_100
/** The most documents that one command of a purge may delete. */
const batchMax = 1_000

describe.each(sampledFollowing(0))('following by %s', (following) => {
  const harness = useServices(following)

  test('the purge of a popular account sends bounded commands and writes no history', async () => {
    const star = await popular('b-')
    const { follow_events } = harness.services.collections
    expect(await follow_events.countDocuments({ followee: star })).toBe(fansCount)
    const { commands } = await recorded(harness.database.client, harness.rest)
    const about = (name: string, collection: string) =>
      commands.filter((sent) => sent.name === name && sent.collection === collection)
    const deletes = about('delete', 'follow_events').flatMap(({ command }) => command.deletes)
    expect(deletes.length).toBeGreaterThanOrEqual(fansCount / batchMax)
    for (const { q } of deletes) expect(q._id.$in.length).toBeLessThanOrEqual(batchMax)
    expect(about('insert', 'follow_events')).toEqual([])
    expect(await follow_events.countDocuments({ followee: star })).toBe(0)
    expect(await problemsOf(harness, 'b-')).toEqual([])
  })

  test('a purge that is interrupted after every batch, more often than the attempts of a job, ends', async () => {
    await popular('c-')
    const { outbox } = harness.services.collections
    const queue = new JobQueue(outbox, { attemptsMax: 2 })
    const progress: unknown[] = []
    const cutOff: Task = async (payload, run) => {
      const save = async (checkpoint: unknown) => {
        await run.save(checkpoint)
        progress.push(checkpoint)
        throw new Error('cut off')
      }
      const { checkpoint, signal, inline, job } = run
      return harness.services.tasks['user.deleted']?.(payload, {
        checkpoint,
        save,
        signal,
        inline,
        job,
      })
    }
    const options = { concurrency: 1, pollMs: 20, leaseMs: 30_000 }
    await settleDeletions(harness.services.collections)
    for (let left = true; left; left = (await outbox.countDocuments({ state: 'READY' })) > 0) {
      await outbox.updateMany({ state: 'READY' }, { $set: { runAt: new Date(0) } })
      const tasks = { 'user.deleted': cutOff }
      await new Worker(queue, tasks, pino({ level: 'silent' }), options).drain()
    }
    expect(await outbox.countDocuments({ state: 'PARKED' })).toBe(0)
    expect(progress.length).toBeGreaterThan(2)
    expect(new Set(progress.map((one) => JSON.stringify(one))).size).toBe(progress.length)
    expect(await problemsOf(harness, 'c-')).toEqual([])
  })

  test('a purge deletes mutes and blocks in both directions', async () => {
    const { services } = harness
    const [gone, ...others] = Array.from({ length: 4 }, (_, n) => handle(`r-${n}`))
    const [muted, blocked, blocker] = others
    if (!gone || !muted || !blocked || !blocker) throw new Error('four were made')
    await openAccounts(services, [gone, ...others])
    await services.restrictions.mute(gone, muted)
    await services.restrictions.block(gone, blocked)
    await services.restrictions.block(blocker, gone)
    await services.restrictions.mute(muted, gone)
    await services.users.delete(gone)
    await harness.rest()
    const { restrictions } = services.collections
    const left = await restrictions.find({ owner: { $in: [gone, ...others] } }).toArray()
    expect(left).toEqual([])
  })

  test('a purge of an account that many mute and block deletes a bounded number at once, and tells memory', async () => {
    const { services } = harness
    const { restrictions, user_stats } = services.collections
    const gone = handle('m-gone')
    const [blockers, muters] = ['block', 'mute'].map((prefix) =>
      Array.from({ length: 450 }, (_, n) => handle(`m-${prefix}${n}`)),
    ) as [UserId[], UserId[]]
    const [one, another, muter] = [blockers[0], blockers[449], muters[0]] as [
      UserId,
      UserId,
      UserId,
    ]
    await openAccounts(services, [gone, ...blockers, ...muters])
    const mint = new IdMint(harness.clock.now)
    const side = (owner: UserId, other: UserId, kind: RestrictionDoc['kind']) => ({
      ...{ _id: toObjectId(mint.next<EdgeId>()), owner, other, kind },
    })
    await restrictions.insertMany(
      blockers.flatMap((by) => [side(by, gone, 'BLOCK'), side(gone, by, 'BLOCKED_BY')]),
    )
    await restrictions.insertMany(muters.map((by) => side(by, gone, 'MUTE')))
    // One blocks and is blocked, and is muted too.
    await services.restrictions.mute(gone, another)
    await services.restrictions.block(gone, another)
    const guards = () => user_stats.find({ _id: { $in: [one, another, muter] } }).toArray()
    const before = await guards()
    await services.users.delete(gone)
    const { commands } = await recorded(harness.database.client, harness.rest)
    const deletes = commands
      .filter(({ name, collection }) => name === 'delete' && collection === 'restrictions')
      .flatMap(({ command }) => command.deletes)
    expect(deletes.length).toBeGreaterThanOrEqual(9)
    for (const { q } of deletes) expect((q._id ?? q.owner).$in.length).toBeLessThanOrEqual(200)
    expect(await restrictions.countDocuments({ $or: [{ owner: gone }, { other: gone }] })).toBe(0)
    expect(before).toHaveLength(3)
    for (const [at, { _id, guard = 0 }] of (await guards()).entries())
      expect(guard, _id).toBeGreaterThan(before[at]?.guard ?? 0)
  })

  /** A deleted user with many followers, before the purge. */
  async function popular(prefix: string): Promise<UserId> {
    const { services, clock } = harness
    const star = handle(`${prefix}star`)
    const fans = Array.from({ length: fansCount }, (_, n) => handle(`${prefix}fan${n}`))
    await openAccounts(services, [star, ...fans])
    const mint = new IdMint(clock.now)
    const one = { following: 1 }
    const changes = new Map<UserId, StatsChange>(fans.map((fan) => [fan, one]))
    const edges = fans.map((follower) => {
      return { id: mint.next<EdgeId>(), follower, followee: star, source: 'FEEDLINE' as const }
    })
    await services.transactions.run(async (tx) => {
      await services.edges.insert(tx, edges)
      await services.stats.change(tx, changes.set(star, { followers: fansCount }))
    })
    await services.collections.restrictions.insertOne({
      _id: toObjectId(mint.next<EdgeId>()),
      owner: star,
      other: fans[0] ?? star,
      kind: 'MUTE',
    })
    await services.users.delete(star)
    return star
  }
})
