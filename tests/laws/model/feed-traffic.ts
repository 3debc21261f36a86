import { setTimeout as sleep } from 'node:timers/promises'
import * as operations from '@feedline/client'
import { print } from 'graphql'
import { randomAt } from '../../../packages/drive/random.ts'
import type { UserId } from '../../../src/lib/ids.ts'

/** The users that write. */
export interface Writers {
  /**
   * Has the most followers. Its posts are never deleted, and no relation of it with quiet readers
   * changes.
   */
  readonly star: UserId
  readonly friends: readonly UserId[]
  /** Who only post. */
  readonly calm: readonly UserId[]
  /** Readers whose relations change. */
  readonly readers: readonly UserId[]
}

const documents = {
  createPost: operations.CreatePostDocument,
  deletePost: operations.DeletePostDocument,
  followUser: operations.FollowUserDocument,
  unfollowUser: operations.UnfollowUserDocument,
  muteUser: operations.MuteUserDocument,
  unmuteUser: operations.UnmuteUserDocument,
  blockUser: operations.BlockUserDocument,
  unblockUser: operations.UnblockUserDocument,
} as const
type MutationName = keyof typeof documents

/** Changes between a reader and an author, in the proportions of the traffic. */
const relationChanges: readonly MutationName[] = [
  ...(['followUser', 'followUser', 'followUser', 'unfollowUser', 'unfollowUser'] as const),
  ...(['muteUser', 'unmuteUser', 'unmuteUser', 'blockUser', 'unblockUser', 'unblockUser'] as const),
]

/** Random mutations of several users over HTTP. */
export class FeedTraffic {
  /** Node ids of acknowledged posts that were not asked to be deleted, by author. */
  readonly posts = new Map<UserId, string[]>()
  readonly tally = new Map<string, number>()
  private draws = 0

  /** @param urls the addresses of servers, which take requests in turn. */
  constructor(
    private readonly writers: Writers,
    private readonly urls: readonly string[],
    private readonly seed: number,
  ) {}

  /**
   * Sends mutations for a time: the star posts every `starMs`, and three other clients write
   * without end.
   */
  async run(ms: number, starMs: number): Promise<void> {
    const endsAt = performance.now() + ms
    const repeat = async (pauseMs: number, write: () => Promise<void>) => {
      while (performance.now() < endsAt) {
        await write()
        await sleep(pauseMs * (0.5 + this.draw()))
      }
    }
    const { star, calm } = this.writers
    const other = () => repeat(60, () => this.writeAny())
    await Promise.all([
      ...[other(), other(), other()],
      repeat(starMs, () => this.publish(star)),
      repeat(700, () => this.publish(this.oneOf(calm))),
    ])
  }

  /** Publishes a post of each author. */
  async publishAll(): Promise<void> {
    const { star, friends, calm } = this.writers
    for (const author of [star, ...calm, ...friends]) await this.publish(author)
  }

  /**
   * Publishes a post of one author. The versions of timelines that are raised often are taken away
   * instead.
   */
  async publishOne(): Promise<void> {
    const [author] = this.writers.friends
    if (author) await this.publish(author)
  }

  /** Makes one change of each kind that removes posts, each for some readers. Adds no posts. */
  async removeAll(): Promise<void> {
    const { star, friends, readers } = this.writers
    const [first, other] = friends as [UserId, UserId]
    const last = this.posts.get(first)?.pop()
    if (last) await this.send(first, 'deletePost', { postId: last })
    for (const [n, reader] of readers.entries()) {
      if (n % 4 === 0) await this.send(reader, 'unfollowUser', { user: { handle: star } })
      if (n % 2 === 1) await this.send(reader, 'muteUser', { user: { handle: star } })
      if (n % 4 === 2) await this.send(other, 'blockUser', { user: { handle: reader } })
    }
  }

  private async writeAny(): Promise<void> {
    const { star, friends, readers } = this.writers
    const authors = [...friends, ...readers]
    const kind = this.draw()
    if (kind < 0.4) return this.publish(this.oneOf(authors))
    if (kind < 0.5) {
      const author = this.oneOf(friends)
      const postId = this.posts.get(author)?.pop()
      if (postId) await this.send(author, 'deletePost', { postId })
      return
    }
    const reader = this.oneOf(readers)
    const other = this.oneOf([star, ...authors].filter((one) => one !== reader))
    await this.send(reader, this.oneOf(relationChanges), { user: { handle: other } })
  }

  private async publish(author: UserId): Promise<void> {
    const text = `post ${this.draws}`
    const data = await this.send(author, 'createPost', { text })
    const id = (data as { createPost?: { post: { id: string } } } | undefined)?.createPost?.post.id
    if (!id) return
    const own = this.posts.get(author)
    if (own) own.push(id)
    else this.posts.set(author, [id])
  }

  private async send(as: UserId, name: MutationName, input: object): Promise<unknown> {
    const body = JSON.stringify({ query: print(documents[name]), variables: { input } })
    const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
    const response = await fetch(`${this.oneOf(this.urls)}/graphql`, {
      ...{ method: 'POST', headers, body },
    })
    const { data, errors } = (await response.json()) as Answer
    const what = errors ? `${name} ${errors[0]?.extensions.code}` : name
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
    return errors ? undefined : data
  }

  private draw(): number {
    return randomAt(this.seed, this.draws++, 0)
  }

  private oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.draw() * items.length)] as T
  }
}

interface Answer {
  readonly data?: unknown
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[]
}
