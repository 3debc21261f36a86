import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import { createIdempotencyKey, deriveId, type IdempotencyKey } from '../../db/idempotency.ts'
import { badInput, refusalOf } from '../../errors.ts'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { parseHandle } from '../../graphql/node-id.ts'
import { isSubject, subjectRule } from '../subject.ts'
import { subjectKey } from '../subjects.ts'
import type { Registration } from '../users.ts'
import { CreateUsersInput, CreateUsersPayload, type NewUser } from './account-mutations.ts'
import { checkUserCount, presentEach, presentRefusal } from './several-users.ts'

/** The mutation of several accounts. */
@Resolver()
export class CreateUsersResolver {
  @Mutation(() => CreateUsersPayload, {
    nullable: true,
    description:
      'Creates accounts of users. A subject that has an account keeps it. A user that is refused refuses no other. For a server whose token has the scope `act-for`, without the header `Feedline-Act-For`.',
  })
  async createUsers(
    @Arg('input', () => CreateUsersInput, { description: 'The input of the mutation.' })
    input: CreateUsersInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const acting = ctx.requireServer()
    const { outcomes, ...result } = await mutate(ctx, info.fieldName, input, {
      parse: { users: () => checkUserCount(input.users) },
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

type Acting = ReturnType<Context['requireServer']>

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
