import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql'
import { badInput, type ErrorCode, errorCodes } from '../../errors.ts'
import { pageSizeMax } from '../../lib/page.ts'
import type { Context } from '../context.ts'
import { parseHandle, parseNodeId } from '../node-id.ts'
import { readNodes } from '../nodes.ts'
import { presentUser } from '../present.ts'
import { selectionOf } from '../selection.ts'
import { ErrorCodeEnum, Node } from '../types/common.ts'
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

  @Query(() => String, { description: 'What an error code means. Reads nothing.' })
  errorMeaning(
    @Arg('code', () => ErrorCodeEnum, { description: 'As in `extensions.code`.' }) code: ErrorCode,
  ) {
    return errorCodes[code].meaning
  }
}
