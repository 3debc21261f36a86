import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Collection, Document, ObjectId } from '../../src/db/mongo.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { sameLimits } from '../support/engagement.ts'
import { persist } from '../support/eventually.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'

const harness = useServices('collection', sameLimits({ threshold: 3, capacity: 2 }))
/** MongoDB keeps an idle transaction for at least 5 s. */
const lockMs = 1_500
/**
 * A busy machine may need longer than that for what should not wait for the lock. Then it is tried
 * again.
 */
const roundsMax = 20

/**
 * Locks a document as a process does that dies in the middle of a transaction. @returns the
 * function that ends it.
 */
async function locked(collection: string, _id: string | ObjectId) {
  const { client, db } = harness.database
  const session = client.startSession()
  session.startTransaction()
  const docs = db.collection(collection) as unknown as Collection<Document>
  const { matchedCount } = await docs.updateOne(
    { _id } as Document,
    { $set: { lock: 1 } },
    { session },
  )
  expect(matchedCount).toBe(1)
  return async () => {
    await session.abortTransaction()
    await session.endSession()
  }
}

describe('a document that another process locks', () => {
  test('a locked post delays no like of other posts, and its own like waits for the lock', async () => {
    let whileLocked = 0
    for (let round = 0; round < roundsMax && whileLocked <= 3; round++) {
      const { posts, engagements, engagementReader } = harness.services
      const users = Array.from({ length: 12 }, (_, n) => handle(`liker${round}-${n}`))
      await openAccounts(harness.services, users)
      const [author, first, ...fans] = users as [UserId, UserId, ...UserId[]]
      const publish = async (): Promise<PostRef> => {
        const { id } = await posts.create(author, { text: 'hello' })
        return { id, author }
      }
      const [taken, ...others] = (await Promise.all(Array.from({ length: 21 }, publish))) as [
        PostRef,
        ...PostRef[],
      ]
      const unlock = await locked('posts', toObjectId(taken.id))
      let isLocked = true
      const lockedLike = persist(() => engagements.add('likes', first, taken))
      whileLocked = 0
      const everyPost = async (fan: UserId) => {
        for (const post of others) {
          if (!isLocked) return
          expect(await engagements.add('likes', fan, post)).toMatchObject({ changed: true })
          if (isLocked) whileLocked++
        }
      }
      const all = Promise.all(fans.slice(0, 3).map(everyPost))
      await Promise.race([all, sleep(lockMs)])
      isLocked = false
      await unlock()
      await all
      expect(await lockedLike).toMatchObject({ changed: true })
      expect(await engagementReader.entries(['likes'], [taken], [first])).toHaveLength(1)
    }
    expect(whileLocked).toBeGreaterThan(3)
  })

  test('a locked follower delays no other follow of the same account', async () => {
    let isDelayed = true
    for (let round = 0; round < roundsMax && isDelayed; round++) {
      const users = Array.from({ length: 9 }, (_, n) => handle(`lk${round}-u${n}`))
      await openAccounts(harness.services, users)
      const [star, opener, stuck, ...fans] = users as [UserId, UserId, UserId, ...UserId[]]
      const unlock = await locked('user_stats', stuck)
      let isLocked = true
      const follow = (fan: UserId) => persist(() => harness.services.follows.follow(fan, star))
      const first = follow(opener)
      const waits = follow(stuck).then((result) => ({ result, isLocked }))
      const works = Promise.all(fans.map((fan) => follow(fan).then(() => isLocked)))
      await first
      // The locked follow gives up after 4 s.
      await Promise.race([works, sleep(3_500)])
      isLocked = false
      await unlock()
      isDelayed = (await works).includes(false)
      expect(await waits).toMatchObject({ result: { changed: true }, isLocked: false })
      expect(await problemsOf(harness, `lk${round}-`)).toEqual([])
    }
    expect(isDelayed).toBe(false)
  })
})

describe('damaged data', () => {
  test('an edge in only one collection fails no other follow of the same account', async () => {
    const users = Array.from({ length: 22 }, (_, n) => handle(`dr-u${n}`))
    await openAccounts(harness.services, users)
    const [star, opener, ...fans] = users as [UserId, UserId, ...UserId[]]
    const [drifted] = fans as [UserId]
    const { following } = harness.services.collections
    const _id = toObjectId(harness.services.mint.next())
    await following.insertOne({ _id, user: drifted, followee: star, source: 'FEEDLINE' })
    const first = harness.services.follows.follow(opener, star)
    const works = fans.map((fan) => harness.services.follows.follow(fan, star))
    await first
    const results = await Promise.all(works)
    expect(results.every(({ changed }) => changed)).toBe(true)
    // The follow also restores the pair.
    expect(await problemsOf(harness, 'dr-')).toEqual([])
  })

  test('an overflow level that the post does not count fails no like', async () => {
    const { posts, engagements, collections, mint, engagementReader } = harness.services
    const users = Array.from({ length: 10 }, (_, n) => handle(`lv-u${n}`))
    await openAccounts(harness.services, users)
    const [author, ...fans] = users as [UserId, ...UserId[]]
    const { id } = await posts.create(author, { text: 'hello' })
    const post = { id, author }
    await collections.overflow.insertOne({
      _id: { post: toObjectId(id), kind: 'likes', level: 0 },
      first: toObjectId(mint.next()),
      count: 0,
      items: [],
    })
    const results = await Promise.all(fans.map((fan) => engagements.add('likes', fan, post)))
    expect(results.every(({ changed }) => changed)).toBe(true)
    const stored = await engagementReader.entries(['likes'], [post], fans)
    expect(stored.map(({ actor }) => actor).sort()).toEqual([...fans].sort())
    expect((await posts.byRefs([post])).get(id)?.likeCount).toBe(fans.length)
  })
})
