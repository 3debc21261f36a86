import { groupBy } from '../lib/batch.ts'
import { presentEngagements, presentPosts } from '../posts/api/present-posts.ts'
import { presentUsers, presentViewer } from '../users/api/present-users.ts'
import type { Context } from './context.ts'
import { findNodeRef, type NodeRef, postNodeId, type RefOf } from './node-id.ts'
import type { Selection } from './selection.ts'

/** An object with a global id. */
interface Node {
  readonly id: string
}

/**
 * Reads the objects of each type together, with all selected fields. Those that the viewer may not
 * see are absent.
 */
const readers: {
  readonly [Type in NodeRef['type']]: (
    ctx: Context,
    refs: readonly RefOf<Type>[],
    selection: Selection,
  ) => Promise<Iterable<Node>>
} = {
  Viewer: async (ctx) => (ctx.viewer ? [presentViewer(ctx)] : []),
  User: async (ctx, refs, selection) => {
    const accounts = refs.map(({ account }) => account)
    return (await presentUsers(ctx, accounts, selection)).values()
  },
  Post: async (ctx, refs, selection) => {
    const posts = await Promise.all(refs.map(({ post }) => ctx.loaders.post.load(post)))
    const existing = posts.filter((post) => post !== null)
    return (await presentPosts(ctx, existing, selection)).values()
  },
  Engagement: async (ctx, refs, selection) => {
    const entries = await Promise.all(
      [...groupBy(refs, ({ kind }) => kind)].map(([kind, some]) => {
        const posts = new Map(some.map(({ post }) => [postNodeId(post), post]))
        const keys = some.map(({ key }) => key)
        return ctx.services.engagementReader.entries([kind], [...posts.values()], keys)
      }),
    )
    return (await presentEngagements(ctx, entries.flat(), selection)).values()
  },
}

const types = Object.keys(readers) as readonly NodeRef['type'][]

/**
 * Reads objects by their global ids, in the order of `ids`. Null for an object that does not exist,
 * also if a post exists under another author, for an object that a block hides, for another viewer,
 * and for a text that is no global id. Reads all objects of a type together.
 */
export async function readNodes(ctx: Context, ids: readonly string[], selection: Selection) {
  const refs = ids.flatMap((id) => findNodeRef(id) ?? [])
  const read = async <Type extends NodeRef['type']>(type: Type) => {
    const ofType = refs.filter((ref): ref is RefOf<Type> => ref.type === type)
    return ofType.length > 0 ? [...(await readers[type](ctx, ofType, selection))] : []
  }
  const nodes = (await Promise.all(types.map(read))).flat()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return ids.map((id) => byId.get(id) ?? null)
}
