import fc from 'fast-check'
import {
  type EngagementKind,
  engagementKinds,
  type KindKeyedBy,
  kinds,
  publicKinds,
} from '../../../src/engagement/kinds.ts'
import type { EngagementId, PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Outcome } from './model.ts'

/** An entry of a list. */
interface Entry {
  readonly actor: UserId
  readonly id: EngagementId
}

/** A simple in-memory model of law L2: a list is an array, newest last. */
export class EngagementModel {
  private readonly lists = new Map<string, Entry[]>()
  private readonly gone = new Set<string>()
  private readonly blocks = new Set<string>()

  /** The outcome of an add. @param id the id of the entry, if it was added. */
  add(kind: EngagementKind, actor: UserId, post: PostRef, id: EngagementId | undefined): Outcome {
    if (!this.shows(actor, post)) return 'NOT_FOUND'
    const list = this.list(kind, post)
    if (kinds[kind].key === 'actor' && list.some((entry) => entry.actor === actor))
      return 'unchanged'
    if (id) this.lists.set(`${kind} ${post.id}`, [...list, { actor, id }])
    return 'changed'
  }

  remove(kind: KindKeyedBy<'actor'>, actor: UserId, post: PostRef): Outcome {
    return this.take(kind, post, (entry) => entry.actor === actor)
  }

  uncomment(actor: UserId, post: PostRef, id: EngagementId): Outcome {
    const comment = this.list('comments', post).find((entry) => entry.id === id)
    if (comment && actor !== comment.actor && actor !== post.author) return 'FORBIDDEN'
    return this.take('comments', post, (entry) => entry.id === id)
  }

  deletePost(post: PostRef): Outcome {
    if (this.gone.has(post.id)) return 'unchanged'
    this.gone.add(post.id)
    return 'changed'
  }

  block(one: UserId, other: UserId): Outcome {
    const before = this.blocks.size
    return this.blocks.add(`${one}>${other}`).size > before ? 'changed' : 'unchanged'
  }

  unblock(one: UserId, other: UserId): Outcome {
    return this.blocks.delete(`${one}>${other}`) ? 'changed' : 'unchanged'
  }

  list(kind: EngagementKind, post: PostRef): readonly Entry[] {
    return this.gone.has(post.id) ? [] : (this.lists.get(`${kind} ${post.id}`) ?? [])
  }

  /**
   * The places of a list, newest first. Without concurrent writes, these are the ids of its
   * entries.
   */
  places(kind: EngagementKind, post: PostRef) {
    return this.list(kind, post)
      .map(({ id }) => id)
      .reverse()
  }

  /** The likes of a user that `viewer` may see, newest first. */
  liked(user: UserId, viewer: UserId, posts: readonly PostRef[]): EngagementId[] {
    if (this.blocked(viewer, user)) return []
    return posts
      .filter(({ author }) => !this.blocked(viewer, author))
      .flatMap((post) => this.list('likes', post).filter(({ actor }) => actor === user))
      .map(({ id }) => id)
      .sort()
      .reverse()
  }

  counts(post: PostRef) {
    if (this.gone.has(post.id)) return undefined
    return Object.fromEntries(
      publicKinds.map((kind) => [kinds[kind].public.count.field, this.list(kind, post).length]),
    )
  }

  private take(kind: EngagementKind, post: PostRef, which: (entry: Entry) => boolean): Outcome {
    if (this.gone.has(post.id)) return 'NOT_FOUND'
    const list = this.list(kind, post)
    const left = list.filter((entry) => !which(entry))
    this.lists.set(`${kind} ${post.id}`, left)
    return left.length < list.length ? 'changed' : 'unchanged'
  }

  private shows(viewer: UserId, { id, author }: PostRef): boolean {
    return !this.gone.has(id) && !this.blocked(viewer, author)
  }

  private blocked(one: UserId, other: UserId): boolean {
    return this.blocks.has(`${one}>${other}`) || this.blocks.has(`${other}>${one}`)
  }
}

/** The numbers of users and posts of a history. The first users are the posts' authors. */
export const people = 5
export const postsMade = 3

const weights = {
  like: 10,
  unlike: 6,
  share: 5,
  unshare: 3,
  comment: 8,
  uncomment: 5,
  block: 1,
  unblock: 1,
  deletePost: 0.4,
} as const
type Verb = keyof typeof weights

/** One write. */
export interface Write {
  readonly verb: Verb
  readonly user: number
  readonly post: number
  /** The index of the comment, or of the other user. */
  readonly which: number
}

/** @param verbs the kinds of writes, in the proportions of ordinary use. */
export const anyWrite = (verbs = Object.keys(weights) as Verb[]): fc.Arbitrary<Write> =>
  fc.record({
    verb: fc.oneof(
      ...verbs.map((verb) => ({ weight: weights[verb] * 10, arbitrary: fc.constant(verb) })),
    ),
    user: fc.nat(people - 1),
    post: fc.nat(postsMade - 1),
    which: fc.nat(30),
  })

const cursor = fc.option(fc.nat(25), { nil: undefined })
const windowOf = { size: fc.integer({ min: 0, max: 5 }), backward: fc.boolean() }

/** A page of a list of each post. Its cursors are places of the history, also unused places. */
export const anyPage = fc.record({
  verb: fc.constant('page' as const),
  kind: fc.constantFrom(...engagementKinds),
  alone: fc.option(fc.nat(postsMade - 1), { nil: undefined }),
  after: cursor,
  before: cursor,
  ...windowOf,
})

/**
 * A page of the posts that a user likes. Its cursors are likes of the history, also removed likes.
 */
export const anyLiked = fc.record({
  verb: fc.constant('liked' as const),
  users: fc.uniqueArray(fc.nat(people - 1), { minLength: 1, maxLength: people }),
  viewer: fc.nat(people - 1),
  after: cursor,
  before: cursor,
  ...windowOf,
})
