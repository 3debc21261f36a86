import fc from 'fast-check'
import { expect } from 'vitest'
import {
  type EngagementKind,
  engagementKinds,
  kinds,
  perKind,
  publicKinds,
  viewerFields,
} from '../../../src/engagement/kinds.ts'
import type { EngagementId, PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Window } from '../../../src/lib/page.ts'
import { readPages } from '../../../src/pages/pipeline.ts'
import type { Services } from '../../../src/services.ts'
import {
  actsOf,
  engagementProblems,
  type Limits,
  strays,
  walked,
} from '../../support/engagement.ts'
import { handle, openAccounts } from '../../support/services.ts'
import {
  anyLiked,
  anyPage,
  anyWrite,
  EngagementModel,
  people,
  postsMade,
  type Write,
} from './engagement-model.ts'
import { outcomeOf, pageOf } from './model.ts'

type PageRead = typeof anyPage extends fc.Arbitrary<infer T> ? T : never
type LikedRead = typeof anyLiked extends fc.Arbitrary<infer T> ? T : never

const history = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: anyWrite() as fc.Arbitrary<Write | PageRead | LikedRead> },
      { weight: 2, arbitrary: anyPage },
      { weight: 1, arbitrary: anyLiked },
    ),
    { minLength: 10, maxLength: 70, size: 'max' },
  ),
  limit: fc.integer({ min: 1, max: 4 }),
})

/** Users under new handles, with posts of the first users. */
export class Scene {
  private static scenes = 0
  readonly users: readonly UserId[]
  readonly comments = new Map<PostRef, EngagementId[]>()
  /** The ids of all entries that were ever added. */
  readonly made = perKind((): EngagementId[] => [])

  private constructor(
    private readonly services: Services,
    readonly posts: readonly PostRef[],
    users: readonly UserId[],
  ) {
    this.users = users
  }

  /** @param count the number of users. The first users are the authors of one post each. */
  static async open(services: Services, count = people, made = postsMade): Promise<Scene> {
    const scene = `s${Scene.scenes++}-`
    const users = Array.from({ length: count }, (_, n) => handle(`${scene}u${n}`))
    await openAccounts(services, users)
    const posts: PostRef[] = []
    for (const author of users.slice(0, made)) {
      const { id } = await services.posts.create(author, { text: `by ${author}` })
      posts.push({ id, author })
    }
    return new Scene(services, posts, users)
  }

  user(n: number): UserId {
    return this.users[n % this.users.length] as UserId
  }

  post(n: number): PostRef {
    return this.posts[n % this.posts.length] as PostRef
  }

  /** Applies a write, also to the model if given. @returns the outcome and the model's outcome. */
  async apply(write: Write, model?: EngagementModel, services = this.services) {
    const { engagements, restrictions, posts } = services
    const [user, post] = [this.user(write.user), this.post(write.post)]
    switch (write.verb) {
      case 'like':
      case 'share':
      case 'comment': {
        const kind = `${write.verb}s` as const
        const adding = actsOf(services, kind).add(user, post)
        const found = await outcomeOf(adding)
        const id = found === 'changed' ? (await adding).entry?.id : undefined
        if (id && kind === 'comments') this.commentsOf(post).push(id)
        if (id) this.made[kind].push(id)
        return { found, expected: model?.add(kind, user, post, id) }
      }
      case 'unlike':
      case 'unshare': {
        const kind = write.verb === 'unlike' ? 'likes' : 'shares'
        const found = await outcomeOf(engagements.remove(kind, user, post))
        return { found, expected: model?.remove(kind, user, post) }
      }
      case 'uncomment': {
        const made = this.commentsOf(post)
        const id = made[write.which % Math.max(1, made.length)]
        if (!id) return { found: 'unchanged', expected: 'unchanged' }
        const found = await outcomeOf(engagements.removeById({ kind: 'comments', post, id }, user))
        return { found, expected: model?.uncomment(user, post, id) }
      }
      case 'block':
      case 'unblock': {
        const other = this.user(write.user + 1 + (write.which % (this.users.length - 1)))
        const found = await outcomeOf(restrictions[write.verb](user, other))
        return { found, expected: model?.[write.verb](user, other) }
      }
      case 'deletePost': {
        const found = await outcomeOf(posts.delete(post.author, post))
        return { found, expected: model?.deletePost(post) }
      }
    }
  }

  private commentsOf(post: PostRef): EngagementId[] {
    const made = this.comments.get(post) ?? []
    this.comments.set(post, made)
    return made
  }
}

/**
 * Law L2 on one history: every outcome and every page equals the model's, and the stored lists are
 * sound.
 */
