import type { DocumentName } from './documents.ts'
import type { PatientClient } from './patient.ts'

/** A page of a list by cursor. */
interface Page<Item> {
  readonly edges: readonly Item[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
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
}

/** The items of a page and of a walk. A longer list is compared as far as this. */
const [pageSize, walkMax] = [50, 20_000]

/** Reads lists of users by cursor, to their ends. */
export class ListReader {
  constructor(private readonly client: PatientClient) {}

  /** A reader's timeline under a strategy. */
  readTimeline(reader: number, strategy: string): Promise<WalkedList> {
    return this.walk('Timeline', reader, { strategy }, ({ timeline }) => timeline)
  }

  /** Whether a strategy's first page says that a delivery to the reader has not ended. */
  async isPending(reader: number, strategy: string): Promise<boolean> {
    const { timeline } = await this.client.read<{ timeline: { pending: boolean } }>({
      document: 'Timeline',
      variables: { first: 1, strategy },
      as: reader,
    })
    return timeline.pending
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
    variables: object,
    pageOf: (data: Answered) => Page<Node> | undefined,
  ): Promise<WalkedList> {
    const items: Listed[] = []
    let after: string | null = null
    do {
      const data: Answered = await this.client.read({
        document,
        variables: { ...variables, first: pageSize, after },
        as,
      })
      const page = pageOf(data)
      if (!page) throw new Error(`${document} found no list of user ${as}`)
      items.push(...page.edges.flatMap(({ node }) => (node ? [node] : [])))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
    } while (after !== null && items.length < walkMax)
    return { items, isCut: after !== null }
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
