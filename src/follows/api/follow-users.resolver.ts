import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import { type DomainError, refusalOf } from '../../errors.ts'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { findAccount, parseUserRef } from '../../graphql/node-id.ts'
import type { UserId } from '../../lib/ids.ts'
import { checkUserCount, presentEach, presentRefusal } from '../../users/api/several-users.ts'
import { FollowUsersInput, FollowUsersPayload } from './follow-mutations.ts'

/** The mutation of several follows. */
@Resolver()
export class FollowUsersResolver {
  @Mutation(() => FollowUsersPayload, {
    nullable: true,
    description: 'Makes the viewer follow users. A user that is refused refuses no other.',
  })
  async followUsers(
    @Arg('input', () => FollowUsersInput, { description: 'The input of the mutation.' })
    input: FollowUsersInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { named, outcomes, ...result } = await mutate(ctx, info.fieldName, input, {
      parse: { users: () => checkUserCount(input.users) },
      find: async () => ({ named: await findEach(ctx, input) }),
      identify: ({ users: _, ...rest }, { named }) => ({ ...rest, users: named.map(String) }),
      run: async ({ viewer, named, idempotencyKey }) => {
        const accounts = named.filter((one) => typeof one === 'string')
        const changes = [
          ...(await ctx.services.follows.followAll(viewer, accounts, idempotencyKey)),
        ]
        const outcomes = named.map((one) => (typeof one === 'string' ? changes.shift() : one))
        return { named, outcomes }
      },
    })
    const users = await presentEach(
      ctx,
      info,
      named.map((one) => (typeof one === 'string' ? one : undefined)),
    )
    const results = outcomes.map((outcome, at) => ({
      changed: outcome !== undefined && 'changed' in outcome && outcome.changed,
      ...{ user: users[at], error: presentRefusal(outcome, at) },
    }))
    return { ...result, results }
  }
}

/** The accounts that users name, or why they name none. One command for all handles. */
const findEach = (ctx: Context, { users }: FollowUsersInput) =>
  Promise.all(
    users.map(async (user): Promise<UserId | DomainError> => {
      try {
        return await findAccount(ctx, parseUserRef('input.user', user))
      } catch (error) {
        return refusalOf(error)
      }
    }),
  )
