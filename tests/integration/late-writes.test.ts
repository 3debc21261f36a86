import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tooLate, writesSettleMs } from '../../src/db/deadline.ts'
import type { Pause } from '../../src/jobs/runner.ts'
import { type EngagementId, IdMint, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { engagementProblems, sameLimits, walked } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { gate } from '../support/jobs.ts'
import { failCommand } from '../support/mongo.ts'
import {
  handle,
  openAccounts,
  servicesOver,
  settleDeletions,
  useServices,
} from '../support/services.ts'

const limits = sameLimits({ threshold: 1, capacity: 2 })
const harness = useServices('collection', limits)
let scenes = 0
const mint = new IdMint(Date.now)
const newId = () => mint.next<EngagementId>()

/** A post with `likes` likes, and a user who has not liked it yet. */
async function newScene(likes: number) {
  const prefix = `late${scenes++}-`
  const users = Array.from({ length: likes + 2 }, (_, n) => handle(`${prefix}u${n}`))
  await openAccounts(harness.services, users)
  const [author, ben, ...fans] = users as [UserId, UserId, ...UserId[]]
  await harness.services.collections.users.updateOne({ _id: ben }, { $set: { name: 'Ben' } })
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  const post = { id, author }
  for (const fan of fans) await harness.services.engagements.add('likes', fan, post)
  return { post, ben, fans, likers: async () => likersOf(post) }
}

const likersOf = async (post: Parameters<typeof walked>[2]) =>
  (await walked(harness.services, 'likes', post)).map(({ actor }) => actor)

/** Services whose calls pass through `before`. */
function watched(before: (call: Call) => Promise<void>, behindMs = 0) {
  const { client, db } = harness.database
  const clock = { ...harness.clock, now: () => harness.clock.now() - behindMs }
  return servicesOver({ client, db: intercepted(db, { before }) }, clock, limits)
}

const run = {
  checkpoint: undefined,
  save: async () => {},
  signal: new AbortController().signal,
  inline: false,
}

test.each([0, 3])('a like that arrives too late is refused, next to %d likes', async (likes) => {
  const { post, ben, fans, likers } = await newScene(likes)
  // A write that is delayed for 13 seconds has an id of 13 seconds ago.
  const held = watched(async () => {}, 13_000)
  await expect(held.engagements.add('likes', ben, post)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('Nothing was changed'),
  })
  expect((await likers()).sort()).toEqual([...fans].sort())
  const { engagements_by_user } = harness.services.collections
  expect(await engagements_by_user.countDocuments({ user: ben })).toBe(1)
  await held.engagements.unsure.settle(0)
  expect(await engagements_by_user.countDocuments({ user: ben })).toBe(0)
})

test('the by-user entry of a refused like is deleted later if its deletion fails', async () => {
  const { post, ben } = await newScene(0)
  const { services } = harness
  await services.restrictions.block(post.author, ben)
  {
    await using _ = await failCommand(harness.database.client, {
      failCommands: ['delete'],
      errorCode: 8000,
    })
    await expect(services.engagements.add('likes', ben, post)).rejects.toThrow()
  }
  const { engagements_by_user } = services.collections
  expect(await engagements_by_user.countDocuments({ user: ben })).toBe(1)
  await services.engagements.unsure.settle(0)
  expect(await engagements_by_user.countDocuments({ user: ben })).toBe(0)
})

test('the by-user entry of a stored like stays when unsure likes are settled', async () => {
  const { post, ben } = await newScene(0)
  const { engagements, collections } = harness.services
  const { entry } = await engagements.add('likes', ben, post)
  if (!entry) throw new Error('the like has an entry')
  engagements.unsure.add({ id: entry.id, user: ben, kind: 'likes', post })
  await engagements.unsure.settle(0)
  expect(await collections.engagements_by_user.countDocuments({ user: ben })).toBe(1)
})

test('settling keeps the by-user entry of a stored like beside one of the same post with a forged author', async () => {
  const { post, ben } = await newScene(1)
  const { engagements, collections } = harness.services
  const { entry } = await engagements.add('likes', ben, post)
  const like = { id: entry.id, user: ben, kind: 'likes', post } as const
  engagements.unsure.add(like)
  engagements.unsure.add({ ...like, id: newId(), post: { id: post.id, author: ben } })
  await engagements.unsure.settle(0)
  expect(await collections.engagements_by_user.countDocuments({ user: ben })).toBe(1)
})

