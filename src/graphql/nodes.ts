import { groupBy } from '../lib/batch.ts'
import type { PostId, PostRef } from '../lib/ids.ts'
import { mayRead } from '../posts/visibility.ts'
import type { Context } from './context.ts'
import { type EngagementRef, engagementNodeId, type NodeRef } from './node-id.ts'
import { presentEngagements, presentPostRefs, presentUsers } from './present.ts'
import type { Selection } from './selection.ts'

/** Reads users, visible posts and their engagement, in the order of `refs`. Reads all objects of a type together. */
export async function readNodes(ctx: Context, refs: readonly NodeRef[], selection: Selection) {
  const handles = refs.flatMap((ref) => (ref.type === 'User' ? [ref.handle] : []))
  const posts = refs.flatMap((ref) => (ref.type === 'User' ? [] : [ref.post]))
  const engagements = refs.flatMap((ref) => (ref.type === 'Engagement' ? [ref] : []))
  const [users, visible] = await Promise.all([
    presentUsers(ctx, handles, selection),
    visiblePostIds(ctx, posts),
  ])
  const shown = refs.flatMap((ref) =>
    ref.type === 'Post' && visible.has(ref.post.id) ? [ref.post] : [],
  )
  const [presented, engaged] = await Promise.all([
    presentPostRefs(ctx, shown, selection),
    readEngagements(
      ctx,
      engagements.filter(({ post }) => visible.has(post.id)),
      selection,
    ),
  ])
  return refs.map((ref) => {
    if (ref.type === 'User') return users.get(ref.handle) ?? null
    if (ref.type === 'Post') return presented.get(ref.post.id) ?? null
    return engaged.get(engagementNodeId(ref)) ?? null
  })
}

/** The ids of the posts that exist and that the viewer may read. */
async function visiblePostIds(ctx: Context, posts: readonly PostRef[]): Promise<Set<PostId>> {
  const [found, restrictions] = await Promise.all([
    Promise.all(posts.map((post) => ctx.loaders.post.load(post))),
    Promise.all(posts.map(({ author }) => ctx.loaders.restrictions.load(author))),
  ])
  return new Set(
    posts.flatMap(({ id, author }, at) =>
      found[at] && mayRead(ctx.viewer, author, restrictions[at]) ? [id] : [],
    ),
  )
}

async function readEngagements(ctx: Context, refs: readonly EngagementRef[], selection: Selection) {
  const found = await Promise.all(
    [...groupBy(refs, ({ kind }) => kind)].map(([kind, some]) => {
      const posts = new Map(some.map(({ post }) => [post.id, post]))
      const keys = some.map(({ key }) => key)
      return ctx.services.engagementReader.entries([kind], [...posts.values()], keys)
    }),
  )
  const presented = await presentEngagements(ctx, found.flat(), selection)
  return new Map(presented.map((node) => [node.id, node]))
}
