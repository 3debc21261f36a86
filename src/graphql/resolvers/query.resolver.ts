import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Args, Ctx, ID, Info, Query, Resolver } from 'type-graphql'
import type { FeedStrategyName } from '../../config.ts'
import { badInput, type ErrorCode, errorCodes } from '../../errors.ts'
import { pageSizeMax } from '../../lib/page.ts'
import { ConnectionArgs, windowOf } from '../connection.ts'
import type { Context } from '../context.ts'
import { truthOf } from '../loaders.ts'
import { parseHandle, parseNodeId } from '../node-id.ts'
import { readNodes } from '../nodes.ts'
import { needsContent, presentPostPage, presentUser } from '../present.ts'
import { selectionOf } from '../selection.ts'
import { ErrorCodeEnum, FeedStrategyEnum, Node } from '../types/common.ts'
import { Timeline } from '../types/post.ts'
import { User } from '../types/user.ts'

/** Where reading begins. */
@Resolver()
export class QueryResolver {
  @Query(() => User, { nullable: true, description: 'A user by handle; null when there is none.' })
  async user(
    @Arg('handle', () => String, { description: 'The handle.' }) handle: string,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const id = parseHandle('handle', handle)
    return presentUser(ctx, id, selectionOf(info))
  }

  @Query(() => Node, {
    nullable: true,
    description: 'An object by its global id; null when it is gone or hidden from the viewer.',
  })
  async node(
    @Arg('id', () => ID, { description: 'The global id.' }) id: string,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const [found] = await readNodes(ctx, [parseNodeId('id', id)], selectionOf(info))
    return found
  }

  @Query(() => [Node], {
    nullable: 'items',
    description:
      'Objects by their global ids, in their order; null where one is gone or hidden from the viewer.',
  })
  async nodes(
    @Arg('ids', () => [ID], { description: 'At most 100 global ids.' }) ids: string[],
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    if (ids.length > pageSizeMax) throw badInput('ids', `must hold at most ${pageSizeMax}`)
    const refs = ids.map((id, at) => parseNodeId(`ids.${at}`, id))
    return readNodes(ctx, refs, selectionOf(info))
  }

  @Query(() => Timeline, {
    nullable: true,
    description:
      "The viewer's home timeline, newest first. To poll, ask for what comes before the first cursor you hold.",
  })
  async timeline(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Arg('strategy', () => FeedStrategyEnum, {
      nullable: true,
      description:
        'How to assemble it. All strategies give the same; only the maintained ones are there to choose.',
    })
    strategy: FeedStrategyName | undefined,
    @Arg('group', () => String, {
      nullable: true,
      description: 'Only authors whom the viewer keeps in this group.',
    })
    group: string | undefined,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const reader = ctx.requireViewer()
    const asked = selectionOf(info)
    const page = await ctx.services.feed.timeline(reader, {
      window: windowOf(args),
      strategy: strategy ?? undefined,
      group: group ?? undefined,
      content: needsContent(asked.of('edges', 'node')),
      truth: truthOf(ctx.loaders),
    })
    return { ...(await presentPostPage(ctx, page, asked)), strategy: page.strategy }
  }

  @Query(() => String, { description: 'What an error code means. Reads nothing.' })
  errorMeaning(
    @Arg('code', () => ErrorCodeEnum, { description: 'As in `extensions.code`.' }) code: ErrorCode,
  ) {
    return errorCodes[code].meaning
  }
}
