import fc from 'fast-check'
import { DomainError, type ErrorCode } from '../../../src/errors.ts'
import type { PostId, PostRef, TimeId, UserId } from '../../../src/lib/ids.ts'
import type { Window } from '../../../src/lib/page.ts'
import type { Services } from '../../../src/services.ts'
import { handle, namesOf } from '../../support/services.ts'

/** The outcome of a write: whether it changed anything, or the code of its error. */
export type Outcome = 'changed' | 'unchanged' | ErrorCode

/** What a timeline lists: a post, at a place, because of a user. */
export interface Item {
  readonly at: TimeId
  readonly post: PostRef
  readonly by: UserId
  readonly reason: 'POSTED'
}

/** The item of a post that its author published. */
export const itemOf = (post: PostRef): Item => ({
  at: post.id,
  post,
  by: post.author,
  reason: 'POSTED',
})

/**
 * A simple in-memory model of laws L1 and L3. The key of a pair is `from>to`. The data of a deleted
 * user stays hidden until {@link Model.rest}.
 */
export class Model {
  private readonly live = new Set<UserId>()
  private readonly leaving = new Set<UserId>()
  private readonly edges = new Map<string, readonly string[]>()
  private readonly mutes = new Set<string>()
  private readonly blocks = new Set<string>()
  private posts: PostRef[] = []

  createUser(user: UserId): Outcome {
    if (this.live.has(user) || this.leaving.has(user)) return 'CONFLICT'
    this.live.add(user)
    return 'changed'
  }

  deleteUser(user: UserId): Outcome {
    if (!this.live.delete(user)) return 'unchanged'
    this.leaving.add(user)
    return 'changed'
  }

  follow(a: UserId, b: UserId): Outcome {
    if (this.edges.has(pair(a, b))) return 'unchanged'
    if (this.blocked(a, b)) return 'FORBIDDEN'
    if (!this.areLive(a, b)) return 'NOT_FOUND'
    this.edges.set(pair(a, b), [])
    return 'changed'
  }

  unfollow(a: UserId, b: UserId): Outcome {
    return this.edges.delete(pair(a, b)) ? 'changed' : 'unchanged'
  }

  setGroups(a: UserId, b: UserId, groups: readonly string[]): Outcome {
    if (!this.areLive(a) || !this.edges.has(pair(a, b))) return 'NOT_FOUND'
    this.edges.set(pair(a, b), groups)
    return 'changed'
  }

  mute(a: UserId, b: UserId): Outcome {
    if (this.mutes.has(pair(a, b))) return 'unchanged'
    if (!this.areLive(a, b)) return 'NOT_FOUND'
    this.mutes.add(pair(a, b))
    return 'changed'
  }

  unmute(a: UserId, b: UserId): Outcome {
    return this.mutes.delete(pair(a, b)) ? 'changed' : 'unchanged'
  }

  block(a: UserId, b: UserId): Outcome {
    if (this.blocks.has(pair(a, b))) return 'unchanged'
    if (!this.areLive(a, b)) return 'NOT_FOUND'
    this.blocks.add(pair(a, b))
    this.edges.delete(pair(a, b))
    this.edges.delete(pair(b, a))
    return 'changed'
  }

  unblock(a: UserId, b: UserId): Outcome {
    return this.blocks.delete(pair(a, b)) ? 'changed' : 'unchanged'
  }

  /** @param id the id of the created post, if it was created. */
  post(author: UserId, id: PostId | undefined): Outcome {
    if (!this.live.has(author)) return 'NOT_FOUND'
    if (id) this.posts.push({ id, author })
    return 'changed'
  }

  deletePost({ id }: PostRef): Outcome {
    const before = this.posts.length
    this.posts = this.posts.filter((post) => post.id !== id)
    return this.posts.length < before ? 'changed' : 'unchanged'
  }

  /** Deletes the data of deleted users and releases their handles. */
  rest(): void {
    for (const user of this.leavers()) this.purged(user)
  }

