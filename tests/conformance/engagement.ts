import { describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import {
  type EngagementKind,
  entryKey,
  isKeyedBy,
  kinds,
  publicKinds,
} from '../../src/engagement/kinds.ts'
import type { Engagement } from '../../src/engagement/reader.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { pageOf } from '../laws/model/model.ts'
import {
  actsOf,
  engagementProblems,
  type Limits,
  sameLimits,
  strays,
  walked,
} from '../support/engagement.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import { describeEngagementRules } from './engagement-rules.ts'

/** The behaviour of every kind of engagement, for any limits and in every place of a list. */
export function describeOutlierList(kind: EngagementKind, limits: Limits): void {
  describe(`${kind}, ${limits.threshold} in the post and ${limits.capacity} a level`, () => {
    const harness = useServices('collection', sameLimits(limits))
    const { threshold, capacity } = limits
    /** The size of a list with three full levels: a first, a middle and a last one. */
    const full = threshold + 3 * capacity
    const acts = () => actsOf(harness.services, kind)
    const isMany = isKeyedBy(kind, '_id')
    let scenes = 0

    async function newPost(fans = full + 3) {
      const scene = `l${scenes++}-`
      const users = Array.from({ length: fans }, (_, n) => handle(`${scene}u${n}`))
      await openAccounts(harness.services, users)
      const author = users[0] as UserId
      const { id } = await harness.services.posts.create(author, { text: 'hello' })
      return { post: { id, author }, users }
    }

    /** A post whose list holds `count` entries, oldest first. */
    async function listOf(count: number) {
      const { post, users } = await newPost()
      const entries: Engagement[] = []
      for (const user of users.slice(0, count)) {
        const { changed, entry } = await acts().add(user, post)
        expect(changed).toBe(true)
        entries.push(entry as Engagement)
      }
      return { post, users, entries }
    }

    const take = ({ actor, post, id }: Engagement) => acts().take(actor, post, id)
    const idsOf = (entries: readonly Engagement[]) => entries.map(({ id }) => id)
    const newestFirst = (entries: readonly Engagement[]) => idsOf(entries).reverse()

    async function isRight(post: PostRef, entries: readonly Engagement[]) {
      expect(idsOf(await walked(harness.services, kind, post))).toEqual(newestFirst(entries))
      expect(await countsOf(post)).toEqual(
        publicKinds.map((other) => (other === kind ? entries.length : 0)),
      )
      expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
      expect(await strays(harness.services, [post])).toEqual([])
    }

    async function countsOf(post: PostRef) {
      const counted = (await harness.services.posts.byRefs([post])).get(post.id)
      return publicKinds.map((other) => counted?.[kinds[other].public.count.field])
    }

    async function stored(post: PostRef) {
      const { posts, overflow } = harness.services.collections
      const _id = toObjectId(post.id)
      const found = await posts.findOne({ _id })
      const levels = await overflow.find({ '_id.post': _id }).sort({ '_id.level': 1 }).toArray()
      return {
        inPost: found?.[kind]?.length ?? 0,
        flag: found?.has_overflow,
        levels: levels.map(({ _id: { level }, items }) => [level, items.length]),
      }
    }

    test(`${kind} fill the post, then level after level, and set the overflow flag exactly then`, async () => {
      const { post, users } = await newPost()
      expect(await stored(post)).toEqual({ inPost: 0, flag: undefined, levels: [] })
      const entries: Engagement[] = []
      for (const user of users.slice(0, full)) {
        entries.push((await acts().add(user, post)).entry as Engagement)
        const beyond = Math.max(0, entries.length - threshold)
        const levels = Array.from({ length: Math.ceil(beyond / capacity) }, (_, level) => [
          level,
          Math.min(capacity, beyond - level * capacity),
        ])
        const inPost = Math.min(threshold, entries.length)
        expect(await stored(post)).toEqual({ inPost, flag: beyond > 0 || undefined, levels })
        await isRight(post, entries)
      }
    })

    test(`removing the newest ${kind} empties level after level, and the last one clears the flag`, async () => {
      const { post, entries } = await listOf(full)
      for (let left = entries.pop(); left; left = entries.pop()) {
        expect(await take(left)).toMatchObject({ changed: true })
        const beyond = Math.max(0, entries.length - threshold)
        const { flag, levels } = await stored(post)
        expect(flag).toBe(beyond > 0 || undefined)
        expect(levels).toHaveLength(Math.ceil(beyond / capacity))
        await isRight(post, entries)
      }
    })

    test(`removing the oldest ${kind} keeps the flag while a level is left`, async () => {
      const { post, entries } = await listOf(full)
      for (let left = entries.shift(); left; left = entries.shift()) {
        expect(await take(left)).toMatchObject({ changed: true })
        expect((await stored(post)).flag).toBe(entries.length > 0 || undefined)
        await isRight(post, entries)
      }
    })

    test(`an entry of ${kind} can be removed from every place, once`, async () => {
      for (let at = 0; at < full; at++) {
        const { post, entries } = await listOf(full)
        const [gone] = entries.splice(at, 1) as [Engagement]
        const first = await take(gone)
        expect(first).toMatchObject({ changed: true, entry: { id: gone.id, actor: gone.actor } })
        expect(await take(gone)).toEqual({ changed: false })
        await isRight(post, entries)
      }
    })

    test(`${kind} without a middle level continue after the last level`, async () => {
      const { post, users, entries } = await listOf(full)
      for (const gone of entries.splice(threshold + capacity, capacity)) await take(gone)
      expect((await stored(post)).levels.map(([level]) => level)).toEqual([0, 2])
      for (const user of users.slice(full)) {
        entries.push((await acts().add(user, post)).entry as Engagement)
        await isRight(post, entries)
      }
      expect((await stored(post)).levels.map(([level]) => level)).toEqual([0, 2, 3, 4])
    })

    test(`new ${kind} go to the post again after the last level is deleted`, async () => {
      const { post, users, entries } = await listOf(threshold + 1)
      for (const gone of entries.splice(0)) await take(gone)
      for (const user of users.slice(0, threshold + 2)) {
        entries.push((await acts().add(user, post)).entry as Engagement)
        await isRight(post, entries)
      }
      expect((await stored(post)).inPost).toBe(threshold)
    })

    test(`new ${kind} stay behind the overflow although the post has room`, async () => {
      const { post, users, entries } = await listOf(full)
      for (const gone of entries.splice(0, threshold)) await take(gone)
      entries.push((await acts().add(users[full] as UserId, post)).entry as Engagement)
      expect((await stored(post)).inPost).toBe(0)
      await isRight(post, entries)
    })

    test(
      isMany
        ? 'holds as many entries of one user as they add'
        : 'holds a user once, whoever repeats it and wherever the entry stands',
      async () => {
        const { post, entries } = await listOf(full)
        for (const { actor, id } of [...entries]) {
          const again = await acts().add(actor, post)
          if (isMany) entries.push(again.entry as Engagement)
          else expect(again).toMatchObject({ changed: false, entry: { id, actor } })
        }
        await isRight(post, entries)
      },
    )

    test(`every window of ${kind} is as in one list`, async () => {
      const { post, entries } = await listOf(full)
      const [, second] = entries.splice(0, 2)
      await take(second as Engagement)
      const places = (await walked(harness.services, kind, post)).map(({ place }) => place)
      const all = places.flatMap((place) => place ?? [])
      expect(all).toHaveLength(full - 1)
      const gone = all[3]
      await take(entries[entries.length - 4] as Engagement)
      const left = all.filter((place) => place !== gone)
      for (const cursor of [undefined, ...all]) {
        for (const backward of [false, true]) {
          for (let limit = 0; limit <= full; limit++) {
            const window = { limit, backward, [backward ? 'before' : 'after']: cursor }
            const list = harness.services.engagementReader.list(kind)
            const page = (await readPages(list, [post], window)).get(post.id)
            expect({
              ids: page?.items.map(({ place }) => place),
              next: await page?.hasNextPage(),
              previous: await page?.hasPreviousPage(),
            }).toEqual(pageOf(left, window))
          }
        }
      }
    })

    test.each([false, true])(
      `a walk through ${kind} during writes returns each old entry once, backward: %s`,
      async (backward) => {
        for (const limit of [1, 2, 3]) {
          const { post, users, entries } = await listOf(full)
          const waiting = users.slice(full)
          const fresh: Engagement[] = []
          const between = async () => {
            const user = waiting.shift()
            if (user) fresh.push((await acts().add(user, post)).entry as Engagement)
            else if (fresh.length > 0) await take(fresh.pop() as Engagement)
          }
          const seen = idsOf(
            await walked(harness.services, kind, post, { limit, backward, between }),
          )
          const old = new Set(idsOf(entries))
          expect(seen.filter((id) => old.has(id))).toEqual(newestFirst(entries))
          expect(new Set(seen).size).toBe(seen.length)
        }
      },
    )

    test(`${kind} are found by their key in every place`, async () => {
      const { post, users, entries } = await listOf(full)
      const { post: other } = await listOf(1)
      const key = ({ actor, id }: Engagement) => entryKey(kind, actor, id)
      const entriesOf = async (posts: readonly PostRef[], keys: readonly string[]) =>
        idsOf(await harness.services.engagementReader.entries([kind], posts, keys)).sort()
      const none = isMany ? '0'.repeat(24) : (users[full] as string)
      expect(await entriesOf([post], [none])).toEqual([])
      for (const entry of entries) {
        expect(await entriesOf([post], [key(entry)])).toEqual([entry.id])
        expect(await entriesOf([other], [key(entry)])).toEqual([])
      }
      const keys = [none, ...entries.map(key)]
      expect(await entriesOf([post, other], keys)).toEqual(idsOf(entries).sort())
    })

    test(`${kind} of many users are added at once, and each is removed once`, async () => {
      const { post, users } = await newPost(40)
      const twice = [...users, ...users]
      const added = await Promise.all(twice.map((user) => acts().add(user, post)))
      const made = added.filter(({ changed }) => changed).map(({ entry }) => entry as Engagement)
      expect(made).toHaveLength(isMany ? 80 : 40)
      expect(await countsOf(post)).toEqual(
        publicKinds.map((other) => (other === kind ? made.length : 0)),
      )
      expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
      const gone = made.slice(0, 30)
      const taken = await Promise.all([...gone, ...gone].map(take))
      expect(taken.filter(({ changed }) => changed)).toHaveLength(30)
      const left = await walked(harness.services, kind, post)
      expect(idsOf(left).sort()).toEqual(idsOf(made.slice(30)).sort())
      await isRight(post, left.reverse())
    })

    describeEngagementRules(kind, limits, harness)
  })
}
