import {
  type EngagementKind,
  engagementKinds,
  entryKey,
  kinds,
  viewerFields,
} from '../engagement/kinds.ts'
import type { Engagement } from '../engagement/reader.ts'
import type { Projection } from '../feed/timeline/page.ts'
import { type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import type { Page } from '../lib/page.ts'
import type { Post as CorePost } from '../posts/post.ts'
import type { Stats } from '../users/stats.ts'
import { optionalFields, type User as Profile } from '../users/users.ts'
import { connectionFrom } from './connection.ts'
import type { Context } from './context.ts'
import { engagementNodeId, postNodeId, userNodeId, viewerNodeId } from './node-id.ts'
import { profileFields } from './prices.ts'
import type { Selection } from './selection.ts'
import type { Post } from './types/post.ts'
import type { User } from './types/user.ts'

/** Post fields that need only the post's reference. */
const entryFields = [
  ...['id', 'author', 'createdAt', 'viewerCanDelete'],
  ...viewerFields.keys(),
  ...engagementKinds,
]

/** Whether a selection on Post needs the number of entries of a list. The stored post has it. */
const needsTotal = (post: Selection): boolean =>
  engagementKinds.some((kind) => post.of(kind).has('totalCount'))

/** Whether a selection on Post needs the stored post. */
export const needsContent = (post: Selection): boolean =>
  post.beyond(...entryFields) || needsTotal(post)

/** The projection of posts that a selection on Post needs. */
export const projectionOf = (post: Selection): Projection =>
  post.beyond(...entryFields, 'text') || needsTotal(post)
    ? 'content'
    : post.has('text')
      ? 'text'
      : 'ref'

/** Whether a selection on User needs the profile. */
export const needsProfile = (user: Selection): boolean => user.has(...profileFields)

/** The fields of a user that its counters answer. */
const countFields = ['followerCount', 'followingCount', 'postCount'] as const

/** The fields of a user that a block hides. */
const hiddenFields = ['name', ...optionalFields, ...countFields] as const

/**
 * Loads users as plain objects with all selected fields. Users without an account are absent. A block between the viewer
 * and a user leaves only the handle, `createdAt` and the viewer's own relations.
 *
 * One command for each selected part of profile, stats and the viewer's relations, for any number of users. Without
 * these, one decides whether the account exists. Both are already known of a timeline's authors.
 */
export async function presentUsers(
  { loaders, viewer }: Context,
  handles: readonly UserId[],
  selection: Selection,
): Promise<Map<UserId, User>> {
  const distinct = [...new Set(handles)]
  const when = <V>(needed: boolean, load: (handle: UserId) => Promise<V>) =>
    needed ? Promise.all(distinct.map(load)) : undefined
  const profile = needsProfile(selection)
  const counts = selection.has(...countFields)
  const [hidden, profiles, live, stats, follows, followed, groups, restrictions] =
    await Promise.all([
      selection.has(...hiddenFields, 'viewerCanFollow') ? loaders.hiddenAmong(distinct) : undefined,
      when(profile, (handle) => loaders.user.load(handle)),
      when(!profile && !counts, (handle) => loaders.live.load(handle)),
      when(counts, (handle) => loaders.stats.load(handle)),
      when(selection.has('viewerFollows'), (handle) => loaders.viewerFollows.load(handle)),
      when(selection.has('followsViewer'), (handle) => loaders.followsViewer.load(handle)),
      when(selection.has('viewerGroups'), (handle) => loaders.viewerGroups.load(handle)),
      when(selection.has('viewerHasMuted', 'viewerHasBlocked'), (handle) =>
        loaders.restrictions.load(handle),
      ),
    ])
  const users = new Map<UserId, User>()
  distinct.forEach((handle, at) => {
    if (profiles?.[at] === null || stats?.[at] === null || live?.[at] === false) return
    const profile = profiles?.[at]
    const user = hidden?.has(handle)
      ? new PresentedUser(handle, profile && { createdAt: profile.createdAt })
      : new PresentedUser(handle, profile, stats?.[at])
    user.isViewer = handle === viewer
    user.viewerCanFollow = viewer !== undefined && handle !== viewer && !hidden?.has(handle)
    user.viewerFollows = follows?.[at]
    user.followsViewer = followed?.[at]
    user.viewerGroups = groups?.[at] ?? []
    user.viewerHasMuted = restrictions?.[at]?.has('MUTE') ?? false
    user.viewerHasBlocked = restrictions?.[at]?.has('BLOCK') ?? false
    users.set(handle, user as unknown as User)
  })
  return users
}

/** A user that encodes its global id only if a client selects it, since a page has many users. */
class PresentedUser {
  readonly __typename = 'User'
  readonly name: string
  readonly bio: string | undefined
  readonly avatarUrl: string | undefined
  readonly bannerUrl: string | undefined
  readonly createdAt: Date | undefined
  isViewer = false
  viewerCanFollow = false
  viewerFollows: boolean | null | undefined
  followsViewer: boolean | null | undefined
  viewerGroups: readonly string[] = []
  viewerHasMuted = false
  viewerHasBlocked = false

  constructor(
    readonly handle: UserId,
    profile: Partial<Profile> | null | undefined,
    private readonly stats?: Stats | null,
  ) {
    this.name = profile?.name ?? handle
    this.bio = profile?.bio
    this.avatarUrl = profile?.avatarUrl
    this.bannerUrl = profile?.bannerUrl
    this.createdAt = profile?.createdAt
  }

  get id(): string {
    return userNodeId(this.handle)
  }
  get followerCount() {
    return this.stats?.followers ?? null
  }
  get followingCount() {
    return this.stats?.following ?? null
  }
  get postCount() {
    return this.stats?.posts ?? null
  }
}

/** The viewer. Each field loads what it needs. */
export const presentViewer = (handle: UserId) => ({
  __typename: 'Viewer',
  id: viewerNodeId(handle),
  handle,
})

/** One user, as in {@link presentUsers}. Null without an account or without selected fields. */
export async function presentUser(
  ctx: Context,
  handle: UserId,
  selection: Selection,
): Promise<User | null> {
  if (!selection.any) return null
  return (await presentUsers(ctx, [handle], selection)).get(handle) ?? null
}

/**
 * Loads posts with authors and the viewer's engagement as plain objects. Posts of deleted authors are absent, and posts
 * that a block hides from the viewer.
 */
export async function presentPosts(
  ctx: Context,
  posts: readonly (CorePost | PostRef)[],
  selection: Selection,
): Promise<Map<PostRef, Post>> {
  const { viewer } = ctx
  const [hidden, authors, viewerHas] = await Promise.all([
    ctx.loaders.hiddenAmong(posts.map(({ author }) => author)),
    selection.has('author')
      ? presentUsers(
          ctx,
          posts.map(({ author }) => author),
          selection.of('author'),
        )
      : undefined,
    selection.has(...viewerFields.keys())
      ? Promise.all(posts.map(({ id, author }) => ctx.loaders.viewerHas.load({ id, author })))
      : undefined,
  ])
  const presented = new Map<PostRef, Post>()
  posts.forEach((post, at) => {
    const author = authors?.get(post.author)
    if (hidden.has(post.author) || (authors && !author)) return
    const canDelete = post.author === viewer
    presented.set(
      post,
      new PresentedPost(post, author, viewerHas?.[at], canDelete) as unknown as Post,
    )
  })
  return presented
}

/** A post that computes a field only if a client selects it, since a page has many posts. */
class PresentedPost {
  readonly __typename = 'Post'

  constructor(
    private readonly post: Partial<CorePost> & PostRef,
    readonly author: User | undefined,
    private readonly viewerHas: ReadonlySet<EngagementKind> | null | undefined,
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
  get text() {
    return this.post.text
  }
  get attachments() {
    return this.post.attachments
  }

  static {
    for (const { count } of Object.values(kinds)) {
      Object.defineProperty(PresentedPost.prototype, count.field, {
        get(this: PresentedPost) {
          // The saved first result of a mutation may be older than the kind.
          return this.post[count.field] ?? 0
        },
      })
    }
    for (const [field, of] of viewerFields) {
      Object.defineProperty(PresentedPost.prototype, field, {
        get(this: PresentedPost) {
          return this.viewerHas?.has(of) ?? false
        },
      })
    }
  }
}

/** Posts by reference, as in {@link presentPosts}. Loads their content only if selected. Deleted posts are absent. */
export async function presentPostRefs(
  ctx: Context,
  refs: readonly PostRef[],
  selection: Selection,
): Promise<Map<PostRef, Post>> {
  const found = needsContent(selection)
    ? await Promise.all(refs.map((ref) => ctx.loaders.post.load(ref)))
    : refs
  const existing = found.filter((post) => post !== null)
  const presented = await presentPosts(ctx, existing, selection)
  return new Map(
    refs.flatMap((ref, at) => {
      const post = presented.get(found[at] as PostRef)
      return post ? [[ref, post] as const] : []
    }),
  )
}

/**
 * Loads likes, comments and shares with their users and posts. Entries that a block hides from the viewer are absent. The
 * viewer's own entries are never hidden.
 */
export async function presentEngagements(
  ctx: Context,
  engagements: readonly Engagement[],
  selection: Selection,
) {
  const people = engagements.map(({ actor }) => actor)
  const others = engagements.filter(({ actor }) => actor !== ctx.viewer)
  const [hidden, users, posts] = await Promise.all([
    ctx.loaders.hiddenAmong(others.flatMap(({ actor, post }) => [actor, post.author])),
    selection.has('user') ? presentUsers(ctx, people, selection.of('user')) : undefined,
    selection.has('post')
      ? presentPostRefs(
          ctx,
          engagements.map(({ post }) => post),
          selection.of('post'),
        )
      : undefined,
  ])
  const visible = engagements.filter(
    ({ actor, post }) => actor === ctx.viewer || !(hidden.has(actor) || hidden.has(post.author)),
  )
  return new Map(
    visible.map((engagement) => {
      const { kind, actor, post, id, text, createdAt } = engagement
      const node = {
        __typename: kinds[kind].node.type,
        id: engagementNodeId({ kind, post, key: entryKey(kind, actor, id) }),
        user: users?.get(actor) ?? null,
        post: posts?.get(post) ?? null,
        text,
        createdAt,
        viewerCanDelete: actor === ctx.viewer || post.author === ctx.viewer,
      }
      return [engagement, node]
    }),
  )
}

/** Converts a page of posts to a connection, with all selected fields. */
export async function presentPostPage(
  ctx: Context,
  page: Page<CorePost | PostRef>,
  selection: Selection,
) {
  const nodes = await presentPosts(ctx, page.items, selection.of('edges', 'node'))
  return connectionFrom(page, (post) => ({ node: nodes.get(post) ?? null }))
}
