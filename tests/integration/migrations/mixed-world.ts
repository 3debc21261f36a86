import { startingAt } from '../../../src/feed/timeline/poll-cursor.ts'
import { parsePostNodeId } from '../../../src/graphql/node-id.ts'
import { pollCursors } from '../../../src/graphql/poll-cursor.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import { Model } from '../../laws/model/model.ts'
import { handle } from '../../support/services.ts'

export const reader = handle('reader')
const [friend, other] = [handle('friend'), handle('other')]

const mutation = (name: string, input: string, fields: string) =>
  `mutation ($input: ${input}!) { ${name}(input: $input) { ${fields} } }`
const documents = {
  createUser: mutation('createUser', 'CreateUserInput', 'user { handle }'),
  createPost: mutation('createPost', 'CreatePostInput', 'post { id }'),
  deletePost: mutation('deletePost', 'DeletePostInput', 'changed'),
}

/** A mutation of a relation, for the previous release or for this one, which names users by `UserRef`. */
const relationDocument = (name: string, user: UserId, isPrevious: boolean) => {
  const input = isPrevious ? `handle: "${user}"` : `user: { handle: "${user}" }`
  return `mutation { ${name}(input: { ${input} }) { changed } }`
}

/** What a reader sees of a timeline: the posts of the page, newest first, and the number that a poll counts. */
export interface Seen {
  readonly ids: readonly string[]
  readonly count: number
}

/** The users of two releases over one database, and the model of what they wrote. */
export class MixedWorld {
  private readonly model = new Model()
  /** Node ids of posts that exist, by author. */
  private readonly posts = new Map<UserId, string[]>()
  private readonly etags = new Map<string, { readonly etag: string; readonly count: number }>()

  /** Creates the users, with posts, through one server. */
  async begin(url: string): Promise<void> {
    for (const user of [reader, friend, other]) {
      await request(url, user, documents.createUser, { name: user })
      this.model.createUser(user)
    }
    for (const author of [friend, other]) {
      await this.follow(url, author)
      for (let times = 0; times < 3; times++) await this.publish(url, author)
    }
  }

  /** Changes by the server of `url`, each with whether it takes a delivery to show. They can be repeated in this order. */
  readonly changes: readonly (readonly [name: string, (url: string) => Promise<void>, boolean])[] =
    [
      ['an unfollow', (url) => this.unfollow(url, friend), false],
      ['a follow', (url) => this.follow(url, friend), true],
      ['a post', (url) => this.publish(url, friend), true],
      ['a deletion', (url) => this.deletePost(url, other), false],
      ['a mute', (url) => this.restrict(url, 'mute', reader, other), false],
      ['an unmute', (url) => this.restrict(url, 'unmute', reader, other), false],
      ['a post of the other author', (url) => this.publish(url, other), true],
      ['a block', (url) => this.restrict(url, 'block', other, reader), false],
      ['an unblock', (url) => this.restrict(url, 'unblock', other, reader), false],
      ['a follow after the block', (url) => this.follow(url, other), true],
    ]

  /** What law L1 says that the reader sees. */
  expected(): Seen {
    const ids = this.model.timeline(reader)
    return { ids, count: ids.length }
  }

  /** What a server says: a page, and a poll by GET. */
  async read(url: string): Promise<Seen> {
    const page = '{ timeline(first: 50) { edges { node { id text } } } }'
    const { timeline } = (await (await get(url, page)).json()).data
    const ids = timeline.edges.map(({ node }: Edge) => parsePostNodeId('id', node.id).id)
    const since = pollCursors.encode(startingAt('0'.repeat(24) as PostId))
    const poll = `{ timelineNews(since: "${since}") { count changed } }`
    const known = this.etags.get(url)
    const answer = await get(url, poll, known ? { 'if-none-match': known.etag } : {})
    if (known && answer.status === 304) return { ids, count: known.count }
    const { count } = (await answer.json()).data.timelineNews
    this.etags.set(url, { etag: answer.headers.get('etag') ?? '', count })
    return { ids, count }
  }

  private async follow(url: string, author: UserId): Promise<void> {
    await this.changeRelation(url, reader, 'followUser', author)
    this.model.follow(reader, author)
  }

  private async unfollow(url: string, author: UserId): Promise<void> {
    await this.changeRelation(url, reader, 'unfollowUser', author)
    this.model.unfollow(reader, author)
  }

  private async restrict(
    url: string,
    kind: 'mute' | 'unmute' | 'block' | 'unblock',
    by: UserId,
    of: UserId,
  ): Promise<void> {
    await this.changeRelation(url, by, `${kind}User`, of)
    this.model[kind](by, of)
  }

  private async changeRelation(url: string, by: UserId, name: string, of: UserId): Promise<void> {
    const probe = await request(url, by, '{ __type(name: "UserRef") { name } }')
    const isPrevious = (probe as { __type: unknown }).__type === null
    await request(url, by, relationDocument(name, of, isPrevious))
  }

  private async publish(url: string, author: UserId): Promise<void> {
    const { createPost } = (await request(url, author, documents.createPost, {
      text: 'new',
    })) as NewPost
    const { id } = createPost.post
    this.posts.set(author, [...(this.posts.get(author) ?? []), id])
    this.model.post(author, parsePostNodeId('id', id).id)
  }

  private async deletePost(url: string, author: UserId): Promise<void> {
    const postId = this.posts.get(author)?.pop() ?? ''
    await request(url, author, documents.deletePost, { postId })
    this.model.deletePost(parsePostNodeId('id', postId))
  }
}

async function request(url: string, as: UserId, query: string, input?: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
  const body = JSON.stringify({ query, variables: { input } })
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  const { data, errors } = (await answer.json()) as { data?: unknown; errors?: unknown }
  if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`)
  return data
}

const get = (url: string, query: string, headers = {}) =>
  fetch(`${url}/graphql?${new URLSearchParams({ query })}`, {
    headers: {
      authorization: `Dev ${reader}`,
      'apollo-require-preflight': 'true',
      ...headers,
    },
  })

interface Edge {
  readonly node: { readonly id: string }
}
interface NewPost {
  readonly createPost: { readonly post: { readonly id: string } }
}
