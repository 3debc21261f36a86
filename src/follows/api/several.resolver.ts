import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import { createIdempotencyKey, deriveId, type IdempotencyKey } from '../../db/idempotency.ts'
import { badInput, DomainError, refusalOf } from '../../errors.ts'
import type { Context } from '../../graphql/context.ts'
import { shorten } from '../../graphql/errors.ts'
import { mutate } from '../../graphql/mutate.ts'
import { usersMax } from '../../graphql/mutation-types.ts'
import { findAccount, parseHandle, parseUserRef } from '../../graphql/node-id.ts'
import { selectionOf } from '../../graphql/selection.ts'
import type { UserId } from '../../lib/ids.ts'
import {
  CreateUsersInput,
  CreateUsersPayload,
  type NewUser,
} from '../../users/api/account-mutations.ts'
import { presentUsers } from '../../users/api/present-users.ts'
import { isSubject, subjectRule } from '../../users/subject.ts'
import { subjectKey } from '../../users/subjects.ts'
import type { Registration } from '../../users/users.ts'
import { FollowUsersInput, FollowUsersPayload } from './follow-mutations.ts'

const inputOptions = { description: 'The input of the mutation.' }

/** The mutation of several accounts. */
@Resolver()
export class CreateUsersResolver {
  @Mutation(() => CreateUsersPayload, {
    nullable: true,
    description:
      'Creates accounts of users. A subject that has an account keeps it. A user that is refused refuses no other. For a server whose token has the scope `act-for`, without the header `Feedline-Act-For`.',
  })
  async createUsers(
    @Arg('input', () => CreateUsersInput, inputOptions) input: CreateUsersInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const acting = ctx.requireServer()
    const { outcomes, ...result } = await mutate(ctx, info.fieldName, input, {
      parse: { users: () => checkNumber(input.users) },
      run: async ({ idempotencyKey }) => ({
        outcomes: await register(ctx, acting, input.users, idempotencyKey),
      }),
    })
    const accounts = outcomes.map((outcome) => ('account' in outcome ? outcome.account : undefined))
    const users = await presentEach(ctx, info, accounts)
    const results = outcomes.map((outcome, at) => ({
      subject: input.users[at]?.subject,
      created: 'created' in outcome && outcome.created,
      ...{ user: users[at], error: presentRefusal(outcome, at) },
    }))
    return { ...result, results }
  }
}

/** The mutation of several follows. */
@Resolver()
export class FollowUsersResolver {
  @Mutation(() => FollowUsersPayload, {
    nullable: true,
    description: 'Makes the viewer follow users. A user that is refused refuses no other.',
  })
  async followUsers(
    @Arg('input', () => FollowUsersInput, inputOptions) input: FollowUsersInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { named, outcomes, ...result } = await mutate(ctx, info.fieldName, input, {
      parse: { users: () => checkNumber(input.users) },
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

type Acting = ReturnType<Context['requireServer']>

function checkNumber({ length }: readonly unknown[]): void {
  if (length > usersMax) throw badInput('input.users', `must be at most ${usersMax}`)
}

/** Registers users of a server. */
const register = (
  ctx: Context,
  acting: Acting,
  users: readonly NewUser[],
  idempotencyKey: IdempotencyKey | undefined,
) => {
  const registrations = users.map((user) => {
    try {
      return registrationOf(acting, user, idempotencyKey)
    } catch (error) {
      return refusalOf(error)
    }
  })
  return ctx.services.users.registerAll(registrations, idempotencyKey)
}

function registrationOf(
  { server, actsFor }: Acting,
  user: NewUser,
  all: IdempotencyKey | undefined,
): Registration {
  const { subject: sub, handle: chosen, ...profile } = user
  if (!isSubject(sub)) throw badInput('input.subject', subjectRule)
  const handle = chosen == null ? undefined : parseHandle('input.handle', chosen)
  const idempotencyKey =
    all &&
    createIdempotencyKey(all.viewer, 'createUsers', {
      ...user,
      // Not that of a mutation that the server sends for the user.
      clientMutationId: deriveId(deriveId(all.clientMutationId, subjectKey(server)), 'createUsers'),
    })
  return { ...profile, handle, subject: { ...actsFor, sub }, idempotencyKey }
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

/** The users of results, after the mutation. Null without an account. */
async function presentEach(
  ctx: Context,
  info: GraphQLResolveInfo,
  accounts: readonly (UserId | undefined)[],
) {
  const selection = selectionOf(info).of('results', 'user')
  const named = accounts.filter((account) => account !== undefined)
  const users = selection.isSelected ? await presentUsers(ctx, named, selection) : new Map()
  return accounts.map((account) => (account && users.get(account)) ?? null)
}

/** Why a user was refused, with the arguments of this one. Null if the user was not. */
function presentRefusal(outcome: unknown, at: number) {
  if (!(outcome instanceof DomainError)) return null
  const { code, message, details } = outcome
  const placed = (argument: string) =>
    argument === 'input.clientMutationId'
      ? argument
      : argument.replace(/^input(\.user(?!\w))?/, `input.users.${at}`)
  const wrong = details.wrong?.map((one) => `${placed(one.argument)}: ${one.message}`)
  const argument = details.argument === undefined ? null : placed(details.argument)
  return { code, message: shorten(wrong?.join('; ') ?? message), argument }
}
