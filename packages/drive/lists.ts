import type { ApiRequest } from './client.ts'
import { isTextOf, type Page, type World } from './operations.ts'
import { type PatientClient, RequestFailure } from './patient.ts'

/** An item of a list, with what identifies it. */
export interface Listed {
  readonly id: string
  readonly handle?: string
  readonly text?: string
}

interface ListPage extends Page {
  readonly edges: readonly { readonly node: Listed | null }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  readonly servedBy?: string
}

/** A timeline by cursor, as far as it was read. */
export interface WalkedTimeline {
  readonly ids: readonly string[]
  /** The pages with posts: how many posts each has, and the strategy that served it. */
  readonly pages: readonly { readonly posts: number; readonly servedBy: string | undefined }[]
}

/** The begin of a timeline. */
export interface TimelineHead {
  /** A delivery to the reader has not ended. */
  readonly pending: boolean
  readonly servedBy: string
  readonly isEmpty: boolean
}

/** A list of a user, and what was acknowledged to the user. */
export interface OwnList {
  readonly name: 'posts' | 'follows' | 'likes'
  /** The field of `User`. */
  readonly field: 'posts' | 'following' | 'likedPosts'
  readonly document: string
  readonly required: readonly string[]
  readonly idOf: (item: Listed) => string
}

/**
 * The items of a page of an own list, and of a timeline, as apps read it. A short cache serves no
 * longer pages.
 */
const [pageSize, timelinePageSize] = [50, 20]
/** The most posts of a timeline that are read. */
const timelineMax = 20_000

/** Reads the begin of a reader's timeline under a strategy. */
export async function readHead(
  client: PatientClient,
  reader: number,
  strategy: string,
): Promise<TimelineHead> {
  const { timeline } = await client.read<{ timeline: ListPage & TimelineHead }>({
    document: 'Timeline',
    variables: { first: 1, strategy },
    as: reader,
  })
  const { pending, servedBy, edges } = timeline
  return { pending, servedBy, isEmpty: edges.length === 0 }
}

/** Reads a reader's timeline under a strategy to its end, or to its 20,000th post. */
export async function readTimeline(
  client: PatientClient,
  reader: number,
  strategy: string,
): Promise<WalkedTimeline> {
  const ids: string[] = []
  const pages: WalkedTimeline['pages'][number][] = []
  const request = {
    document: 'Timeline',
    variables: { strategy, first: timelinePageSize },
    as: reader,
  }
  const pageOf = ({ timeline }: Answered) => timeline
  for await (const { items, servedBy } of walk(client, request, pageOf)) {
    ids.push(...items.map(({ id }) => id))
    if (items.length > 0) pages.push({ posts: items.length, servedBy })
    if (ids.length >= timelineMax) break
  }
  return { ids, pages }
}

/** The lists of a user in which something acknowledged must be. */
export function ownListsOf({ people, journal }: World, user: number): OwnList[] {
  const idOf = ({ id }: Listed) => id
  const all: readonly OwnList[] = [
    {
      name: 'posts',
      field: 'posts',
      document: 'UserPosts',
      idOf,
      required: journal.posts.get(user) ?? [],
    },
    {
      name: 'follows',
      field: 'following',
      document: 'Following',
      required: [...(journal.follows.get(user) ?? [])].map((each) => people.handleOf(each)),
      idOf: ({ handle = '' }) => handle,
    },
    {
      name: 'likes',
      field: 'likedPosts',
      document: 'LikedPosts',
      idOf,
      required: [...(journal.likes.get(user) ?? [])],
    },
  ]
  return all.filter(({ required }) => required.length > 0)
}

/**
 * Reads a list of a user to its end.
 * @returns the ids of its items, and the texts of the run's posts: a post that was created twice
 *   has two ids and one text.
 * @throws {RequestFailure} `NOT_FOUND` for a user who has no account any more.
 */
export async function readOwnList(
  { people, runId }: World,
  client: PatientClient,
  { field, document, idOf }: OwnList,
  user: number,
): Promise<{ ids: string[]; texts: string[] }> {
  const request = {
    document,
    variables: { handle: people.handleOf(user), first: pageSize },
    as: user,
  }
  const pageOf = ({ user: owner }: Answered) => owner?.[field]
  const items: Listed[] = []
  for await (const page of walk(client, request, pageOf)) items.push(...page.items)
  const texts = items.flatMap(({ text = '' }) => (isTextOf(runId, text) ? [text] : []))
  return { ids: items.map(idOf), texts }
}

interface Answered {
  readonly timeline: ListPage
  readonly user: Readonly<Record<OwnList['field'], ListPage>> | null
}

async function* walk(
  client: PatientClient,
  list: ApiRequest,
  pageOf: (data: Answered) => ListPage | undefined,
) {
  let after: string | null = null
  do {
    const request: ApiRequest = { ...list, variables: { ...list.variables, after } }
    const data: Answered = await client.read(request)
    const page = pageOf(data)
    if (!page) throw new RequestFailure(request, 'NOT_FOUND', 'no such user')
    const items = page.edges.flatMap(({ node }) => (node ? [node] : []))
    yield { items, servedBy: page.servedBy }
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null)
}
