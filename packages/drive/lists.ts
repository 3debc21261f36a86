import type { DocumentName } from './documents.ts'
import { type PatientClient, RequestFailure } from './patient.ts'

/** A page of a list by cursor. */
interface Page<Item> {
  readonly edges: readonly Item[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  readonly servedBy?: string
}

/** An item with what identifies it. */
interface Node {
  readonly node: {
    readonly id: string
    readonly handle?: string
    readonly text?: string
  } | null
}

/** An item of a list. */
export type Listed = NonNullable<Node['node']>

/** A whole list, or its first items. */
export interface WalkedList {
  readonly items: readonly Listed[]
  /** The list goes on beyond the most items of a walk. */
  readonly isCut: boolean
  /** The pages with items: how many items each has, and for a timeline the strategy that served it. */
  readonly pages: readonly { readonly items: number; readonly servedBy: string | undefined }[]
}

/** The begin of a timeline. */
export interface TimelineHead {
  /** A delivery to the reader has not ended. */
  readonly pending: boolean
  readonly servedBy: string
  readonly isEmpty: boolean
}

/** The items of a page and of a walk. A longer list is compared as far as this. */
const [pageSize, walkMax] = [50, 20_000]
/** The items of a page of a timeline, as apps read it. A short cache serves no longer pages. */
const timelinePageSize = 20

/**
 * Reads lists of users by cursor, to their ends.
 * @throws {RequestFailure} `NOT_FOUND` for a user who has no account any more.
 */
export class ListReader {
  constructor(private readonly client: PatientClient) {}

  /** A reader's timeline under a strategy. */
  readTimeline(reader: number, strategy: string): Promise<WalkedList> {
    const variables = { strategy, first: timelinePageSize }
    return this.walk('Timeline', reader, variables, ({ timeline }) => timeline)
  }

  async readHead(reader: number, strategy: string): Promise<TimelineHead> {
    const { timeline } = await this.client.read<{
      timeline: Page<Node> & Omit<TimelineHead, 'isEmpty'>
    }>({ document: 'Timeline', variables: { first: 1, strategy }, as: reader })
    const { pending, servedBy, edges } = timeline
    return { pending, servedBy, isEmpty: edges.length === 0 }
  }

  readPosts(user: number, handle: string): Promise<WalkedList> {
    return this.walk('UserPosts', user, { handle }, ({ user }) => user?.posts)
  }

  readFollowing(user: number, handle: string): Promise<WalkedList> {
    return this.walk('Following', user, { handle }, ({ user }) => user?.following)
  }

  readLikedPosts(user: number, handle: string): Promise<WalkedList> {
    return this.walk('LikedPosts', user, { handle }, ({ user }) => user?.likedPosts)
  }

  private async walk(
    document: DocumentName,
    as: number,
    fixed: object,
    pageOf: (data: Answered) => Page<Node> | undefined,
  ): Promise<WalkedList> {
    const items: Listed[] = []
    const pages: WalkedList['pages'][number][] = []
    let after: string | null = null
    do {
      const variables = { first: pageSize, ...fixed, after }
      const data: Answered = await this.client.read({ document, variables, as })
      const page = pageOf(data)
      if (!page) throw new RequestFailure({ document, variables, as }, 'NOT_FOUND', 'no such user')
      const found = page.edges.flatMap(({ node }) => (node ? [node] : []))
      items.push(...found)
      if (found.length > 0) pages.push({ items: found.length, servedBy: page.servedBy })
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
    } while (after !== null && items.length < walkMax)
    return { items, isCut: after !== null, pages }
  }
}

interface Answered {
  readonly timeline: Page<Node>
  readonly user: {
    readonly posts: Page<Node>
    readonly following: Page<Node>
    readonly likedPosts: Page<Node>
  } | null
}
