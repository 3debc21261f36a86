import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcile } from '../../src/integrity/reconcile.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import { newId } from '../support/verify.ts'

const [ann, ben, cem, dan] = ['ann', 'ben', 'cem', 'dan'].map(handle) as [
  never,
  never,
  never,
  never,
]
const everything = { users: 'all', readers: 'all', dryRun: false } as const

describe('a malformed edge without its other document', () => {
  const harness = useServices()
  beforeAll(() => openAccounts(harness.services, [ann, ben]))

  test.each(['followers', 'following'] as const)(
    'in %s is restored from the event that began it, unless a later event ended it',
    async (name) => {
      const { collections, follows } = harness.services
      const { followers, following, follow_events } = collections
      const other = name === 'followers' ? following : followers
      const edge = { [name === 'followers' ? 'follower' : 'user']: ann } as object
      const damage = async () => {
        await (other as typeof following).deleteMany({})
        await collections[name as 'following'].updateOne(edge, { $set: { source: 7 as never } })
      }
      await follows.follow(ann, ben)
      await damage()
      const ended = newId()
      await follow_events.insertOne({
        ...{ _id: ended, user: ann, followee: ben, type: 'UNFOLLOWED', source: 'FEEDLINE' },
        at: new Date(),
      })
      const kept = await reconcile(harness.services, everything)
      expect(kept.reported).toMatchObject([{ kind: 'shape', unrepairable: expect.any(String) }])
      expect(await collections[name as 'following'].findOne(edge)).toMatchObject({ source: 7 })
      expect(await (other as typeof following).countDocuments()).toBe(0)

      await follow_events.deleteOne({ _id: ended })
      const restored = await reconcile(harness.services, everything)
      expect(restored.tally).toMatchObject({ reported: 0, remaining: 0 })
      expect(await collections[name as 'following'].findOne(edge)).toMatchObject({
        source: 'FEEDLINE',
      })
      expect(await (other as typeof following).countDocuments()).toBe(1)
    },
  )
})

describe('a sample of drift', () => {
  const harness = useServices()

  test('repairs its users, whatever is malformed in the documents of others', async () => {
    const { services } = harness
    const { collections } = services
    await openAccounts(services, [ann, ben, cem, dan])
    await services.follows.follow(ann, ben)
    await services.follows.follow(cem, dan)
    await collections.following.deleteOne({ user: ann })
    await collections.follow_events.updateOne({ user: cem }, { $set: { type: 7 as never } })
    const some = { users: [ann, ben], readers: 0, dryRun: false } as const
    const all = await reconcile(services, { ...everything, dryRun: true })
    expect(all.reported).toMatchObject([
      { kind: 'shape' },
      { kind: 'sides', subject: 'ann>ben', unrepairable: expect.stringContaining('may be') },
    ])
    expect((await reconcile(services, some)).tally).toMatchObject({ edges: 1, reported: 0 })
    expect(await collections.following.countDocuments({ user: ann })).toBe(1)
  })
})

describe('timelines of a database in use', () => {
  const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
  beforeEach(() => openAccounts(harness.services, [ann, ben]))
  afterEach(() => vi.restoreAllMocks())

  test('an entry of a deleted post that arrives after the repair does not remain as a finding', async () => {
    const { services, rest } = harness
    const { INBOX } = services.strategies
    await services.follows.follow(ann, ben)
    await services.posts.create(ben, { text: 'hello' })
    await rest()
    await services.collections.posts.deleteMany({})
    await services.collections.user_stats.updateMany({}, { $set: { posts: 0 } })
    const { remove } = INBOX
    const copy = await services.collections.inbox.findOne({})
    // A delivery that was begun before the post was deleted.
    const spy = vi.spyOn(INBOX, 'remove').mockImplementation(async (...args) => {
      const result = await remove.apply(INBOX, args)
      await services.collections.inbox.insertOne(copy as never)
      return result
    })
    const { tally } = await reconcile(services, everything)
    expect(spy).toHaveBeenCalled()
    expect(await services.collections.inbox.countDocuments()).toBe(1)
    expect(tally).toMatchObject({ remaining: 0, reported: 0 })
  })
})
