import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = sameLimits({ threshold: 1, capacity: 50 })
const harness = useServices('collection', limits)

/** How long the transactions of a slow process take before they change what all writes of the key change. */
const slowMs = 60
const followerCount = 2_000

/** A write to one key by many users, and the call before which a slow process waits. */
const writes = {
  follow: {
    write: ({ follows }: Services, user: UserId, { author }: PostRef) =>
      follows.follow(user, author),
    waits: ({ collection, method }: Call) => collection === 'followers' && method === 'insertMany',
  },
  like: {
    write: ({ engagements }: Services, user: UserId, post: PostRef) =>
      engagements.add('likes', user, post),
    waits: ({ collection, method, args: [, update = {}] }: Call) =>
      collection === 'posts' && method === 'updateOne' && !('$inc' in update),
  },
}

test.each(Object.entries(writes))(
  'a process with slow transactions is not starved by one that writes to the same key all the time: %s',
  async (kind, { write, waits }) => {
    const users = Array.from({ length: followerCount }, (_, n) => handle(`${kind}${n}`))
    await openAccounts(harness.services, users)
    const [author, ben, ...fans] = users as [UserId, UserId, ...UserId[]]
    const { id } = await harness.services.posts.create(author, { text: 'hello' })
    const post = { id, author }
    // The first likes leave the list within its post.
    for (const one of fans.splice(0, 2)) await write(harness.services, one, post)
    let tries = 0
    const before = async (call: Call) => {
      if (!waits(call)) return
      tries++
      await sleep(slowMs)
    }
    const db = intercepted(harness.database.db, { before })
    const slow = servicesOver({ client: harness.database.client, db }, harness.clock, limits)
    let [isOver, written] = [false, 0]
    const busy = (async () => {
      for (const fan of fans) {
        if (isOver) return
        await write(harness.services, fan, post)
        written++
      }
    })()
    await sleep(50)
    await expect(write(slow, ben, post)).resolves.toMatchObject({ changed: true })
    isOver = true
    await busy
    expect(written).toBeGreaterThan(0)
    expect(tries).toBeGreaterThan(1)
    expect(tries).toBeLessThan(8)
  },
)