test('a purge collides with a like whose transaction is open, and removes it', async () => {
  const { post, ben, fans, likers } = await newScene(2)
  const [reached, going] = [gate(), gate()]
  const held = watched(async ({ collection, method, args }) => {
    if (collection !== 'overflow' || method !== 'bulkWrite' || !args[1]?.session) return
    reached.open()
    await going.opened
  })
  const like = held.engagements.add('likes', ben, post)
  await reached.opened
  await harness.services.users.delete(ben)
  await settleDeletions(harness.services.collections)
  const purge = harness.services.tasks['user.deleted']?.({ user: ben }, run)
  // The purge waits for the lock of the post. Otherwise the like would survive it.
  await new Promise((resolve) => setTimeout(resolve, 200))
  going.open()
  await like.catch(() => {})
  await purge
  await harness.rest()
  expect((await likers()).sort()).toEqual([...fans].sort())
  expect(await engagementProblems(harness.services, { threshold: 1, capacity: 2 }, [post])).toEqual(
    [],
  )
})

test('a purge that is delayed past its lease deletes nothing of the next owner', async () => {
  const { post, ben } = await newScene(0)
  const { services } = harness
  const other = handle(`${ben}-other`)
  await openAccounts(services, [other])
  await services.engagements.add('likes', ben, post)
  await services.restrictions.block(ben, other)
  await services.users.delete(ben)
  await settleDeletions(services.collections)
  // One purge is held before it deletes a block, another before it removes the like.
  const moments = [
    ({ collection, method }: Call) => collection === 'restrictions' && method === 'deleteMany',
    ({ collection, method }: Call) => collection === 'posts' && method === 'findOneAndUpdate',
  ]
  const stale: Promise<unknown>[] = []
  const goOn: (() => void)[] = []
  for (const isMoment of moments) {
    const [reached, going] = [gate(), gate()]
    const held = watched(async (call) => {
      if (!isMoment(call)) return
      reached.open()
      await going.opened
    })
    stale.push(Promise.resolve(held.tasks['user.deleted']?.({ user: ben }, run)))
    await reached.opened
    goOn.push(going.open)
    // The second purge is held at the like only after another purge deleted the block.
    if (stale.length === 1) {
      await services.collections.restrictions.deleteMany({ owner: ben })
      await services.collections.restrictions.deleteMany({ owner: other })
    }
  }
  await harness.rest()
  await services.users.create(ben, { name: 'Another Ben' })
  await services.engagements.add('likes', ben, post)
  await services.restrictions.block(ben, other)
  for (const open of goOn) open()
  await Promise.all(stale)
  expect(await likersOf(post)).toEqual([ben])
  expect(await services.collections.engagements_by_user.countDocuments({ user: ben })).toBe(1)
  const { restrictions } = services.collections
  expect(await restrictions.countDocuments({ owner: other, other: ben, kind: 'BLOCKED_BY' })).toBe(
    1,
  )
  expect((await services.posts.byRefs([post])).get(post.id)?.likeCount).toBe(1)
})

test('a delayed purge does not release the handle of a next owner who is also deleted', async () => {
  const { ben } = await newScene(0)
  const { services } = harness
  await services.users.delete(ben)
  await settleDeletions(services.collections)
  const [reached, going] = [gate(), gate()]
  const held = watched(async ({ collection, method }) => {
    if (collection !== 'users' || method !== 'deleteOne') return
    reached.open()
    await going.opened
  })
  const stale = held.tasks['user.deleted']?.({ user: ben }, run)
  await reached.opened
  await harness.rest()
  await services.users.create(ben, { name: 'Another Ben' })
  await services.users.delete(ben)
  going.open()
  await stale
  expect(await services.collections.users.countDocuments({ _id: ben })).toBe(1)
  await harness.rest()
  expect(await services.collections.users.countDocuments({ _id: ben })).toBe(0)
})

