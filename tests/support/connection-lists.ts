import { type PublicKind, publicKinds } from '../../src/engagement/kinds.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { TestApp } from './app.ts'
import { handle } from './services.ts'

/** A list of the schema to which a test adds items. */
export interface ConnectionList {
  readonly field: string
  readonly arguments?: string
  /** The path to the field. */
  readonly inside?: 'user' | 'viewer' | 'node'
  /** Reads the list. Default: its owner. */
  readonly viewer?: UserId
  /** Adds an item. Returns the function that removes it from the list, as its reader sees it. */
  readonly add: (owner: UserId, n: number) => Promise<() => Promise<unknown>>
}

/** Number of items that a test adds to each list. */
export const made = 10

/** A list in which a block by its reader hides items. */
interface BlockedList extends Omit<ConnectionList, 'viewer' | 'add'> {
  /** Adds an item of a person. */
  readonly add: (owner: UserId, person: UserId) => Promise<unknown>
}

/** The lists of the schema, and the people whose follows, posts and engagement are their items. */
export class ConnectionLists {
  private readonly author = handle('author')
  private readonly others = Array.from({ length: made }, (_, n) => handle(`other${n}`))
  /** Authors of one post each, in no other list. */
  private readonly writers = Array.from({ length: made }, (_, n) => handle(`writer${n}`))
  private readonly posts = new Map<UserId, Promise<PostRef>>()

  constructor(private readonly app: TestApp) {}

  get people(): readonly UserId[] {
    return [this.author, ...this.others, ...this.writers]
  }

  async follow(follower: UserId, followee: UserId, ...groups: string[]) {
    const { follows } = this.app.services
    await follows.follow(follower, followee)
    if (groups.length > 0) await follows.setGroups(follower, followee, groups)
    return () => follows.unfollow(follower, followee)
  }

  async publish(by: UserId) {
    const { posts } = this.app.services
    const post = await posts.create(by, { text: 'Hello' })
    return () => posts.delete(by, post)
  }

  /** The post of a user under which {@link lists} collect engagement. */
  postOf(user: UserId): Promise<PostRef> {
    const post = this.posts.get(user) ?? this.app.services.posts.create(user, { text: 'Hello' })
    this.posts.set(user, post)
    return post
  }

  /** Every list, by the name of its test. */
  get lists(): Readonly<Record<string, ConnectionList>> {
    return { ...this.plainLists(), ...this.blockedLists() }
  }

  private plainLists(): Record<string, ConnectionList> {
    const other = (n: number) => this.others[n] as UserId
    return {
      timeline: {
        field: 'timeline',
        add: async (owner, n) => {
          await this.follow(owner, this.author)
          return this.publish(n % 2 === 0 ? owner : this.author)
        },
      },
      'timeline of a group': {
        field: 'timeline',
        arguments: 'group: "close"',
        add: async (owner, n) => {
          await this.follow(owner, other(n), 'close', 'art')
          return this.publish(other(n))
        },
      },
      followers: {
        field: 'followers',
        inside: 'user',
        add: (owner, n) => this.follow(other(n), owner),
      },
      following: {
        field: 'following',
        inside: 'user',
        add: (owner, n) => this.follow(owner, other(n)),
      },
      'following in a group': {
        field: 'following',
        arguments: 'group: "close"',
        inside: 'user',
        add: (owner, n) => this.follow(owner, other(n), 'close', 'art'),
      },
      mutuals: {
        field: 'mutuals',
        inside: 'user',
        viewer: handle('viewer-of-mutuals'),
        add: async (owner, n) => {
          await this.follow(owner, other(n))
          return this.follow(handle('viewer-of-mutuals'), other(n))
        },
      },
      suggestions: {
        field: 'suggestions',
        inside: 'viewer',
        // The suggestion added last has the most common followees.
        add: async (owner, n) => {
          const { follows } = this.app.services
          for (const follower of this.writers.slice(0, n + 1)) {
            if (!(await follows.edgeOf(owner, follower))) await this.follow(owner, follower)
            await this.follow(follower, other(n))
          }
          return () => this.app.services.restrictions.mute(owner, other(n))
        },
      },
      posts: { field: 'posts', inside: 'user', add: (owner) => this.publish(owner) },
      mutes: {
        field: 'mutes',
        inside: 'viewer',
        add: async (owner, n) => {
          const { restrictions } = this.app.services
          await restrictions.mute(owner, other(n))
          return () => restrictions.unmute(owner, other(n))
        },
      },
      blocks: {
        field: 'blocks',
        inside: 'viewer',
        add: async (owner, n) => {
          const { restrictions } = this.app.services
          await restrictions.block(owner, other(n))
          return () => restrictions.unblock(owner, other(n))
        },
      },
      groups: {
        field: 'groups',
        inside: 'viewer',
        // Lists of names are sorted from A to Z, all others newest first.
        add: (owner, n) => this.follow(owner, other(n), `group ${made - n + 10}`),
      },
    }
  }

  private blockedLists(): Record<string, ConnectionList> {
    const engagement = (kind: PublicKind): BlockedList => ({
      field: kind,
      inside: 'node',
      add: async (owner, person) =>
        this.app.services.engagements.add(kind, person, await this.postOf(owner), { text: 'x' }),
    })
    const lists: Record<string, BlockedList> = {
      followers: {
        field: 'followers',
        inside: 'user',
        add: (owner, one) => this.follow(one, owner),
      },
      following: {
        field: 'following',
        inside: 'user',
        add: (owner, one) => this.follow(owner, one),
      },
      'liked posts': {
        field: 'likedPosts',
        inside: 'user',
        add: async (owner, person) =>
          this.app.services.engagements.add('likes', owner, await this.postOf(person)),
      },
      ...Object.fromEntries(publicKinds.map((kind) => [kind, engagement(kind)])),
    }
    return Object.fromEntries(
      Object.entries(lists).map(([name, list]) => {
        const viewer = handle(`viewer-of-${name.replaceAll(' ', '-')}`)
        const add = async (owner: UserId, n: number) => {
          const person = this.writers[n] as UserId
          await list.add(owner, person)
          return () => this.app.services.restrictions.block(viewer, person)
        }
        return [`${name} with blocked users`, { ...list, viewer, add }]
      }),
    )
  }
}