export function engagementLaw(
  { services, rest }: { readonly services: Services; readonly rest: () => Promise<void> },
  limits: Limits,
) {
  return fc.asyncProperty(history, async ({ steps, limit }) => {
    const scene = await Scene.open(services)
    const model = new EngagementModel()
    const { users, posts } = scene
    for (const step of steps) {
      if (step.verb === 'page') await comparePages(step)
      else if (step.verb === 'liked') await readLikedPages(step)
      else {
        const { found, expected } = await scene.apply(step, model)
        expect(found, step.verb).toBe(expected)
      }
    }
    await compareAll()
    await rest()
    await compareAll()
    expect(await engagementProblems(services, limits, posts)).toEqual([])
    expect(await strays(services, posts)).toEqual([])

    async function comparePages({ kind, alone, size, backward, after, before }: PageRead) {
      const made = scene.made[kind]
      const place = (n: number | undefined) =>
        n === undefined ? n : made[n % Math.max(1, made.length)]
      const window = { limit: size, backward, after: place(after), before: place(before) }
      const asked = alone === undefined ? posts : [scene.post(alone)]
      const pages = await readPages(services.engagementReader.list(kind), asked, window)
      for (const post of asked) {
        const page = pages.get(post.id)
        expect({
          ids: page?.items.map(({ place }) => place),
          next: await page?.hasNextPage(),
          previous: await page?.hasPreviousPage(),
        }).toEqual(pageOf(model.places(kind, post), window))
      }
    }

    async function readLikedPages(read: LikedRead) {
      const like = (n: number | undefined) =>
        n === undefined ? n : scene.made.likes[n % Math.max(1, scene.made.likes.length)]
      const [after, before] = [like(read.after), like(read.before)]
      const window = { limit: read.size, backward: read.backward, after, before }
      await compareLikes(
        read.users.map((n) => scene.user(n)),
        scene.user(read.viewer),
        window,
      )
    }

    async function compareLikes(asked: readonly UserId[], viewer: UserId, window: Window) {
      const pages = await readPages(
        services.engagedPosts('likes'),
        asked,
        window,
        services.visibilityFor(viewer),
      )
      for (const user of asked) {
        const page = pages.get(user)
        expect({
          ids: page?.items.map(({ id }) => id),
          next: await page?.hasNextPage(),
          previous: await page?.hasPreviousPage(),
        }).toEqual(pageOf(model.liked(user, viewer, posts), window))
      }
    }

    async function compareAll() {
      const found = await services.posts.byRefs(posts)
      for (const post of posts) {
        const counts = model.counts(post)
        if (counts) expect(found.get(post.id)).toMatchObject(counts)
        else expect(found.has(post.id)).toBe(false)
        for (const kind of engagementKinds) {
          const expected = model.list(kind, post).map(({ id, actor }) => `${actor} ${id}`)
          for (const backward of [false, true]) {
            const seen = await walked(services, kind, post, { limit, backward })
            expect(seen.map(({ id, actor }) => `${actor} ${id}`).reverse()).toEqual(expected)
          }
        }
      }
      for (const user of users) {
        const stored = await services.engagementReader.entries([...viewerFields.values()], posts, [
          user,
        ])
        const expected = posts.flatMap((post) =>
          [...viewerFields.values()].flatMap((kind) =>
            model.list(kind, post).filter(({ actor }) => actor === user),
          ),
        )
        expect(stored.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort())
        await compareLikes(users, user, { limit: 20, backward: false })
      }
    }
  })
}

const writers = 32
const race = fc.array(anyWrite(), { minLength: writers * 4, maxLength: writers * 8, size: 'max' })

/**
 * Law L2 after a race: exactly the acknowledged engagement is stored.
 * @param tally the outcomes of the writes, over all races.
 */
export function raceLaw(
  {
    services,
    all,
    rest,
  }: {
    readonly services: Services
    /** The services that the writers use in turn. */
    readonly all: readonly Services[]
    readonly rest: () => Promise<void>
  },
  limits: Limits,
  tally: Map<string, number>,
) {
  return fc.asyncProperty(race, async (writes) => {
    const scene = await Scene.open(services, 8)
    const queue = [...writes]
    const kept = new Map<string, number>()
    // What a busy machine answered with UNAVAILABLE may be stored or not.
    const unsure = { '1': new Map<string, number>(), '-1': new Map<string, number>() }
    const adds: Readonly<Record<string, [EngagementKind, 1 | -1]>> = {
      like: ['likes', 1],
      unlike: ['likes', -1],
      share: ['shares', 1],
      unshare: ['shares', -1],
      comment: ['comments', 1],
      uncomment: ['comments', -1],
    }
    const write = async (_: unknown, at: number) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        // Only the last post may be deleted, so that writers always compete for a post.
        const post = next.verb === 'deletePost' ? postsMade - 1 : next.post
        const { found } = await scene.apply({ ...next, post }, undefined, all[at % all.length])
        tally.set(found, (tally.get(found) ?? 0) + 1)
        const [kind, delta] = adds[next.verb] ?? []
        const key = `${kind} ${scene.post(post).id}`
        if (found === 'changed' && delta) kept.set(key, (kept.get(key) ?? 0) + delta)
        if (found === 'UNAVAILABLE' && delta)
          unsure[delta].set(key, (unsure[delta].get(key) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: writers }, write))
    await rest()
    expect(await engagementProblems(services, limits, scene.posts)).toEqual([])
    expect(await strays(services, scene.posts)).toEqual([])
    const found = await services.posts.byRefs(scene.posts)
    for (const post of found.values()) {
      for (const kind of publicKinds) {
        const key = `${kind} ${post.id}`
        const count = post[kinds[kind].public.count.field]
        const sure = kept.get(key) ?? 0
        expect(count).toBeGreaterThanOrEqual(sure - (unsure[-1].get(key) ?? 0))
        expect(count).toBeLessThanOrEqual(sure + (unsure[1].get(key) ?? 0))
      }
    }
  })
}
