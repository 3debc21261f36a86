import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql'
import { ConnectionArgs, connectionFrom, windowOf } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { inputOf } from '../../graphql/mutation-types.ts'
import { engagementNodeId, parseEntryNodeId, parsePostNodeId } from '../../graphql/node-id.ts'
import { type Selection, selectionOf } from '../../graphql/selection.ts'
import { type PostRef, timeOf } from '../../lib/ids.ts'
import { timeCursors } from '../../pages/cursor.ts'
import { PostInput } from '../../posts/api/post-mutations.ts'
import { Post } from '../../posts/api/post-type.ts'
import { presentEngagements, presentPostRefs } from '../../posts/api/present-posts.ts'
import { accountPartOf } from '../../users/api/present-users.ts'
import { User } from '../../users/api/user-type.ts'
import { Viewer } from '../../users/api/viewer-type.ts'
import {
  type EngagementKind,
  engagementKinds,
  type KindKeyedBy,
  type KindWithPosts,
  kinds,
  kindsKeyedBy,
  kindsWithPosts,
  type PublicKind,
  publicKinds,
} from '../kinds.ts'
import type { Engagement } from '../reader.ts'
import {
  type AddEngagementInput,
  addInputOf,
  addPayloadOf,
  type RemoveEngagementInput,
  removeInputOf,
  removePayloadOf,
} from './engagement-mutations.ts'
import { schemaNames } from './engagement-names.ts'
import { engagementTypes, postsConnectionOf } from './engagement-types.ts'

const inputOptions = { description: 'The input of the mutation.' }

/** The resolver of a kind's list, a field of Post. */
function listResolverOf(kind: PublicKind) {
  const { list: description, count } = kinds[kind].public

  @Resolver(() => Post)
  class ListResolver {
    @FieldResolver(() => engagementTypes[kind].connection, { description })
    async [kind](
      @Root() post: Post,
      @Args(() => ConnectionArgs) args: ConnectionArgs,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const selection = selectionOf(info).of('edges', 'node')
      const part = accountPartOf(selection.of('user'))
      const key = { owner: post.ref, window: windowOf(args), more: kind, part }
      const page = await ctx.loaders.engagements.load(key)
      const nodes = await presentEngagements(ctx, page.items, selection)
      return {
        ...connectionFrom(page, (item) => ({ node: nodes.get(item) ?? null })),
        totalCount: post[count.field as keyof Post],
      }
    }
  }
  return ListResolver
}

/** The resolver of the list of the posts with an entry of a user, a field of User or of Viewer. */
function postsResolverOf(row: KindWithPosts) {
  const { kind, of, field, description, at } = row
  const Connection = postsConnectionOf(row)

  @Resolver(() => (of === 'User' ? User : Viewer))
  class PostsResolver {
    @FieldResolver(() => Connection, { description })
    async [field](
      @Root() root: User | Viewer,
      @Args(() => ConnectionArgs) args: ConnectionArgs,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const owner = of === 'User' ? (root as User).account : ctx.requireViewer()
      const key = { owner, window: windowOf(args), more: kind }
      const page = await ctx.loaders.engagedPosts.load(key)
      const refs = page.items.map(({ post }) => post)
      const posts = await presentPostRefs(ctx, refs, selectionOf(info).of('edges', 'node'))
      return connectionFrom(page, ({ id, post }) => ({
        node: posts.get(post) ?? null,
        [at.field]: timeOf(id),
      }))
    }
  }
  return PostsResolver
}

