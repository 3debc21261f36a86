import type { GraphQLResolveInfo } from 'graphql'
import { Args, Ctx, FieldResolver, Info, Query, Resolver } from 'type-graphql'
import {
  ConnectionArgs,
  connectionFrom,
  connectionWith,
  windowOf,
  windowWith,
} from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { type Selection, selectionOf } from '../../graphql/selection.ts'
import { nameCursors } from '../../pages/cursor.ts'
import { compareTexts, cutPage } from '../../pages/pipeline.ts'
import { accountPartOf, presentUser, presentUsers, presentViewer } from './present-users.ts'
import { UserConnection } from './user-type.ts'
import { FollowGroupConnection, Viewer } from './viewer-type.ts'

/** The lists that only the viewer can see (law L6). */
@Resolver(() => Viewer)
export class ViewerResolver {
  @Query(() => Viewer, {
    nullable: true,
    description: 'The signed-in viewer, or null for an anonymous request.',
  })
  viewer(@Ctx() ctx: Context) {
    return ctx.viewer === undefined ? null : presentViewer(ctx)
  }

  @FieldResolver()
  async handle(@Ctx() ctx: Context) {
    return (await ctx.loaders.user.load(ctx.requireViewer()))?.handle ?? null
  }

  @FieldResolver()
  async user(@Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return presentUser(ctx, ctx.requireViewer(), selectionOf(info))
  }

  @FieldResolver()
  roles(@Ctx() { roles }: Context) {
    return [...roles]
  }

  @FieldResolver(() => UserConnection, {
    description: 'The users that the viewer muted, newest first.',
  })
  async mutes(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return restrictedUsers(ctx, 'MUTE', args, selectionOf(info))
  }

  @FieldResolver(() => UserConnection, {
    description: 'The users that the viewer blocked, newest first.',
  })
  async blocks(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return restrictedUsers(ctx, 'BLOCK', args, selectionOf(info))
  }

  @FieldResolver(() => FollowGroupConnection, {
    description: 'The groups of the viewer, sorted by name, at most 100.',
  })
  async groups(@Args(() => ConnectionArgs) args: ConnectionArgs, @Ctx() ctx: Context) {
    const window = windowWith(args, nameCursors.parse)
    const names = await ctx.services.follows.groupsOf(ctx.requireViewer())
    const page = cutPage(names, byName, window)
    return connectionWith(page, (name) => ({ node: { name } }), byName.placeOf, nameCursors)
  }
}

const byName = { placeOf: (name: string) => name, compare: compareTexts }

async function restrictedUsers(
  ctx: Context,
  kind: 'MUTE' | 'BLOCK',
  args: ConnectionArgs,
  selection: Selection,
) {
  const shown = selection.of('edges', 'node')
  const part = accountPartOf(shown)
  const key = { owner: ctx.requireViewer(), window: windowOf(args), more: kind, part }
  const page = await ctx.loaders.restricted.load(key)
  const others = page.items.map(({ other }) => other)
  const users = await presentUsers(ctx, others, shown)
  return connectionFrom(page, ({ other }) => ({ node: users.get(other) ?? null }))
}
