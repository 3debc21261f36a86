import { singleBatch } from '../db/client.ts'
import type { Collections, PerKind, PostDoc, PostFacts } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { Document, ObjectId } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { shareReads } from '../db/shared-reads.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import { contentFields, contentProjection, factsOf, type Post, toPost } from '../posts/post.ts'
import { type KindKeyedBy, kinds, viewerFields } from './kinds.ts'

/** The kinds of which a user has at most one entry in a list. */
type ViewerKind = KindKeyedBy<'actor'>

/** What changes about a post while its content does not. */
export interface EngagementSummary {
  /** The number of entries of each kind, as it is stored. */
  readonly counts: PerKind
  /** The kinds of which the viewer has an entry. Undefined if no viewer was given. */
  readonly viewerHas: ReadonlySet<ViewerKind> | undefined
  /** The post, if its content was asked for: only what rules know if its document is malformed. */
  readonly post?: Post | PostFacts | undefined
}

/** The posts that a request asks about. */
interface SummaryRequest {
  readonly posts: readonly PostRef[]
  /** Whose entries are needed. Undefined: of no user. */
  readonly viewer: UserId | undefined
  /** The posts whose content is needed. */
  readonly unknown: readonly PostRef[]
}

/** A post, and for each kind that it has entries of, the viewers of the batch who have one. */
type FoundPost = Omit<PostDoc, 'has_overflow' | ViewerKind> & {
  readonly has_overflow?: boolean
} & Readonly<Partial<Record<ViewerKind, readonly string[]>>>

/** What a batch of requests found. */
interface FoundSummaries {
  readonly posts: ReadonlyMap<PostId, FoundPost>
  /** The viewers who have an entry, by {@link entryOf}. */
  readonly entries: ReadonlySet<string>
}

const viewerKinds = [...viewerFields.values()]

/** Number of requests that share a command: each post is compared with the viewers of all. */
const batchMax = 16

/** Number of posts of a request above which it reads alone, so that it delays no other. */
const sharedPostsMax = 100

/** Reads counts and the viewer's own entries. Concurrent requests share the reads. */
export class EngagementSummaries {
  private readonly read = shareReads<SummaryRequest, FoundSummaries>(
    'engagement_summaries',
    (requests) => this.readAll(requests),
    batchMax,
  )

  constructor(private readonly collections: Pick<Collections, 'posts' | 'overflow'>) {}

  /**
   * Loads the summaries of the existing posts among `posts`. One command, which up to 100 posts
   * share, and another one if a viewer is given and a list of these posts overflows. Lists that
   * overflow cost no more than others.
   * @param unknown the posts whose content is loaded too. Default: none.
   */
  async load(
    posts: readonly PostRef[],
    viewer: UserId | undefined,
    unknown: readonly PostRef[] = [],
  ): Promise<Map<PostId, EngagementSummary>> {
    if (posts.length === 0) return new Map()
    const request = { posts, viewer, unknown }
    const isUnknown = new Set(unknown.map(({ id }) => id))
    const isLarge = posts.length > sharedPostsMax
    const summaries = await (isLarge ? this.readAll([request]) : this.read([request]))
    return new Map(
      posts.flatMap(({ id, author }) => {
        const post = summaries.posts.get(id)
        // An id with another author names no post.
        if (post?.author !== author) return []
        const viewerHas = viewer === undefined ? undefined : entriesIn(summaries, viewer, id)
        const content = isUnknown.has(id) ? (toPost(post) ?? factsOf(post)) : undefined
        return [[id, { counts: post.counts ?? {}, viewerHas, post: content }] as const]
      }),
    )
  }

