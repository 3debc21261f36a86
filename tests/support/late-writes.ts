import type { UserId } from '../../src/lib/ids.ts'
import { sameLimits, walked } from './engagement.ts'
import { type Call, intercepted } from './intercept.ts'
import { handle, openAccounts, servicesOver, useServices } from './services.ts'

const limits = sameLimits({ threshold: 1, capacity: 2 })

/** Gives a test file services whose writes can be delayed. */
export function useLateWrites() {
  const harness = useServices('collection', limits)
  let scenes = 0
  const likersOf = async (post: Parameters<typeof walked>[2]) =>
    (await walked(harness.services, 'likes', post)).map(({ actor }) => actor)
  return {
    harness,
    likersOf,
    /** Creates a post with `likes` likes, and a user who has not liked it yet. */
    newScene: async (likes: number) => {
      const prefix = `late${scenes++}-`
      const users = Array.from({ length: likes + 2 }, (_, n) => handle(`${prefix}u${n}`))
      await openAccounts(harness.services, users)
      const [author, ben, ...fans] = users as [UserId, UserId, ...UserId[]]
      await harness.services.collections.users.updateOne({ _id: ben }, { $set: { name: 'Ben' } })
      const { id } = await harness.services.posts.create(author, { text: 'hello' })
      const post = { id, author }
      for (const fan of fans) await harness.services.engagements.add('likes', fan, post)
      return { post, ben, fans, likers: async () => likersOf(post) }
    },
    /**
     * Services whose calls pass through `before`. @param clock an offset of their clock, in
     * milliseconds.
     */
    watched: (before: (call: Call) => Promise<void>, clock: () => number = () => 0) => {
      const { client, db } = harness.database
      const now = () => harness.clock.now() + clock()
      return servicesOver(
        { client, db: intercepted(db, { before }) },
        { ...harness.clock, now },
        limits,
      )
    },
  }
}
