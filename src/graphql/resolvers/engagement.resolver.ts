import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql'
import type { OnceKey } from '../../db/once.ts'
import type { EngagementKind } from '../../engagement/kinds.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import { ConnectionArgs, connectionFrom, windowOf } from '../connection.ts'
import type { Context } from '../context.ts'
import { AddCommentInput, DeleteCommentInput, PostInput } from '../inputs.ts'
import { mutate } from '../mutate.ts'
import { parseCommentNodeId, parsePostNodeId } from '../node-id.ts'
import { AddCommentPayload, DeleteCommentPayload, PostMarkPayload } from '../payloads.ts'
import { presentEngagements, presentPostRefs } from '../present.ts'
import { selectionOf } from '../selection.ts'
import { CommentConnection, LikeConnection, ShareConnection } from '../types/engagement.ts'
import { Post } from '../types/post.ts'

const inputDescription = 'The input of the mutation.'
const input = () => Arg('input', () => PostInput, { description: inputDescription })

/** Likes, comments and shares: the lists of a post, and what changes them. */
@Resolver(() => Post)
export class EngagementResolver {
  @FieldResolver(() => LikeConnection, { description: 'The likes of the post, newest first.' })
  async likes(
    @Root() { ref }: Post,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return list(ctx, info, { kind: 'likes', post: ref }, args)
  }

  @FieldResolver(() => CommentConnection, {
    description: 'The comments on the post, newest first.',
  })
  async comments(
    @Root() { ref }: Post,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return list(ctx, info, { kind: 'comments', post: ref }, args)
  }

  @FieldResolver(() => ShareConnection, { description: 'The shares of the post, newest first.' })
  async shares(
    @Root() { ref }: Post,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return list(ctx, info, { kind: 'shares', post: ref }, args)
  }

  @Mutation(() => PostMarkPayload, {
    nullable: true,
    description: 'Adds a like of the viewer to the post.',
  })
  async likePost(@input() given: PostInput, @Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return change(ctx, info, given, (...who) => ctx.services.engagements.add('likes', ...who))
  }

  @Mutation(() => PostMarkPayload, {
    nullable: true,
    description: "Removes the viewer's like from the post.",
  })
  async unlikePost(
    @input() given: PostInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return change(ctx, info, given, (...who) => ctx.services.engagements.remove('likes', ...who))
  }

  @Mutation(() => PostMarkPayload, {
    nullable: true,
    description: 'Adds a share of the viewer to the post. A user shares a post at most once.',
  })
  async sharePost(
    @input() given: PostInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return change(ctx, info, given, (...who) => ctx.services.engagements.add('shares', ...who))
  }

  @Mutation(() => PostMarkPayload, {
    nullable: true,
    description: "Removes the viewer's share from the post.",
  })
  async unsharePost(
    @input() given: PostInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return change(ctx, info, given, (...who) => ctx.services.engagements.remove('shares', ...who))
  }

  @Mutation(() => AddCommentPayload, {
    nullable: true,
    description: 'Adds a comment of the viewer to the post.',
  })
  async addComment(
    @Arg('input', () => AddCommentInput, { description: inputDescription }) given: AddCommentInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const post = parsePostNodeId('input.postId', given.postId)
    const { engagements } = ctx.services
    const { entry, clientMutationId } = await mutate(
      ctx,
      info.fieldName,
      given,
      async (viewer, once) => ({
        entry: await engagements.comment(viewer, post, given.text, once),
      }),
    )
    const [comment] = await presentEngagements(ctx, [entry], selectionOf(info).of('comment'))
    return { clientMutationId, comment }
  }

  @Mutation(() => DeleteCommentPayload, {
    nullable: true,
    description:
      'Deletes a comment. Only the author of the comment and the author of the post may delete it.',
  })
  async deleteComment(
    @Arg('input', () => DeleteCommentInput, { description: inputDescription })
    given: DeleteCommentInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { post, id } = parseCommentNodeId('input.commentId', given.commentId)
    const result = await mutate(ctx, info.fieldName, given, async (viewer, once) => {
      const { changed } = await ctx.services.engagements.uncomment(viewer, post, id, once)
      return { changed, deletedCommentId: given.commentId }
    })
    return { ...result, post: await presentPost(ctx, post, info) }
  }
}

/** One of the lists of a post. */
interface PostList {
  readonly kind: EngagementKind
  readonly post: PostRef
}

async function list(
  ctx: Context,
  info: GraphQLResolveInfo,
  { kind, post }: PostList,
  args: ConnectionArgs,
) {
  const page = await ctx.loaders.engagements.load({
    owner: post,
    window: windowOf(args),
    more: kind,
  })
  const asked = selectionOf(info).of('edges', 'node')
  const nodes = await presentEngagements(ctx, page.items, asked)
  const at = new Map(page.items.map((item, index) => [item, nodes[index]]))
  return connectionFrom(page, (item) => ({ node: at.get(item) ?? null }))
}

async function change(
  ctx: Context,
  info: GraphQLResolveInfo,
  given: PostInput,
  run: (
    viewer: UserId,
    post: PostRef,
    once: OnceKey | undefined,
  ) => Promise<{ readonly changed: boolean }>,
) {
  const post = parsePostNodeId('input.postId', given.postId)
  const result = await mutate(ctx, info.fieldName, given, async (viewer, once) => ({
    changed: (await run(viewer, post, once)).changed,
  }))
  return { ...result, post: await presentPost(ctx, post, info) }
}

async function presentPost(ctx: Context, post: PostRef, info: GraphQLResolveInfo) {
  const asked = selectionOf(info).of('post')
  return asked.any ? ((await presentPostRefs(ctx, [post], asked)).get(post.id) ?? null) : null
}