  private async readAll(requests: readonly SummaryRequest[]): Promise<FoundSummaries> {
    // By author too: a request may name an author who did not write the post.
    const asked = new Map(
      requests.flatMap(({ posts }) => posts.map((post) => [`${post.author}/${post.id}`, post])),
    )
    const viewers = [...new Set(requests.flatMap(({ viewer }) => viewer ?? []))]
    const unknown = new Set(requests.flatMap(({ unknown }) => unknown.map(({ id }) => id)))
    const docs = await this.readPosts([...asked.values()], viewers, unknown)
    const popular = viewers.length > 0 ? docs.filter(({ has_overflow }) => has_overflow) : []
    const beyond = popular.length > 0 ? await this.readOverflow(popular, viewers) : []
    const posts = new Map<PostId, FoundPost>()
    const entries = new Set(beyond)
    for (const post of docs) {
      const id = fromObjectId<PostId>(post._id)
      posts.set(id, post)
      if (viewers.length > 0)
        for (const kind of viewerKinds)
          for (const viewer of post[kind] ?? []) entries.add(entryOf(viewer, kind, id))
    }
    return { posts, entries }
  }

  private async readPosts(
    posts: readonly PostRef[],
    viewers: readonly string[],
    unknown: ReadonlySet<PostId>,
  ): Promise<FoundPost[]> {
    const authors = [...new Set(posts.map(({ author }) => author))]
    const filter = {
      author: { $in: authors },
      _id: { $in: posts.map(({ id }) => toObjectId(id)) },
    }
    const projection: Document = { author: 1, counts: 1, ...contentOf(unknown, posts.length) }
    if (viewers.length > 0) {
      projection.has_overflow = 1
      for (const kind of viewerKinds) {
        const actors = { $map: { input: `$${kind}`, in: `$$this.${kinds[kind].key}` } }
        const ofViewers = { $setIntersection: [actors, { $literal: viewers }] }
        // Most posts have no entries, and an empty list of each kind costs as much as all else
        // about a post.
        projection[kind] = { $cond: [{ $isArray: `$${kind}` }, ofViewers, '$$REMOVE'] }
      }
    }
    return findAtOnce<PostDoc, FoundPost>(this.collections.posts, filter, {
      projection,
      hint: { _id: 1 },
    })
  }

  private async readOverflow(
    posts: readonly FoundPost[],
    viewers: readonly string[],
  ): Promise<string[]> {
    const filter = {
      '_id.post': { $in: posts.map(({ _id }) => _id) },
      '_id.kind': { $in: viewerKinds },
      'items.actor': { $in: [...viewers] },
    }
    const actors = { $setIntersection: ['$items.actor', { $literal: viewers }] }
    const levels = await this.collections.overflow
      .find(filter, singleBatch)
      .project<{ _id: { post: ObjectId; kind: ViewerKind }; actors: readonly string[] }>({ actors })
      .toArray()
    return levels.flatMap(({ _id: { post, kind }, actors: some }) =>
      some.map((viewer) => entryOf(viewer, kind, fromObjectId(post))),
    )
  }
}

/** The projection of the content of some of the posts that are read. */
function contentOf(unknown: ReadonlySet<PostId>, posts: number): Document {
  if (unknown.size === 0) return {}
  if (unknown.size >= posts) return contentProjection
  const ids = [...unknown].map(toObjectId)
  const ofUnknown = (field: string) => ({
    $cond: [{ $in: ['$_id', ids] }, `$${field}`, '$$REMOVE'],
  })
  return Object.fromEntries(
    contentFields.flatMap((field) => (field === 'counts' ? [] : [[field, ofUnknown(field)]])),
  )
}

const none: ReadonlySet<ViewerKind> = new Set()

/** The kinds of which a viewer has an entry in a post. */
function entriesIn(
  { entries }: FoundSummaries,
  viewer: UserId,
  post: PostId,
): ReadonlySet<ViewerKind> {
  if (entries.size === 0) return none
  return new Set(viewerKinds.filter((kind) => entries.has(entryOf(viewer, kind, post))))
}

const entryOf = (viewer: string, kind: ViewerKind, post: string) => `${viewer}/${kind}/${post}`
