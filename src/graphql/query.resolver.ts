import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql'
import { badInput, type ErrorCode, errorCodes } from '../errors.ts'
import { pageSizeMax } from '../lib/page.ts'
import { Post } from '../posts/api/post-type.ts'
import { presentUser } from '../users/api/present-users.ts'
import { User } from '../users/api/user-type.ts'
import type { Context } from './context.ts'
import { parseHandle, parsePostNodeId } from './node-id.ts'
import { readNodes } from './nodes.ts'
import { selectionOf } from './selection.ts'
import { ErrorCodeEnum, Node } from './types/common.ts'
import { Limits, limitValues } from './types/limits.ts'
import { RateLimit } from './types/rate-limit.ts'

/** The queries for users, posts, objects by global id, limits and error codes. */
@Resolver()
export class QueryResolver {
  @Query(() => User, {
    nullable: true,
    description:
      'The user with this handle, or null if there is no such user. A former handle that the user keeps finds the user too: compare `handle`, and correct the link. A block hides the profile, but not the handle.',
  })
  async user(
    @Arg('handle', () => String, {
      description: 'The handle of the user, in any case, with or without "@".',
    })
    handle: string,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { loaders } = ctx
    const user = await loaders.userByHandle.load(parseHandle('handle', handle))
    if (!user) return null
    loaders.user.prime(user.id, user)
    ctx.noteLive([user.id])
    return presentUser(ctx, user.id, selectionOf(info))
  }

  @Query(() => Boolean, {
    description:
      "Whether createUser or updateUser could take this handle now. True for the viewer's own and former handles. A reserved handle is not available, nor one that another account has or keeps, nor a further one for a viewer who keeps too many.",
  })
  async isHandleAvailable(
    @Arg('handle', () => String, {
      description: 'The handle, in any case, with or without "@".',
    })
    handle: string,
    @Ctx() { services, viewer }: Context,
  ) {
    return services.handles.isAvailable(parseHandle('handle', handle), viewer)
  }

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
    const [found] = await readNodes(ctx, [id], selectionOf(info))
    return found
  }

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
    const [found] = await readNodes(ctx, [id], selectionOf(info))
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
    return readNodes(ctx, ids, selectionOf(info))
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
