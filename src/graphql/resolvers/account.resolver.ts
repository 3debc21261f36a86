import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import { badInput } from '../../errors.ts'
import type { Context } from '../context.ts'
import { CreateUserInput, DeleteUserInput, UpdateUserInput } from '../inputs.ts'
import { mutate } from '../mutate.ts'
import { AccountPayload, DeleteUserPayload, payloadOf } from '../payloads.ts'
import { presentUser } from '../present-users.ts'
import { selectionOf } from '../selection.ts'

const CreateUserPayload = payloadOf('createUser', AccountPayload)
const UpdateUserPayload = payloadOf('updateUser', AccountPayload)
const inputDescription = 'The input of the mutation.'

/** The mutations of the viewer's own account. */
@Resolver()
export class AccountResolver {
  @Mutation(() => CreateUserPayload, {
    nullable: true,
    description:
      "Creates the viewer's account. Fails with CONFLICT if the account exists, and with FORBIDDEN if the handle is reserved.",
  })
  async createUser(
    @Arg('input', () => CreateUserInput, { description: inputDescription }) input: CreateUserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { users } = ctx.services
    const result = await mutate(ctx, 'createUser', input, {
      check: (viewer) => users.checkProfile(viewer, input),
      run: async ({ viewer, idempotencyKey }) => ({
        user: await users.create(viewer, input, idempotencyKey),
      }),
    })
    return { ...result, user: await presentOwn(ctx, info) }
  }

  @Mutation(() => UpdateUserPayload, {
    nullable: true,
    description: "Updates the viewer's profile.",
  })
  async updateUser(
    @Arg('input', () => UpdateUserInput, { description: inputDescription }) input: UpdateUserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { users } = ctx.services
    const result = await mutate(ctx, 'updateUser', input, {
      parse: { name: () => parseNewName(input.name) },
      check: (viewer) => users.checkProfile(viewer, { ...input, name: input.name ?? undefined }),
      run: async ({ viewer, name, idempotencyKey }) => ({
        user: await users.update(viewer, { ...input, name }, idempotencyKey),
      }),
    })
    return { ...result, user: await presentOwn(ctx, info) }
  }

  @Mutation(() => DeleteUserPayload, {
    nullable: true,
    description:
      "Deletes the viewer's account at once. A background job deletes the edges and posts, and releases the handle after 24 seconds at the earliest.",
  })
  async deleteUser(
    @Arg('input', () => DeleteUserInput, { description: inputDescription }) input: DeleteUserInput,
    @Ctx() ctx: Context,
  ) {
    return mutate(ctx, 'deleteUser', input, {
      run: async ({ viewer, idempotencyKey }) => {
        const changed = await ctx.services.users.delete(viewer, idempotencyKey)
        if (changed) ctx.nudge()
        return { changed, handle: viewer }
      },
    })
  }
}

function parseNewName(given: string | null | undefined): string | undefined {
  if (given === null) throw badInput('input.name', 'must not be null')
  return given
}

/** The viewer's account after the mutation. Null if it was deleted since. */
const presentOwn = (ctx: Context, info: GraphQLResolveInfo) =>
  presentUser(ctx, ctx.requireViewer(), selectionOf(info).of('user'))
