import { expect, test } from 'vitest'
import { createIdempotencyKey, type IdempotencyKey } from '../../src/db/idempotency.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { EngagementChange } from '../../src/engagement/engagement.ts'
import type { EngagementKind } from '../../src/engagement/kinds.ts'
import type { Engagement } from '../../src/engagement/reader.ts'
import type { EngagementId, PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import { outcomeOf } from '../laws/model/model.ts'
import { actsOf, engagementProblems, type Limits, strays, walked } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { failCommand } from '../support/mongo.ts'
import { handle, openAccounts, type ServicesHarness } from '../support/services.ts'

/** The rules of every kind: permissions, deletion with a post or a user, and idempotency. */
export function describeEngagementRules(
  kind: EngagementKind,
  limits: Limits,
  harness: ServicesHarness,
): void {
  const size = limits.threshold + 2 * limits.capacity + 1
  const acts = () => actsOf(harness.services, kind)
  let scenes = 0

  /** Creates a post of `ann` with `count` entries by other users. */
  async function scene(count = 0) {
    const prefix = `r${scenes++}-`
    const [ann, ben, ...fans] = Array.from({ length: count + 2 }, (_, n) =>
      handle(`${prefix}u${n}`),
    ) as [UserId, UserId, ...UserId[]]
    await openAccounts(harness.services, [ann, ben, ...fans])
    const { id } = await harness.services.posts.create(ann, { text: 'hello' })
    const post: PostRef = { id, author: ann }
    for (const fan of fans) await acts().add(fan, post)
    return { post, ann, ben, fans }
  }

  /** What a repeat returns of an entry that was taken out: no text, which is not stored. */
  const namesOf = ({ changed, entry }: EngagementChange) => {
    expect(entry?.isMalformed).toBeUndefined()
    return { changed, id: entry?.id, actor: entry?.actor, post: entry?.post, kind: entry?.kind }
  }

  async function actorsOf(post: PostRef) {
    return (await walked(harness.services, kind, post)).map(({ actor }) => actor)
  }

  async function isSound(...posts: PostRef[]) {
    expect(await engagementProblems(harness.services, limits, posts)).toEqual([])
    expect(await strays(harness.services, posts)).toEqual([])
  }

  test.each([0, size])(
    `an author adds ${kind} to the own post, next to %d entries`,
    async (count) => {
      const { post, ann } = await scene(count)
      expect(await acts().add(ann, post)).toMatchObject({ changed: true, entry: { actor: ann } })
      expect((await actorsOf(post))[0]).toBe(ann)
    },
  )

  test.each([0, size])(
    `a block in either direction hides the post from ${kind}, next to %d entries`,
    async (count) => {
      const { post, ann, ben, fans } = await scene(count)
      const { restrictions } = harness.services
      for (const [one, other] of [
        [ann, ben],
        [ben, ann],
      ] as const) {
        await restrictions.block(one, other)
        expect(await outcomeOf(acts().add(ben, post))).toBe('NOT_FOUND')
        await restrictions.unblock(one, other)
      }
      expect(await actorsOf(post)).toEqual([...fans].reverse())
      await isSound(post)
      expect(await outcomeOf(acts().add(ben, post))).toBe('changed')
    },
  )

  test(`${kind} from before a block can be removed after it`, async () => {
    const { post, ann, ben } = await scene(size)
    const { entry } = await acts().add(ben, post)
    await harness.services.restrictions.block(ann, ben)
    expect(await acts().take(ben, post, entry?.id as EngagementId)).toMatchObject({ changed: true })
    await isSound(post)
  })

  test(`${kind} need an account and an existing post`, async () => {
    const { post, ben } = await scene(size)
    const none = '0'.repeat(24) as EngagementId
    expect(await outcomeOf(acts().add(handle('nobody'), post))).toBe('NOT_FOUND')
    const missing = { id: '0'.repeat(24) as PostId, author: ben }
    expect(await outcomeOf(acts().add(ben, missing))).toBe('NOT_FOUND')
    expect(await outcomeOf(acts().take(ben, missing, none))).toBe('NOT_FOUND')
    expect(await outcomeOf(acts().take(ben, post, none))).toBe('unchanged')
    await isSound(post, missing)
  })

  test.each([0, size])(
    `${kind} with a forged author find no post and harm none, next to %d entries`,
    async (count) => {
      const { post, ben, fans } = await scene(count)
      const others = [handle(`x${scenes}-a`), handle(`x${scenes}-b`)]
      await openAccounts(harness.services, others)
      const forged = { id: post.id, author: ben }
      const writers = [...others, ben].flatMap((user) => [
        outcomeOf(acts().add(user, forged)),
        outcomeOf(acts().add(user, post)),
      ])
      expect(await Promise.all(writers)).toEqual(
        [...others, ben].flatMap(() => ['NOT_FOUND', 'changed']),
      )
      expect(await walked(harness.services, kind, forged)).toEqual([])
      for (const entry of await walked(harness.services, kind, post)) {
        const refused = await outcomeOf(acts().take(entry.actor, forged, entry.id))
        expect(refused).toBe('NOT_FOUND')
      }
      expect(await actorsOf(post)).toHaveLength(fans.length + 3)
      await isSound(post)
    },
  )

  test(`a deleted post loses its ${kind}`, async () => {
    const { post, ann, ben } = await scene(size)
    await harness.services.posts.delete(ann, post)
    expect(await walked(harness.services, kind, post)).toEqual([])
    expect(await outcomeOf(acts().add(ben, post))).toBe('NOT_FOUND')
    await harness.rest()
    await isSound(post)
    expect(await leftOf(post)).toEqual({ levels: 0, logged: 0 })
  })

  test(`the ${kind} of a deleted post are deleted, whichever delete fails first`, async () => {
    const { post, ann } = await scene(size)
    await harness.services.posts.delete(ann, post)
    expect(await leftOf(post)).toMatchObject({ logged: size })
    const clear = async () =>
      harness.services.tasks['engagements.orphaned']?.({ post: post.id }, joblessRun())
    let failures = 0
    for (let finished = false; !finished; ) {
      const failure = { failCommands: ['delete'], skip: failures, errorCode: 8 }
      await using _ = await failCommand(harness.database.client, failure)
      finished = await clear().then(
        () => true,
        ({ code }: { code?: number }) => code !== 8,
      )
      if (!finished) failures++
    }
    expect(failures).toBeGreaterThanOrEqual(2)
    expect(await leftOf(post)).toEqual({ levels: 0, logged: 0 })
    await harness.rest()
  })

  test(`the ${kind} of a deleted user are removed from every place, and counts follow`, async () => {
    const { post, ben, fans } = await scene(size)
    const other = await scene(0)
    const [inPost, , inLevel] = [fans[0], fans[1], fans[size - 1]] as UserId[]
    await acts().add(ben, other.post)
    for (const user of [inPost, inLevel, ben] as UserId[]) {
      await harness.services.users.delete(user)
    }
    await harness.rest()
    const left = fans.filter((fan) => fan !== inPost && fan !== inLevel)
    expect(await actorsOf(post)).toEqual(left.reverse())
    expect(await actorsOf(other.post)).toEqual([])
    await isSound(post, other.post)
  })

  test.each([0, size])(
    `a repeat under ${kind} returns the first result, next to %d entries`,
    async (count) => {
      const { post, ann, ben } = await scene(count)
      const key = keyOf(ben, 'add')
      const first = await acts().add(ben, post, key)
      expect(first).toMatchObject({ changed: true, entry: { actor: ben } })
      expect(await acts().add(ben, post, key)).toEqual({ ...first, isRepeat: true })
      const takeKey = keyOf(ben, 'take')
      const id = first.entry?.id as EngagementId
      const taken = await acts().take(ben, post, id, takeKey)
      expect(taken).toMatchObject({ changed: true, entry: { id } })
      expect(namesOf(await acts().take(ben, post, id, takeKey))).toEqual(namesOf(taken))
      // A repeat reads the entry again. What was taken out stays away.
      const gone = { changed: true, entry: undefined, isRepeat: true }
      expect(await acts().add(ben, post, key)).toEqual(gone)
      expect(await actorsOf(post)).toHaveLength(count)
      await isSound(post)
      await harness.services.restrictions.block(ann, ben)
      expect(await acts().add(ben, post, key)).toEqual(gone)
      await harness.services.posts.delete(ann, post)
      expect(await acts().add(ben, post, key)).toEqual(gone)
    },
  )

  test.each([0, size])(
    `eight concurrent repeats under ${kind} take effect once, next to %d entries`,
    async (count) => {
      const { post, ben, ann } = await scene(count)
      const key = keyOf(ben, 'add')
      // The first write keeps the post busy, so that the others share one commit.
      const busy = acts().add(ann, post)
      const eight = Array.from({ length: 8 }, () => acts().add(ben, post, key))
      const [first, ...repeats] = await Promise.all(eight)
      await busy
      for (const repeat of repeats) expect(repeat).toEqual(first)
      expect(await actorsOf(post)).toHaveLength(count + 2)
      const id = first?.entry?.id as EngagementId
      const takes = Array.from({ length: 8 }, () => acts().take(ben, post, id, keyOf(ben, 'take')))
      const [taken, ...others] = await Promise.all(takes)
      expect(taken).toMatchObject({ changed: true })
      for (const other of others) expect(namesOf(other)).toEqual(namesOf(taken as EngagementChange))
      expect(await actorsOf(post)).toHaveLength(count + 1)
      await isSound(post)
    },
  )

  test(`an idempotency key of another input fails alone under ${kind}`, async () => {
    const { post, ann, ben, fans } = await scene(size)
    const other = await scene(0)
    await acts().add(ben, other.post, keyOf(ben, 'add', 'one'))
    const [fan] = fans as [UserId]
    const outcomes = await Promise.all([
      outcomeOf(acts().add(ann, post)),
      outcomeOf(acts().add(ben, post, keyOf(ben, 'add', 'other'))),
      outcomeOf(acts().take(fan, post, await idOf(post, fan))),
    ])
    expect(outcomes).toEqual(['changed', 'CONFLICT', 'changed'])
    expect(await actorsOf(post)).not.toContain(ben)
    await isSound(post, other.post)
  })

  const keyOf = (viewer: UserId, what: string, more = '') =>
    createIdempotencyKey(viewer, what, { clientMutationId: what, more } as never) as IdempotencyKey

  async function idOf(post: PostRef, user: UserId): Promise<EngagementId> {
    const entries = await walked(harness.services, kind, post)
    return (entries.find(({ actor }) => actor === user) as Engagement).id
  }

  async function leftOf({ id }: PostRef) {
    const { overflow, engagements_by_user } = harness.services.collections
    return {
      levels: await overflow.countDocuments({ '_id.post': toObjectId(id) }),
      logged: await engagements_by_user.countDocuments({ post: toObjectId(id) }),
    }
  }
}
