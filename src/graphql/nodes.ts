import { groupBy } from '../lib/batch.ts'
import type { PostRef } from '../lib/ids.ts'
import { presentEngagements, presentPosts } from '../posts/api/present-posts.ts'
import { presentUsers, presentViewer } from '../users/api/present-users.ts'
import type { Context } from './context.ts'
import { type EngagementRef, engagementNodeId, type NodeRef, postNodeId } from './node-id.ts'
import type { Selection } from './selection.ts'

/**
 * Reads users, posts and their engagement, in the order of `requested`. Null for an object that does not exist, also if a post
 * exists under another author, for an object that a block hides, for another viewer, and for no reference. Reads all
 * objects of a type together.
 */
export async function readNodes(
  ctx: Context,
  requested: readonly (NodeRef | undefined)[],
  selection: Selection,
) {
  const refs = requested.filter((ref) => ref !== undefined)
  const accounts = refs.flatMap((ref) => (ref.type === 'User' ? [ref.account] : []))
  const postRefs = refs.flatMap((ref) => (ref.type === 'Post' ? [ref.post] : []))
  const entries = refs.flatMap((ref) => (ref.type === 'Engagement' ? [ref] : []))
  const [users, posts, engagements] = await Promise.all([
    presentUsers(ctx, accounts, selection),
    readPosts(ctx, postRefs, selection),
    readEngagements(ctx, entries, selection),
  ])
  const viewer = ctx.viewer && presentViewer(ctx)
  return requested.map((ref) => {
    if (!ref) return null
    if (ref.type === 'User') return users.get(ref.account) ?? null
    if (ref.type === 'Viewer') return viewer?.id === ref.id ? viewer : null
    if (ref.type === 'Post') return posts.get(postNodeId(ref.post)) ?? null
    return engagements.get(engagementNodeId(ref)) ?? null
  })
}

/** The posts by their global ids. */
async function readPosts(ctx: Context, refs: readonly PostRef[], selection: Selection) {
  const posts = await Promise.all(refs.map((ref) => ctx.loaders.post.load(ref)))
  const existing = posts.filter((post) => post !== null)
  const presented = await presentPosts(ctx, existing, selection)
  return new Map([...presented].map(([ref, post]) => [postNodeId(ref), post]))
}

/** The entries by their global ids. */
async function readEngagements(ctx: Context, refs: readonly EngagementRef[], selection: Selection) {
  const entries = await Promise.all(
    [...groupBy(refs, ({ kind }) => kind)].map(([kind, some]) => {
      const posts = new Map(some.map(({ post }) => [postNodeId(post), post]))
      const keys = some.map(({ key }) => key)
      return ctx.services.engagementReader.entries([kind], [...posts.values()], keys)
    }),
  )
  const presented = await presentEngagements(ctx, entries.flat(), selection)
  return new Map([...presented.values()].map((node) => [node.id, node]))
}
