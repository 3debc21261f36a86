import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { type Call, type Interceptor, intercepted } from '../support/intercept.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = sameLimits({ threshold: 1, capacity: 50 })
const harness = useServices('collection', limits)

/**
 * How long the transactions of a slow process take before they change what the writes of the other
 * process change too.
 */
const slowMs = 60
const fanCount = 1_500
/** The posts of the author. */
const postCount = 200

/** What a case works with. */
interface Scene {
  readonly author: UserId
  readonly ben: UserId
  readonly fans: readonly UserId[]
  readonly posts: readonly PostRef[]
}

/** A write of a slow process, the call before which it waits, and the writes of another process. */
interface Case {
  readonly slow: (services: Services, scene: Scene) => Promise<unknown>
  readonly waits: (call: Call) => boolean
  readonly others: (services: Services, scene: Scene, n: number) => Promise<unknown>
  /**
   * The call of the other process before which it waits, with its locks, until the slow one has
   * collided. For a slow transaction that begins with its lock: nothing that it has read can be
   * old.
   */
  readonly holds?: (call: Call) => boolean
}

const isFirstInsert =
  (into: string) =>
  ({ collection, method }: Call) =>
    collection === into && method === 'insertMany'

const followAuthor: Case['others'] = ({ follows }, { author, fans }, n) =>
  follows.follow(fans[n] as UserId, author)

const onePost = ({ posts }: Scene) => posts[0] as PostRef
const newPost = { text: 'hello' }

const cases: Readonly<Record<string, Case>> = {
  'a follow of the same user': {
    slow: ({ follows }, { ben, author }) => follows.follow(ben, author),
    waits: isFirstInsert('followers'),
    others: followAuthor,
  },
  'a follow by the followed user': {
    slow: ({ follows }, { ben, author }) => follows.follow(author, ben),
    waits: isFirstInsert('followers'),
    others: followAuthor,
  },
  'a block of the followed user': {
    slow: ({ restrictions }, { ben, author }) => restrictions.block(ben, author),
    waits: isFirstInsert('restrictions'),
    others: followAuthor,
  },
  'a like of the same post': {
    slow: ({ engagements }, scene) => engagements.add('likes', scene.ben, onePost(scene)),
    waits: ({ collection, method, args: [writes] }) =>
      collection === 'posts' && method === 'bulkWrite' && !JSON.stringify(writes).includes('guard'),
    others: ({ engagements }, scene, n) =>
      engagements.add('likes', scene.fans[n] as UserId, onePost(scene)),
  },
  'posts of the same author': {
    slow: ({ posts }, { author }) =>
      Promise.all(
        ['one', 'two'].map((text) =>
          posts.create(
            author,
            { text },
            createIdempotencyKey(author, 'createPost', { clientMutationId: text }),
          ),
        ),
      ),
    waits: ({ collection, method }) => collection === 'user_stats' && method === 'findOneAndUpdate',
    others: ({ posts }, { author }) => posts.create(author, newPost),
    holds: isFirstInsert('posts'),
  },
  'the removal of a follower': {
    slow: async (slow, { ben, author }) => {
      await harness.services.follows.follow(ben, author)
      await harness.services.users.delete(ben)
      return slow.tasks['user.deleted']?.({ user: ben }, joblessRun())
    },
    waits: ({ collection, method }) => collection === 'followers' && method === 'deleteMany',
    others: followAuthor,
  },
  'a deletion of a post': {
    slow: ({ posts }, scene) => posts.delete(scene.author, onePost(scene)),
    waits: ({ collection, method }) => collection === 'posts' && method === 'findOneAndDelete',
    others: ({ posts }, { author, posts: all }, n) =>
      posts.delete(author, all[(n + 1) % postCount] as PostRef),
  },
}

test.each(share(3, Object.keys(cases)))(
  'a process with slow transactions is not starved by one that writes all the time: %s',
  async (name) => {
    const { slow: write, waits, others, holds } = cases[name] as Case
    const { services, database, clock } = harness
    const prefix = `c${Object.keys(cases).indexOf(name)}-`
    const users = Array.from({ length: fanCount }, (_, n) => handle(`${prefix}${n}`))
    await openAccounts(services, users)
    const [author, ben, ...fans] = users as [UserId, UserId, ...UserId[]]
    const ids: PostId[] = []
    for (let n = 0; n < postCount; n++) ids.push((await services.posts.create(author, newPost)).id)
    const scene: Scene = { author, ben, fans, posts: ids.map((id) => ({ id, author })) }
    // The first likes leave the list within its post.
    for (const one of fans.splice(0, 2))
      await services.engagements.add('likes', one, onePost(scene))
    let [isOver, written, ended, tries] = [false, 0, 0, 0]
    let [isHeld, hasCollided] = [false, false]
    const until = async (isTrue: () => boolean) => {
      for (let n = 0; ++n < 400 && !isTrue(); ) await sleep(5)
    }
    const before = async (call: Call) => {
      if (tries > 0) hasCollided = true
      if (!waits(call)) return
      const since = written
      await sleep(slowMs)
      // On a busy machine, the first try waits for a whole write of the other process, which it
      // then collides with.
      if (tries === 0) await until(() => (holds ? isHeld : ended > since))
      tries++
    }
    const beforeOthers = async (call: Call) => {
      if (isHeld || !holds?.(call)) return
      isHeld = true
      await until(() => hasCollided)
    }
    const processWith = (interceptor: Interceptor) => {
      const db = intercepted(database.db, interceptor)
      return servicesOver({ client: database.client, db }, clock, limits)
    }
    const slow = processWith({ before })
    const other = processWith({ before: beforeOthers })
    const busy = (async () => {
      while (!isOver && written < fans.length) {
        await others(other, scene, written++)
        ended++
      }
    })()
    await sleep(50)
    await expect(write(slow, scene)).resolves.toBeDefined()
    isOver = true
    await busy
    expect(written).toBeGreaterThan(1)
    expect(tries).toBeGreaterThan(1)
    expect(tries).toBeLessThan(8)
  },
)
