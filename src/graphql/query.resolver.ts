import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql'
import { badInput, type ErrorCode, errorCodes } from '../errors.ts'
import { pageSizeMax } from '../lib/page.ts'
import type { Context } from './context.ts'
import { readNodes } from './nodes.ts'
import { ErrorCodeEnum, Node } from './types/common.ts'
import { Limits, limitValues } from './types/limits.ts'
import { RateLimit } from './types/rate-limit.ts'

/** The queries that belong to no feature: objects by global id, limits and error codes. */
@Resolver()
export class QueryResolver {
  @Query(() => Node, {
    nullable: true,
    description:
      'The object with this global id, or null if it was deleted, the viewer may not see it, or the text is no global id.',
  })
  async node(
    @Arg('id', () => ID, { description: 'The global id of the object.' }) id: string,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const [found] = await readNodes(ctx, [id], info)
    return found
  }

  @Query(() => [Node], {
    nullable: 'items',
    description:
      'The objects with these global ids, in the same order. Null replaces a deleted object, an object that the viewer may not see, and a text that is no global id.',
  })
  async nodes(
    @Arg('ids', () => [ID], { description: 'At most 100 global ids.' }) ids: string[],
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    if (ids.length > pageSizeMax) throw badInput('ids', `must contain at most ${pageSizeMax} ids`)
    return readNodes(ctx, ids, info)
  }

  @Query(() => RateLimit, {
    nullable: true,
    description: 'The rate limit of the client. Null if the server has no limit.',
  })
  rateLimit(@Ctx() { rateLimit }: Context) {
    return rateLimit ?? null
  }

  @Query(() => Limits, {
    description: 'The limits of this server. Sends no command to the database.',
  })
  limits() {
    return limitValues
  }

  @Query(() => String, {
    description: 'The meaning of an error code. Sends no command to the database.',
  })
  errorMeaning(
    @Arg('code', () => ErrorCodeEnum, { description: 'The error code, as in `extensions.code`.' })
    code: ErrorCode,
  ) {
    return errorCodes[code].meaning
  }
}