test('a like that waits for the owner of its post is never the like of the next owner of the handle', async () => {
  const { post, ben, fans, likers } = await newScene(1)
  const others = Array.from({ length: 60 }, (_, n) => handle(`${ben}-fan${n}`))
  await openAccounts(harness.services, others)
  let isHeld = false
  const [reached, going] = [gate(), gate()]
  const hold = async ({ collection, method, args }: Call) => {
    const isAdmission = collection === 'engagements_by_user' && method === 'bulkWrite'
    if (!isHeld || !isAdmission || !JSON.stringify(args[0]).includes(`"${ben}"`)) return
    reached.open()
    await going.opened
  }
  // Any of them may be the owner.
  const processes = [watched(hold), watched(hold), watched(hold)]
  const next = others.values()
  const likeTogether = () =>
    Promise.all(
      processes.map(({ engagements }) =>
        engagements.add('likes', next.next().value as UserId, post),
      ),
    )
  // Repeats until every process knows that the post is hot.
  for (let round = 0; round < 20; round++) await likeTogether()
  isHeld = true
  const like = processes[0]?.engagements.add('likes', ben, post).then(
    () => 'stored',
    ({ code }) => code,
  )
  await reached.opened
  await harness.services.users.delete(ben)
  const pause = await harness.services.tasks['user.deleted']?.({ user: ben }, run)
  expect(pause).toEqual({ continuesInMs: expect.any(Number) })
  await expect(harness.services.users.create(ben, { name: 'Next' })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  going.open()
  expect(await like).toBe('NOT_FOUND')
  await harness.rest()
  await harness.services.users.create(ben, { name: 'Next' })
  expect((await likers()).sort()).toEqual([...fans, ...others].sort())
})

test('the time until a handle is free begins after the commit of the deletion', async () => {
  const { ben } = await newScene(0)
  const slow = watched(async ({ collection, method }) => {
    if (collection === 'outbox' && method === 'bulkWrite') await sleep(1_000)
  })
  await slow.users.delete(ben)
  const pass = async () => {
    const pause = await harness.services.tasks['user.deleted']?.({ user: ben }, run)
    return (pause as Pause | undefined)?.continuesInMs
  }
  expect(await pass()).toBeGreaterThan(writesSettleMs - 900)
  // The database's clock was a day ahead, and was set right.
  const settlesAt = new Date(Date.now() + 86_400_000)
  await harness.services.collections.users.updateOne({ _id: ben }, { $set: { settlesAt } })
  expect(await pass()).toBe(writesSettleMs)
  await settleDeletions(harness.services.collections)
  expect(await pass()).toBeUndefined()
  await harness.services.users.create(ben, { name: 'Next' })
})

test('a follow whose deadline passes while its batch commits write by write is refused', async () => {
  const { post, ben } = await newScene(0)
  const followee = post.author
  const [first, damaged] = [handle(`${ben}-first`), handle(`${ben}-damaged`)]
  await openAccounts(harness.services, [first, damaged])
  await harness.services.follows.follow(damaged, followee)
  await harness.services.collections.followers.deleteOne({ user: followee, follower: damaged })
  const ahead = { ms: 0 }
  const [reached, going] = [gate(), gate()]
  let isFirst = true
  const before = async ({ collection, method }: Call) => {
    if (collection !== 'followers') return
    if (method === 'insertMany' && isFirst) {
      isFirst = false
      reached.open()
      await going.opened
    }
    // The repair of the damaged edge takes long.
    if (method === 'deleteMany') ahead.ms += 13_000
  }
  const { client, db } = harness.database
  const clock = { ...harness.clock, now: () => harness.clock.now() + ahead.ms }
  const slow = servicesOver({ client, db: intercepted(db, { before }) }, clock, limits)
  const one = slow.follows.follow(first, followee)
  await reached.opened
  const others = Promise.allSettled([damaged, ben].map((who) => slow.follows.follow(who, followee)))
  going.open()
  await one
  const [repaired, late] = await others
  expect(repaired).toMatchObject({ status: 'fulfilled', value: { changed: true } })
  expect(late).toMatchObject({ reason: { code: 'UNAVAILABLE', message: tooLate().message } })
  const { followers } = harness.services.collections
  expect(await followers.countDocuments({ user: followee, follower: ben })).toBe(0)
})

test.each(['unlike', 'follow', 'post'] as const)(
  'the owner of a hot key refuses a write whose deadline has passed: %s',
  async (kind) => {
    const { post, ben } = await newScene(0)
    const others = Array.from({ length: 600 }, (_, n) => handle(`${ben}-${kind}${n}`))
    await openAccounts(harness.services, others)
    // The first likes leave the list within its post.
    for (const one of others.slice(0, 2)) await harness.services.engagements.add('likes', one, post)
    const next = others.slice(2).values()
    const keepHot = ({ engagements, follows, posts }: Services) => {
      const user = next.next().value as UserId
      if (kind === 'unlike') return engagements.add('likes', user, post)
      if (kind === 'follow') return follows.follow(user, post.author)
      return posts.create(post.author, { text: 'hello' })
    }
    const processes = Array.from({ length: 4 }, () => watched(async () => {}))
    for (let round = 0; round < 12; round++) await Promise.all(processes.map(keepHot))
    // When the owner sees the writes of this process, their deadlines have passed.
    const behind = watched(async () => {}, 13_000)
    const lateWrite = (n: number) =>
      kind === 'unlike'
        ? behind.engagements.remove('likes', others[n] as UserId, post)
        : keepHot(behind)
    let refusal: unknown
    let ends = false
    const load = Promise.all(
      processes.map(async (one) => {
        for (let n = 0; n < 100 && !ends; n++) await keepHot(one)
      }),
    )
    for (let n = 0; n < 100 && !refusal; n++) {
      await lateWrite(n).catch((error) => {
        refusal = error
      })
    }
    ends = true
    await load
    expect(refusal).toMatchObject({ code: 'UNAVAILABLE', message: tooLate().message })
  },
)
