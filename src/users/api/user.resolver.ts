import type { GraphQLResolveInfo } from 'graphql'
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Info,
  Query,
  Resolver,
  Root,
} from 'type-graphql'
import { checkAll, DomainError } from '../../errors.ts'
import type { FollowEdge as CoreEdge } from '../../follows/edges.ts'
import { checkGroup } from '../../follows/groups.ts'
import { ConnectionArgs, connectionFrom, windowOf } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { parseHandle } from '../../graphql/node-id.ts'
import { selectionOf } from '../../graphql/selection.ts'
import { timeOf, type UserId } from '../../lib/ids.ts'
import type { Page } from '../../lib/page.ts'
import { PostConnection } from '../../posts/api/post-type.ts'
import { needsContent, presentPostPage } from '../../posts/api/present-posts.ts'
import type { Stats } from '../stats.ts'
import { accountPartOf, presentUser, presentUsers } from './present-users.ts'
import { FollowConnection, User } from './user-type.ts'

@ArgsType()
class FollowingArgs extends ConnectionArgs {
  @Field(() => String, {
    nullable: true,
    description:
      "Returns only followees in this group. Groups are private, so this works only on the viewer's own list.",
  })
  readonly group?: string | null
}

/** Users by handle, and their lists: those of several users in one request are read together. */
@Resolver(() => User)
export class UserResolver {
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

  @FieldResolver(() => FollowConnection, {
    description:
      'The followers of the user, newest first, without users that a block hides from the viewer.',
  })
  async followers(
    @Root() { account }: User,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const part = accountPartOf(selectionOf(info).of('edges', 'node'))
    const key = { owner: account, window: windowOf(args), more: undefined, part }
    const [page, totalCount] = await Promise.all([
      ctx.loaders.followers.load(key),
      countOf(ctx, account, 'followers', info),
    ])
    return { ...(await presentEdges(ctx, page, (edge) => edge.follower, info)), totalCount }
  }

  @FieldResolver(() => FollowConnection, {
    description:
      'The followees of the user, newest first, without users that a block hides from the viewer.',
  })
  async following(
    @Root() { account }: User,
    @Args(() => FollowingArgs) args: FollowingArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { group } = args
    if (group != null && account !== ctx.requireViewer()) {
      throw new DomainError('FORBIDDEN', 'Only the owner of a group may read it', {
        argument: 'group',
      })
    }
    const key = checkAll({
      window: () => windowOf(args),
      more: () => (group == null ? undefined : checkGroup('group', group)),
    })
    const part = accountPartOf(selectionOf(info).of('edges', 'node'))
    const [page, totalCount] = await Promise.all([
      ctx.loaders.following.load({ owner: account, ...key, part }),
      key.more === undefined ? countOf(ctx, account, 'following', info) : null,
    ])
    return { ...(await presentEdges(ctx, page, (edge) => edge.followee, info)), totalCount }
  }

  @FieldResolver(() => PostConnection, {
    description: 'The posts of the user, newest first. Empty if a block hides the user.',
  })
  async posts(
    @Root() { account }: User,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const selection = selectionOf(info)
    const more = needsContent(selection.of('edges', 'node'))
    const [page, totalCount] = await Promise.all([
      ctx.loaders.posts.load({ owner: account, window: windowOf(args), more }),
      countOf(ctx, account, 'posts', info),
    ])
    return { ...(await presentPostPage(ctx, page, selection)), totalCount }
  }
}

/** A counter of a user. Null if `totalCount` is not selected, and if a block hides the profile. */
async function countOf(
  ctx: Context,
  account: UserId,
  counter: keyof Stats,
  info: GraphQLResolveInfo,
): Promise<number | null> {
  if (!selectionOf(info).has('totalCount')) return null
  const [hidden, stats] = await Promise.all([
    ctx.loaders.hiddenAmong([account]),
    ctx.loaders.stats.load(account),
  ])
  return hidden.has(account) ? null : (stats?.[counter] ?? null)
}

async function presentEdges(
  ctx: Context,
  page: Page<CoreEdge>,
  otherOf: (edge: CoreEdge) => UserId,
  info: GraphQLResolveInfo,
) {
  const selection = selectionOf(info).of('edges', 'node')
  const users = await presentUsers(ctx, page.items.map(otherOf), selection)
  return connectionFrom(page, (edge) => ({
    node: users.get(otherOf(edge)) ?? null,
    followedAt: timeOf(edge.id),
    source: edge.source,
  }))
}