/** The mutation that adds an entry of the viewer, for any kind. */
function addResolverOf(kind: EngagementKind) {
  const { mutation: name, description } = kinds[kind].add
  const names = schemaNames(kind)
  const [Input, Payload] = [addInputOf(kind), addPayloadOf(kind)]

  @Resolver()
  class AddResolver {
    @Mutation(() => Payload, { name, nullable: true, description })
    async add(
      @Arg('input', () => Input, inputOptions) input: AddEngagementInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const { engagements } = ctx.services
      const { text, postId } = input
      const { entry, isRepeat, ref, ...result } = await mutate(ctx, name, input, {
        parse: { ref: () => parsePostNodeId('input.postId', postId) },
        check: () => engagements.checkText(kind, text ?? ''),
        run: async ({ viewer, ref, idempotencyKey }) => ({
          ...(await engagements.add(kind, viewer, ref, { text, idempotencyKey })),
          ref,
        }),
      })
      if (!isRepeat) ctx.noteLive([ctx.requireViewer(), ref.author])
      const selection = selectionOf(info)
      const [node, edgeNode, post] = await Promise.all([
        presentEngagement(ctx, entry, selection.of(names.entry)),
        presentEngagement(ctx, entry, selection.of(names.edge), 'node'),
        presentPost(ctx, ref, selection.of('post')),
      ])
      const edge = entry && edgeNode && { cursor: timeCursors.encode(entry.place), node: edgeNode }
      return { ...result, post, [names.entry]: node, [names.edge]: edge }
    }
  }
  return AddResolver
}

/** The mutation that removes the viewer's only entry, for a kind whose key is the actor. */
function removeOwnResolverOf(kind: KindKeyedBy<'actor'>) {
  const { mutation: name, description } = kinds[kind].remove
  const { deletedId } = schemaNames(kind)
  const [Input, Payload] = [inputOf(name, PostInput), removePayloadOf(kind)]

  @Resolver()
  class RemoveOwnResolver {
    @Mutation(() => Payload, { name, nullable: true, description })
    async remove(
      @Arg('input', () => Input, inputOptions) input: PostInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const { ref, ...result } = await mutate(ctx, name, input, {
        parse: { ref: () => parsePostNodeId('input.postId', input.postId) },
        run: async ({ viewer, ref, idempotencyKey }) => {
          const { engagements } = ctx.services
          const { changed } = await engagements.remove(kind, viewer, ref, idempotencyKey)
          return { changed, ref, [deletedId]: engagementNodeId({ kind, post: ref, key: viewer }) }
        },
      })
      return { ...result, post: await presentPost(ctx, ref, selectionOf(info).of('post')) }
    }
  }
  return RemoveOwnResolver
}

/** The mutation that removes an entry by its global id, for a kind whose key is the entry's id. */
function removeResolverOf(kind: KindKeyedBy<'_id'>) {
  const { mutation: name, description } = kinds[kind].remove
  const { entryId, deletedId } = schemaNames(kind)
  const [Input, Payload] = [removeInputOf(kind), removePayloadOf(kind)]

  @Resolver()
  class RemoveResolver {
    @Mutation(() => Payload, { name, nullable: true, description })
    async remove(
      @Arg('input', () => Input, inputOptions) input: RemoveEngagementInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const globalId = input[entryId] as string
      const { ref, ...result } = await mutate(ctx, name, input, {
        parse: { entry: () => parseEntryNodeId(`input.${entryId}`, globalId, kind) },
        run: async ({ viewer, entry, idempotencyKey }) => {
          const { engagements } = ctx.services
          const { changed } = await engagements.removeById(entry, viewer, idempotencyKey)
          return { changed, ref: entry.post, [deletedId]: globalId }
        },
      })
      return { ...result, post: await presentPost(ctx, ref, selectionOf(info).of('post')) }
    }
  }
  return RemoveResolver
}

/** The lists of posts and of users, and the mutations that change them. */
export const engagementResolvers = [
  ...publicKinds.map(listResolverOf),
  ...kindsWithPosts.map(postsResolverOf),
  ...engagementKinds.map(addResolverOf),
  ...kindsKeyedBy('actor').map(removeOwnResolverOf),
  ...kindsKeyedBy('_id').map(removeResolverOf),
]

async function presentPost(ctx: Context, post: PostRef, selection: Selection) {
  if (!selection.isSelected) return null
  return (await presentPostRefs(ctx, [post], selection)).get(post) ?? null
}

async function presentEngagement(
  ctx: Context,
  entry: Engagement | undefined,
  selection: Selection,
  ...below: readonly string[]
) {
  if (!entry || !selection.isSelected) return null
  return (await presentEngagements(ctx, [entry], selection.of(...below))).get(entry)
}
