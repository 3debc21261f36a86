import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import type { IdempotencyKey } from '../../db/idempotency.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Services } from '../../services.ts'
import type { Context } from '../context.ts'
import { inputOf, SetFollowGroupsInput, UserInput } from '../inputs.ts'
import { mutate } from '../mutate.ts'
import { parseUserRef } from '../node-id.ts'
import { payloadOf, RelationPayload, SetFollowGroupsPayload } from '../payloads.ts'
import { presentUser } from '../present.ts'
import { selectionOf } from '../selection.ts'

const inputOptions = { description: 'The input of the mutation.' }

/** A mutation that changes one relation of the viewer to another user. */
interface RelationMutation {
  readonly description: string
  /** @returns whether anything changed. */
  readonly change: (services: Services, ...write: RelationWrite) => Promise<boolean>
}
type RelationWrite = [viewer: UserId, other: UserId, idempotencyKey: IdempotencyKey | undefined]

const relationMutations: Readonly<Record<string, RelationMutation>> = {
  followUser: {
    description: 'Makes the viewer follow the user.',
    change: async ({ follows }, ...write) => (await follows.follow(...write)).changed,
  },
  unfollowUser: {
    description:
      "Makes the viewer unfollow the user. Removes the user from all of the viewer's groups.",
    change: async ({ follows }, ...write) => (await follows.unfollow(...write)).changed,
  },
  muteUser: {
    description: "Hides the user's posts from the viewer's timelines. The user is not notified.",
    change: ({ restrictions }, ...write) => restrictions.mute(...write),
  },
  unmuteUser: {
    description: "Shows the user's posts in the viewer's timelines again.",
    change: ({ restrictions }, ...write) => restrictions.unmute(...write),
  },
  blockUser: {
    description:
      'Hides the viewer and the user from each other: profiles, posts, likes, comments and shares. Ends the follows between them.',
    change: ({ restrictions }, ...write) => restrictions.block(...write),
  },
  unblockUser: {
    description: 'Removes the block. Ended follows are not restored.',
    change: ({ restrictions }, ...write) => restrictions.unblock(...write),
  },
}

function relationResolverOf(name: string, { description, change }: RelationMutation) {
  const [Input, Payload] = [inputOf(name, UserInput), payloadOf(name, RelationPayload)]

  @Resolver()
  class RelationResolver {
    @Mutation(() => Payload, { name, nullable: true, description })
    async change(
      @Arg('input', () => Input, inputOptions) input: UserInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      return mutateOther(ctx, info, input, async (...write) => ({
        changed: await change(ctx.services, ...write),
      }))
    }
  }
  return RelationResolver
}

/** The mutation of groups. */
@Resolver()
class GroupsResolver {
  @Mutation(() => SetFollowGroupsPayload, {
    nullable: true,
    description: "Sets the viewer's groups that contain a followee.",
  })
  async setFollowGroups(
    @Arg('input', () => SetFollowGroupsInput, inputOptions) input: SetFollowGroupsInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return mutateOther(ctx, info, input, async (viewer, other, idempotencyKey) => ({
      groups: await ctx.services.follows.setGroups(viewer, other, input.groups, idempotencyKey),
    }))
  }
}

/** The mutations of follows, groups, mutes and blocks. */
export const relationResolvers = [
  ...Object.entries(relationMutations).map(([name, one]) => relationResolverOf(name, one)),
  GroupsResolver,
] as const

async function mutateOther<Result extends object>(
  ctx: Context,
  info: GraphQLResolveInfo,
  { user, ...rest }: UserInput,
  run: (...write: RelationWrite) => Promise<Result>,
) {
  const other = parseUserRef('input.user', user)
  // A user is the same input by id, by handle, and under the name that the field had before.
  const input = { ...rest, handle: other }
  const result = await mutate(ctx, info.fieldName, input, (viewer, idempotencyKey) =>
    run(viewer, other, idempotencyKey),
  )
  return { ...result, user: await presentUser(ctx, other, selectionOf(info).of('user')) }
}
