import { engagementKinds, entryKey, kinds, viewerFields } from '../engagement/kinds.ts'
import type { Engagement } from '../engagement/reader.ts'
import type { Projection } from '../feed/timeline/page.ts'
import { type PostId, type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import type { Page } from '../lib/page.ts'
import type { Post as CorePost } from '../posts/post.ts'
import type { Stats } from '../users/stats.ts'
import type { User as Profile } from '../users/users.ts'
import { connectionFrom } from './connection.ts'
import type { Context } from './context.ts'
import { engagementNodeId, postNodeId, userNodeId } from './node-id.ts'
import type { Selection } from './selection.ts'
import type { Post } from './types/post.ts'
import type { User } from './types/user.ts'

/** Post fields that need no more than the entry. */
const entryFields = ['id', 'author', 'createdAt', ...viewerFields.keys(), ...engagementKinds]

/** Whether a selection on Post needs the stored post. */
export const needsContent = (post: Selection): boolean => post.beyond(...entryFields)

/** How much of its posts a selection on Post needs of a timeline. */
export const projectionOf = (post: Selection): Projection =>
  post.beyond(...entryFields, 'text') ? 'content' : post.has('text') ? 'text' : 'ref'

/**
 * The users as plain objects that hold all the client asked for, so that their fields cost nothing more.
 * Everything goes through the request's loaders: whatever the number of users and of parents, one command for
 * each of profile, stats and the viewer's relations that is asked for. Stats are read also where nothing else would
 * tell whether the account is live; a timeline's authors are known to be, and cost nothing more.
 * Those whose account is gone are absent.
 */
export async function presentUsers(
  { loaders }: Context,
  handles: readonly UserId[],
  asked: Selection,
): Promise<Map<UserId, User>> {
  const distinct = [...new Set(handles)]
  const when = <V>(needed: boolean, load: (handle: UserId) => Promise<V>) =>
    needed ? Promise.all(distinct.map(load)) : undefined
  const profile = asked.has('name', 'bio', 'createdAt')
  const [profiles, stats, follows, followed, groups, between] = await Promise.all([
    when(profile, (handle) => loaders.user.load(handle)),
    when(asked.has('stats') || !profile, (handle) => loaders.stats.load(handle)),
    when(asked.has('viewerFollows'), (handle) => loaders.viewerFollows.load(handle)),
    when(asked.has('followsViewer'), (handle) => loaders.followsViewer.load(handle)),
    when(asked.has('viewerGroups'), (handle) => loaders.viewerGroups.load(handle)),
    when(asked.has('viewerHasMuted', 'viewerHasBlocked'), (handle) =>
      loaders.restrictions.load(handle),
    ),
  ])
  const users = new Map<UserId, User>()
  distinct.forEach((handle, at) => {
    if (profiles?.[at] === null || stats?.[at] === null) return
    const user = new PresentedUser(handle, profiles?.[at], stats?.[at])
    user.viewerFollows = follows?.[at]
    user.followsViewer = followed?.[at]
    user.viewerGroups = groups?.[at] ?? []
    user.viewerHasMuted = between?.[at]?.has('MUTE') ?? false
    user.viewerHasBlocked = between?.[at]?.has('BLOCK') ?? false
    users.set(handle, user as unknown as User)
  })
  return users
}

/** A user whose global id is written when it is asked for: a page holds many. */
class PresentedUser {
  readonly __typename = 'User'
  readonly name: string | undefined
  readonly bio: string | undefined
  readonly createdAt: Date | undefined
  viewerFollows: boolean | null | undefined
  followsViewer: boolean | null | undefined
  viewerGroups: readonly string[] = []
  viewerHasMuted = false
  viewerHasBlocked = false

  constructor(
    readonly handle: UserId,
    profile: Profile | undefined,
    readonly stats: Stats | undefined,
  ) {
    this.name = profile?.name
    this.bio = profile?.bio
    this.createdAt = profile?.createdAt
  }

  get id(): string {
    return userNodeId(this.handle)
  }
}

/** One user, as {@link presentUsers}; null when the account is gone, or nothing is asked for. */
export async function presentUser(
  ctx: Context,
  handle: UserId,
  asked: Selection,
): Promise<User | null> {
  if (!asked.any) return null
  return (await presentUsers(ctx, [handle], asked)).get(handle) ?? null
}

/** Posts with their authors and what the viewer did to them, as plain objects. Those whose author is gone are absent. */
export async function presentPosts(
  ctx: Context,
  posts: readonly (CorePost | PostRef)[],
  asked: Selection,
): Promise<Map<PostRef, Post>> {
  const [authors, engagement] = await Promise.all([
    asked.has('author')
      ? presentUsers(
          ctx,
          posts.map(({ author }) => author),
          asked.of('author'),
        )
      : undefined,
    asked.has(...viewerFields.keys())
      ? Promise.all(
          posts.map(({ id, author }) => ctx.loaders.viewerEngagement.load({ id, author })),
        )
      : undefined,
  ])
  const presented = new Map<PostRef, Post>()
  posts.forEach((post, at) => {
    const author = authors?.get(post.author)
    if (authors && !author) return
    presented.set(post, new PresentedPost(post, author, engagement?.[at]) as unknown as Post)
  })
  return presented
}

/** A post whose fields are made when they are asked for: a page holds many. */
class PresentedPost {
  readonly __typename = 'Post'

  constructor(
    private readonly post: Partial<CorePost> & PostRef,
    readonly author: User | undefined,
    private readonly viewerEngagement: readonly Engagement[] | null | undefined,
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
          return this.viewerEngagement?.some(({ kind }) => kind === of) ?? false
        },
      })
    }
  }
}

/** Posts by reference, as {@link presentPosts}, with content only if it is asked for. Those that are gone are absent. */
export async function presentPostRefs(
  ctx: Context,
  refs: readonly PostRef[],
  asked: Selection,
): Promise<Map<PostId, Post>> {
  const found = needsContent(asked)
    ? await Promise.all(refs.map((ref) => ctx.loaders.post.load(ref)))
    : refs
  const there = found.filter((post) => post !== null)
  const presented = await presentPosts(ctx, there, asked)
  return new Map([...presented].map(([{ id }, post]) => [id, post]))
}

/** Entries of lists with their users and posts, in order. */
export async function presentEngagements(
  ctx: Context,
  engagements: readonly Engagement[],
  asked: Selection,
) {
  const [users, posts] = await Promise.all([
    asked.has('user')
      ? presentUsers(
          ctx,
          engagements.map(({ actor }) => actor),
          asked.of('user'),
        )
      : undefined,
    asked.has('post')
      ? presentPostRefs(
          ctx,
          engagements.map(({ post }) => post),
          asked.of('post'),
        )
      : undefined,
  ])
  return engagements.map((engagement) => {
    const { kind, actor, post, id, text, createdAt } = engagement
    return {
      __typename: kinds[kind].node.type,
      id: engagementNodeId({ kind, post, key: entryKey(kind, actor, id) }),
      user: users?.get(actor) ?? null,
      post: posts?.get(post.id) ?? null,
      text,
      createdAt,
    }
  })
}

/** A page of posts as a connection, loaded in one go by what is asked for below `asked`. */
export async function presentPostPage(
  ctx: Context,
  page: Page<CorePost | PostRef>,
  asked: Selection,
) {
  const nodes = await presentPosts(ctx, page.items, asked.of('edges', 'node'))
  return connectionFrom(page, (post) => ({ node: nodes.get(post) ?? null }))
}