  /** As {@link rest}, for one deleted user. @returns the followers that the user had until then. */
  purged(user: UserId): UserId[] {
    const followers = this.users().filter((one) => this.edges.has(pair(one, user)))
    this.leaving.delete(user)
    this.removeOwn(user)
    for (const given of [this.edges, this.mutes]) {
      for (const key of [...given.keys()]) if (key.endsWith(`>${user}`)) given.delete(key)
    }
    return followers
  }

  /**
   * Deletes what a deleted user owned, and blocks by others. Until {@link purged}, their follows
   * and mutes stay.
   */
  removeOwn(user: UserId): void {
    this.posts = this.posts.filter(({ author }) => author !== user)
    for (const own of [this.edges, this.mutes, this.blocks]) {
      for (const key of [...own.keys()]) if (key.startsWith(`${user}>`)) own.delete(key)
    }
    for (const key of [...this.blocks]) if (key.endsWith(`>${user}`)) this.blocks.delete(key)
  }

  /** The deleted users whose data may still exist. */
  leavers(): UserId[] {
    return [...this.leaving]
  }

  users(): UserId[] {
    return [...this.live]
  }

  /** Law L1: the items of the posts that show, newest first by place. */
  items(user: UserId, group?: string): Item[] {
    return this.posts
      .filter(({ author }) => this.shows(user, author, group))
      .map(itemOf)
      .sort((one, other) => (one.at < other.at ? 1 : -1))
  }

  /** The posts of {@link items}. */
  timeline(user: UserId, group?: string): PostId[] {
    return this.items(user, group).map(({ post }) => post.id)
  }

  /** Law L3, at rest. */
  stats(user: UserId) {
    const ends = [...this.edges.keys()].map((key) => key.split('>'))
    return {
      followers: ends.filter(([, to]) => to === user).length,
      following: ends.filter(([from]) => from === user).length,
      posts: this.posts.filter(({ author }) => author === user).length,
    }
  }

  /** Whether law L1 shows the author's posts to the user. */
  shows(user: UserId, author: UserId, group: string | undefined): boolean {
    if (!this.live.has(author)) return false
    if (author === user) return group === undefined
    const groups = this.edges.get(pair(user, author))
    if (!groups || (group !== undefined && !groups.includes(group))) return false
    return !this.mutes.has(pair(user, author)) && !this.blocked(user, author)
  }

  /** The users that a user muted or blocked, newest first. */
  restricted(kind: 'mutes' | 'blocks', owner: UserId): UserId[] {
    const pairs = [...this[kind]].map((key) => key.split('>') as [UserId, UserId])
    return pairs.flatMap(([from, to]) => (from === owner ? to : [])).reverse()
  }

  /** The groups of a user, sorted. */
  groupsOf(owner: UserId): string[] {
    const own = [...this.edges].filter(([key]) => key.startsWith(`${owner}>`))
    return [...new Set(own.flatMap(([, groups]) => groups))].sort()
  }

  blocked(a: UserId, b: UserId): boolean {
    return this.blocks.has(pair(a, b)) || this.blocks.has(pair(b, a))
  }

  private areLive(...users: UserId[]): boolean {
    return users.every((user) => this.live.has(user))
  }
}

const pair = (a: UserId, b: UserId) => `${a}>${b}`

const names = ['alice', 'bob', 'carol', 'dave'] as const
export const groupNames = ['close', 'work'] as const

const weights = {
  createUser: 2,
  deleteUser: 1,
  follow: 8,
  unfollow: 2,
  setGroups: 4,
  mute: 2,
  unmute: 1,
  block: 1,
  unblock: 1,
  post: 10,
  deletePost: 2,
} as const
type Kind = keyof typeof weights

/** One write by one of four users. */
export interface Op {
  readonly kind: Kind
  readonly a: number
  readonly b: number
  readonly groups: readonly string[]
}

/** @param kinds the kinds of writes, in the proportions of ordinary use. */
export const anyOp = (kinds = Object.keys(weights) as Kind[]): fc.Arbitrary<Op> =>
  fc.record({
    kind: fc.oneof(
      ...kinds.map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) })),
    ),
    a: fc.nat(names.length - 1),
    b: fc.nat(names.length - 1),
    groups: fc.subarray([...groupNames]),
  })

