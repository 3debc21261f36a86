import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { parsePostNodeId } from '../../graphql/node-id.ts'
import { readNodes } from '../../graphql/nodes.ts'
import { selectionOf } from '../../graphql/selection.ts'
import { timeCursors } from '../../pages/cursor.ts'
import {
  CreatePostInput,
  CreatePostPayload,
  contentOf,
  DeletePostInput,
  DeletePostPayload,
} from './post-mutations.ts'
import { Post } from './post-type.ts'
import { presentPosts } from './present-posts.ts'

/** Posts by their ids, and the mutations that publish and delete them. */
@Resolver()
export class PostResolver {
  @Query(() => Post, {
    nullable: true,
    description: 'The post with this global id, or null if it was deleted or a block hides it.',
  })
  async post(
    @Arg('id', () => ID, { description: 'The global id of the post.' }) id: string,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    parsePostNodeId('id', id)
    const [found] = await readNodes(ctx, [id], info)
    return found
  }

  @Mutation(() => CreatePostPayload, {
    nullable: true,
    description: 'Publishes a post of the viewer.',
  })
  async createPost(
    @Arg('input', () => CreatePostInput, { description: 'The input of the mutation.' })
    input: CreatePostInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const content = contentOf(input)
    const { posts } = ctx.services
    const { post, ...result } = await mutate(ctx, 'createPost', input, {
      check: () => posts.checkContent(content),
      run: async ({ viewer, idempotencyKey }) => ({
        post: await posts.create(viewer, content, idempotencyKey),
      }),
    })
    if (!post) return { ...result, post: null, timelineEdge: null }
    if (!post.isRepeat) ctx.noteLive([post.author])
    const selection = selectionOf(info)
    const [presented, inTimeline] = await Promise.all([
      presentPosts(ctx, [post], selection.of('post')),
      presentPosts(ctx, [post], selection.of('timelineEdge', 'node')),
    ])
    const node = inTimeline.get(post)
    const timelineEdge = node ? { cursor: timeCursors.encode(post.id), node } : null
    return { ...result, post: presented.get(post) ?? null, timelineEdge }
  }

  @Mutation(() => DeletePostPayload, {
    nullable: true,
    description: 'Deletes a post of the viewer. The next read of any timeline does not show it.',
  })
  async deletePost(
    @Arg('input', () => DeletePostInput, { description: 'The input of the mutation.' })
    input: DeletePostInput,
    @Ctx() ctx: Context,
  ) {
    return mutate(ctx, 'deletePost', input, {
      parse: { ref: () => parsePostNodeId('input.postId', input.postId) },
      run: async ({ viewer, ref, idempotencyKey }) => ({
        changed: await ctx.services.posts.delete(viewer, ref, idempotencyKey),
        deletedPostId: input.postId,
      }),
    })
  }
}
