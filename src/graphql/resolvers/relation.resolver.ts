import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import type { IdempotencyKey } from '../../db/idempotency.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Context } from '../context.ts'
import { SetFollowGroupsInput, UserInput } from '../inputs.ts'
import { mutate } from '../mutate.ts'
import { parseHandle } from '../node-id.ts'
import { RelationPayload, SetFollowGroupsPayload } from '../payloads.ts'
import { presentUser } from '../present.ts'
import { selectionOf } from '../selection.ts'

const input = () => Arg('input', () => UserInput, { description: 'The input of the mutation.' })

/** The mutations of follows, groups, mutes and blocks. */
@Resolver()
export class RelationResolver {
  @Mutation(() => RelationPayload, {
    nullable: true,
    description: 'Makes the viewer follow the user.',
  })
  async followUser(
    @input() given: UserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return changeRelation(
      ctx,
      info,
      given,
      async (viewer, other, idempotencyKey) =>
        (await ctx.services.follows.follow(viewer, other, idempotencyKey)).changed,
    )
  }

  @Mutation(() => RelationPayload, {
    nullable: true,
    description:
      "Makes the viewer unfollow the user. Removes the user from all of the viewer's groups.",
  })
  async unfollowUser(
    @input() given: UserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return changeRelation(
      ctx,
      info,
      given,
      async (viewer, other, idempotencyKey) =>
        (await ctx.services.follows.unfollow(viewer, other, idempotencyKey)).changed,
    )
  }

  @Mutation(() => RelationPayload, {
    nullable: true,
    description: "Hides the user's posts from the viewer's timelines. The user is not notified.",
  })
  async muteUser(@input() given: UserInput, @Ctx() ctx: Context, @Info() info: GraphQLResolveInfo) {
    return changeRelation(ctx, info, given, (...who) => ctx.services.restrictions.mute(...who))
  }

  @Mutation(() => RelationPayload, {
    nullable: true,
    description: "Shows the user's posts in the viewer's timelines again.",
  })
  async unmuteUser(
    @input() given: UserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return changeRelation(ctx, info, given, (...who) => ctx.services.restrictions.unmute(...who))
  }

  @Mutation(() => RelationPayload, {
    nullable: true,
    description:
      'Hides the viewer and the user from each other: profiles, posts, likes, comments and shares. Ends the follows between them.',
  })
  async blockUser(
    @input() given: UserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return changeRelation(ctx, info, given, (...who) => ctx.services.restrictions.block(...who))
  }

  @Mutation(() => RelationPayload, {
    nullable: true,
    description: 'Removes the block. Ended follows are not restored.',
  })
  async unblockUser(
    @input() given: UserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return changeRelation(ctx, info, given, (...who) => ctx.services.restrictions.unblock(...who))
  }

  @Mutation(() => SetFollowGroupsPayload, {
    nullable: true,
    description: "Sets the viewer's groups that contain a followee.",
  })
  async setFollowGroups(
    @Arg('input', () => SetFollowGroupsInput, { description: 'The input of the mutation.' })
    given: SetFollowGroupsInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const other = parseHandle('input.handle', given.handle)
    const result = await mutate(ctx, info.fieldName, given, async (viewer, idempotencyKey) => ({
      groups: await ctx.services.follows.setGroups(viewer, other, given.groups, idempotencyKey),
    }))
    return { ...result, user: await presentUser(ctx, other, selectionOf(info).of('user')) }
  }
}

async function changeRelation(
  ctx: Context,
  info: GraphQLResolveInfo,
  given: UserInput,
  run: (
    viewer: UserId,
    other: UserId,
    idempotencyKey: IdempotencyKey | undefined,
  ) => Promise<boolean>,
) {
  const other = parseHandle('input.handle', given.handle)
  const result = await mutate(ctx, info.fieldName, given, async (viewer, idempotencyKey) => ({
    changed: await run(viewer, other, idempotencyKey),
  }))
  return { ...result, user: await presentUser(ctx, other, selectionOf(info).of('user')) }
}