/** A page request within a history. Its cursors are posts of the history, also deleted posts. */
export interface PageRead {
  readonly kind: 'page'
  readonly user: number
  readonly group: string | undefined
  readonly size: number
  readonly backward: boolean
  readonly content: boolean
  readonly after: number | undefined
  readonly before: number | undefined
}

const someNumber = fc.option(fc.nat(30), { nil: undefined })
export const anyPageRead: fc.Arbitrary<PageRead> = fc.record({
  kind: fc.constant('page'),
  user: fc.nat(3),
  group: fc.constantFrom(undefined, undefined, ...groupNames),
  size: fc.integer({ min: 0, max: 5 }),
  backward: fc.boolean(),
  content: fc.boolean(),
  after: someNumber,
  before: someNumber,
})

/**
 * The four users of one history, under their own handles, and all their posts, also deleted ones.
 */
export class Actors {
  private static histories = 0
  readonly prefix = `h${Actors.histories++}-`
  readonly users: readonly UserId[] = names.map((name) => handle(this.prefix + name))
  readonly posts: PostRef[] = []

  constructor(private readonly services: Services) {}

  user(n: number): UserId {
    return this.users[n % this.users.length] as UserId
  }

  /** Applies a write, also to the model if given, whose outcome must be the same. */
  async apply(op: Op, model?: Model): Promise<{ found: Outcome; expected: Outcome | undefined }> {
    const { users, follows, restrictions, posts } = this.services
    const a = this.user(op.a)
    const b = this.user(op.b === op.a ? op.b + 1 : op.b)
    const both = async (work: Promise<unknown>, expected?: Outcome) => ({
      found: await outcomeOf(work),
      expected,
    })
    switch (op.kind) {
      case 'createUser':
        return both(users.create(a, { ...namesOf(a), name: a }), model?.createUser(a))
      case 'deleteUser':
        return both(
          users.delete(a).then(({ changed }) => changed),
          model?.deleteUser(a),
        )
      case 'follow':
        return both(follows.follow(a, b), model?.follow(a, b))
      case 'unfollow':
        return both(follows.unfollow(a, b), model?.unfollow(a, b))
      case 'setGroups':
        return both(follows.setGroups(a, b, op.groups), model?.setGroups(a, b, op.groups))
      case 'mute':
      case 'unmute':
      case 'block':
      case 'unblock':
        return both(restrictions[op.kind](a, b), model?.[op.kind](a, b))
      case 'post': {
        const made = posts.create(a, { text: `by ${a}` })
        const found = await outcomeOf(made)
        const id = found === 'changed' ? (await made).id : undefined
        if (id) this.posts.push({ id, author: a })
        return { found, expected: model?.post(a, id) }
      }
      case 'deletePost': {
        const post = this.posts[(op.a * names.length + op.b) % Math.max(1, this.posts.length)]
        if (!post) return { found: 'unchanged', expected: 'unchanged' }
        return both(posts.delete(post.author, post), model?.deletePost(post))
      }
    }
  }
}

/** The page of a window in a whole list, newest first, as Relay defines it. */
export function pageOf<Id extends TimeId>(
  all: readonly Id[],
  { limit, backward, after, before }: Window,
) {
  const newer = all.filter((id) => after !== undefined && id >= after)
  const older = all.filter((id) => before !== undefined && id <= before)
  const inside = all.filter((id) => !newer.includes(id) && !older.includes(id))
  const ids = backward ? inside.slice(Math.max(0, inside.length - limit)) : inside.slice(0, limit)
  const more = inside.length > limit
  return {
    ids,
    next: (more && !backward) || older.length > 0,
    previous: (more && backward) || newer.length > 0,
  }
}

/** The outcome of a write. */
export async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    const result = await work
    const changed = (result as { changed?: boolean }).changed ?? result
    return changed === false ? 'unchanged' : 'changed'
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}
