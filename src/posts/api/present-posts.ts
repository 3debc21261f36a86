import type { PostFacts } from '../../db/collections.ts'
import {
  countFields,
  type EngagementKind,
  entryKey,
  isPublic,
  kinds,
  publicKinds,
  viewerFields,
} from '../../engagement/kinds.ts'
import type { Engagement } from '../../engagement/reader.ts'
import { namesOf } from '../../entities/leaves.ts'
import { postLeaves } from '../../entities/post.ts'
import { connectionFrom, connectionWith } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { engagementNodeId, postNodeId } from '../../graphql/node-id.ts'
import type { Selection } from '../../graphql/selection.ts'
import { type PostRef, timeOf, type UserId } from '../../lib/ids.ts'
import type { Page } from '../../lib/page.ts'
import { timeCursors } from '../../pages/cursor.ts'
import type { Projection, TimelineItem, TimelineRequest } from '../../timeline/pages/page.ts'
import { presentUsers } from '../../users/api/present-users.ts'
import type { User } from '../../users/api/user-type.ts'
import { type Facet, type NamedFacet, nameFacets } from '../facets.ts'
import { type Post as CorePost, provenPost } from '../post.ts'
import type { Post } from './post-type.ts'
import type { TextFacet } from './text-facet-type.ts'

/** Post fields that need only the post's reference. */
const entryFields = [
  ...['id', 'author', 'createdAt', 'viewerCanDelete'],
  ...viewerFields.keys(),
  ...publicKinds,
]

/** Whether a selection on Post needs the number of entries of a list. The stored post has it. */
const needsTotal = (post: Selection): boolean =>
  publicKinds.some((kind) => post.of(kind).has('totalCount'))

/** Whether a selection on Post needs the counts of the post. */
const needsCounts = (post: Selection): boolean =>
  post.has(...countFields.keys()) || needsTotal(post)

/** Whether a selection on Post needs the stored post. */
export const needsContent = (post: Selection): boolean =>
  post.beyond(...entryFields) || needsTotal(post)

/** The projection of posts that a selection on Post needs. */
const projectionOf = (post: Selection): Projection =>
  post.beyond(...entryFields, 'text') || needsTotal(post)
    ? 'content'
    : post.has('text')
      ? 'text'
      : 'ref'

/** What a selection on TimelineConnection needs of a page. */
export function timelineNeedsOf(
  timeline: Selection,
): Omit<TimelineRequest, 'window' | 'strategy' | 'group'> {
  const post = timeline.of('edges', 'node')
  return {
    projection: projectionOf(post),
    counts: needsCounts(post),
    viewerHas: post.has(...viewerFields.keys()),
    pending: timeline.has('pending'),
    watermark: timeline.has('pollCursor'),
  }
}

/**
 * Loads posts with authors and the viewer's engagement as plain objects. Posts of deleted authors
 * are absent, and posts that a block hides from the viewer.
 */
export async function presentPosts(
  ctx: Context,
  posts: readonly (CorePost | PostFacts)[],
  selection: Selection,
): Promise<Map<PostRef, Post>> {
  const { viewer } = ctx
  const by = posts.map(({ author }) => author)
  const [authors, shownPosts, viewerHas, facets] = await Promise.all([
    // First, because its reads also decide which authors are live.
    selection.has('author') ? presentUsers(ctx, by, selection.of('author')) : undefined,
    ctx.loaders.visibility.shownAmong('POST', posts),
    selection.has(...viewerFields.keys())
      ? Promise.all(posts.map(({ id, author }) => ctx.loaders.viewerHas.load({ id, author })))
      : undefined,
    presentFacets(ctx, posts, selection),
  ])
  const presented = new Map<PostRef, Post>()
  const needsText = needsContent(selection)
  posts.forEach((post, at) => {
    const author = authors?.get(post.author)
    // A post that was read without a text is malformed.
    const isUnreadable = needsText && (post as Partial<CorePost>).text === undefined
    if (!shownPosts.has(post.id) || (authors && !author) || isUnreadable) return
    const shown = { author, viewerHas: viewerHas?.[at], facets: facets?.[at] }
    presented.set(post, new PresentedPost(post, shown, post.author === viewer) as unknown as Post)
  })
  return presented
}

/** A post that computes a field only if a client selects it, since a page has many posts. */
class PresentedPost {
  readonly __typename = 'Post'

  constructor(
    private readonly post: Partial<CorePost> & PostRef,
    private readonly shown: {
      readonly author: User | undefined
      readonly viewerHas: ReadonlySet<EngagementKind> | null | undefined
      readonly facets: readonly TextFacet[] | undefined
    },
    readonly viewerCanDelete: boolean,
  ) {}

  get id() {
    return postNodeId(this.post)
  }
  get ref(): PostRef {
    return { id: this.post.id, author: this.post.author }
  }
  get createdAt() {
    return timeOf(this.post.id)
  }
  get author() {
    return this.shown.author
  }
  get facets() {
    return this.shown.facets
  }
  get attachments() {
    return this.post.attachments
  }

  static {
    for (const field of namesOf(postLeaves)) {
      Object.defineProperty(PresentedPost.prototype, field, {
        get(this: PresentedPost) {
          return this.post[field]
        },
      })
    }
    for (const field of countFields.keys()) {
      Object.defineProperty(PresentedPost.prototype, field, {
        get(this: PresentedPost) {
          // The saved first result of a mutation may be older than the kind.
          return this.post[field] ?? 0
        },
      })
    }
    for (const [field, of] of viewerFields) {
      Object.defineProperty(PresentedPost.prototype, field, {
        get(this: PresentedPost) {
          return this.shown.viewerHas?.has(of) ?? false
        },
      })
    }
  }
}

