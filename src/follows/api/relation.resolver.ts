import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import type { IdempotencyKey } from '../../db/idempotency.ts'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { inputOf, payloadOf } from '../../graphql/mutation-types.ts'
import { findAccount, parseUserRef } from '../../graphql/node-id.ts'
import { selectionOf } from '../../graphql/selection.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Services } from '../../services.ts'
import { countFields, presentUser } from '../../users/api/present-users.ts'
import { checkGroups } from '../groups.ts'
import {
  RelationPayload,
  SetFollowGroupsInput,
  SetFollowGroupsPayload,
  UserInput,
} from './follow-mutations.ts'

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
      return mutateOther(ctx, info, input, {
        run: async (...write) => ({ changed: await change(ctx.services, ...write) }),
      })
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
    const { groups } = input
    return mutateOther(ctx, info, input, {
      check: () => checkGroups('input.groups', groups),
      run: async (viewer, other, idempotencyKey) => ({
        groups: await ctx.services.follows.setGroups(viewer, other, groups, idempotencyKey),
      }),
    })
  }
}

/** The mutations of follows, groups, mutes and blocks. */
export const relationResolvers = [
  ...Object.entries(relationMutations).map(([name, one]) => relationResolverOf(name, one)),
  GroupsResolver,
] as const

interface OtherSteps<Result> {
  readonly check?: () => unknown
  readonly run: (...write: RelationWrite) => Promise<Result>
}

async function mutateOther<Result extends object>(
  ctx: Context,
  info: GraphQLResolveInfo,
  input: UserInput,
  { check, run }: OtherSteps<Result>,
) {
  const { other, ...result } = await mutate(ctx, info.fieldName, input, {
    parse: { name: () => parseUserRef('input.user', input.user) },
    find: async ({ name }) => ({ other: await findAccount(ctx, name) }),
    ...(check && { check }),
    // A user is the same input by id, by handle, and under the name that the field had before.
    identify: ({ user: _, ...rest }, { other }) => ({ handle: other, ...rest }),
    run: async ({ viewer, other, idempotencyKey }) => ({
      ...(await run(viewer, other, idempotencyKey)),
      other,
    }),
  })
  const selection = selectionOf(info)
  const isCounted = selection.of('viewer', 'user').has(...countFields)
  const [user] = await Promise.all([
    presentUser(ctx, other, selection.of('user')),
    // The counters of both users are one read.
    isCounted ? ctx.loaders.stats.load(ctx.requireViewer()) : undefined,
  ])
  return { ...result, user }
}