/**
 * Posts by reference, as in {@link presentPosts}. Loads their content only if selected. Deleted
 * posts are absent.
 */
export async function presentPostRefs(
  ctx: Context,
  refs: readonly PostRef[],
  selection: Selection,
): Promise<Map<PostRef, Post>> {
  const needsPost = needsContent(selection)
  const posts = await Promise.all(
    refs.map((ref) => (needsPost ? undefined : provenPost(ref)) ?? ctx.loaders.post.load(ref)),
  )
  const existing = posts.filter((post) => post !== null)
  const presented = await presentPosts(ctx, existing, selection)
  return new Map(
    refs.flatMap((ref, at) => {
      const post = presented.get(posts[at] as PostRef)
      return post ? [[ref, post] as const] : []
    }),
  )
}

/**
 * Loads likes, comments and shares with their users and posts. Malformed entries are absent, those
 * that a block hides from the viewer, those of private kinds by others, and those of deleted users,
 * or under their posts. No block hides the viewer's own entries.
 */
export async function presentEngagements(
  ctx: Context,
  all: readonly Engagement[],
  selection: Selection,
) {
  const engagements = all.filter(({ isMalformed }) => !isMalformed)
  const people = engagements.map(({ actor }) => actor)
  const { visibility } = ctx.loaders
  const isOwn = ({ actor }: Engagement) => actor === ctx.viewer
  const [users, hidden, shownPosts, hiddenFromOwn, posts, facets] = await Promise.all([
    // First, because its reads also decide which users are live.
    selection.has('user') ? presentUsers(ctx, people, selection.of('user')) : undefined,
    visibility.hiddenAmong('ENTRY', people),
    ctx.services.posts
      .factsOfProven(engagements.filter((one) => !isOwn(one)).map(({ post }) => post))
      .then((facts) => visibility.shownAmong('POST', facts)),
    visibility.hiddenAmong(
      'ACCOUNT',
      engagements.filter(isOwn).map(({ post }) => post.author),
    ),
    selection.has('post')
      ? presentPostRefs(
          ctx,
          engagements.map(({ post }) => post),
          selection.of('post'),
        )
      : undefined,
    presentFacets(ctx, engagements, selection),
  ])
  const isVisible = (entry: Engagement) =>
    !hidden.has(entry.actor) &&
    (isOwn(entry)
      ? !hiddenFromOwn.has(entry.post.author)
      : isPublic(entry.kind) && shownPosts.has(entry.post.id))
  return new Map(
    engagements.flatMap((engagement, at) => {
      if (!isVisible(engagement)) return []
      const { kind, actor, post, id, text, createdAt } = engagement
      const node = {
        __typename: kinds[kind].node.type,
        id: engagementNodeId({ kind, post, key: entryKey(kind, actor, id) }),
        user: users?.get(actor) ?? null,
        post: posts?.get(post) ?? null,
        text,
        facets: facets?.[at],
        createdAt,
        viewerCanDelete: isOwn(engagement) || post.author === ctx.viewer,
      }
      return [[engagement, node] as const]
    }),
  )
}

/** Converts a page of posts to a connection, with all selected fields. */
export async function presentPostPage(
  ctx: Context,
  page: Page<CorePost | PostFacts>,
  selection: Selection,
) {
  const nodes = await presentPosts(ctx, page.items, selection.of('edges', 'node'))
  return connectionFrom(page, (post) => ({ node: nodes.get(post) ?? null }))
}

/** Converts a page of a timeline to a connection, with all selected fields. An edge is an item. */
export async function presentTimelinePage(
  ctx: Context,
  page: Page<TimelineItem>,
  selection: Selection,
) {
  const posts = page.items.map(({ post }) => post)
  const nodes = await presentPosts(ctx, posts, selection.of('edges', 'node'))
  const edgeOf = ({ post }: TimelineItem) => ({ node: nodes.get(post) ?? null })
  return connectionWith(page, edgeOf, ({ at }) => at, timeCursors)
}

/** A post or an entry, with its text if it has one that is known. */
interface Texted {
  readonly id: string
  readonly text?: string | undefined
  readonly facets?: readonly Facet[] | undefined
}

const mentionedAmong = (all: readonly (readonly NamedFacet[] | undefined)[]): UserId[] =>
  all.flatMap((facets = []) => facets.flatMap(({ mentioned }) => mentioned ?? []))

/**
 * The facets of texts as plain objects, in the order of the texts. Undefined without a text. Loads
 * the mentioned users of all texts together, if they are selected: as {@link presentUsers}, and one
 * command for the blocks that hide them.
 * @param selection on the objects with the texts.
 * @returns undefined if facets are not selected.
 */
async function presentFacets(
  ctx: Context,
  texts: readonly Texted[],
  selection: Selection,
): Promise<readonly (TextFacet[] | undefined)[] | undefined> {
  if (!selection.has('facets')) return undefined
  const all = texts.map(({ text, facets }) =>
    text === undefined ? undefined : nameFacets(text, facets),
  )
  const facetSelection = selection.of('facets')
  const accounts = facetSelection.has('user') ? mentionedAmong(all) : []
  const [hidden, users] = await Promise.all([
    ctx.loaders.hiddenAmong(accounts),
    presentUsers(ctx, accounts, facetSelection.of('user')),
  ])
  return all.map((facets) =>
    facets?.map((facet) => {
      const { mentioned } = facet
      const isShown = mentioned !== null && !hidden.has(mentioned)
      return { ...facet, user: isShown ? (users.get(mentioned) ?? null) : null }
    }),
  )
}
