import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Ctx, Info, Mutation, Resolver } from 'type-graphql'
import { badInput } from '../../errors.ts'
import type { Context } from '../../graphql/context.ts'
import { mutate } from '../../graphql/mutate.ts'
import { payloadOf } from '../../graphql/mutation-types.ts'
import { parseHandle } from '../../graphql/node-id.ts'
import { selectionOf } from '../../graphql/selection.ts'
import {
  AccountPayload,
  CreateUserInput,
  DeleteUserInput,
  DeleteUserPayload,
  UpdateUserInput,
} from './account-mutations.ts'
import { presentUser } from './present-users.ts'

const CreateUserPayload = payloadOf('createUser', AccountPayload)
const UpdateUserPayload = payloadOf('updateUser', AccountPayload)
const inputDescription = 'The input of the mutation.'

/** The mutations of the viewer's own account. */
@Resolver()
export class AccountResolver {
  @Mutation(() => CreateUserPayload, {
    nullable: true,
    description:
      "Creates the viewer's account. Fails with CONFLICT if the account exists or another account has the handle, and with FORBIDDEN if the handle is reserved.",
  })
  async createUser(
    @Arg('input', () => CreateUserInput, { description: inputDescription }) input: CreateUserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { users } = ctx.services
    const result = await mutate(ctx, 'createUser', input, {
      parse: { handle: () => parseNewHandle(input.handle) },
      check: () => users.checkProfile(input),
      run: async ({ viewer, handle, idempotencyKey }) => {
        const subject = ctx.newSubject()
        const user = subject
          ? await users.register(subject, { ...input, handle }, idempotencyKey)
          : await users.registerAgain(viewer, idempotencyKey)
        if (user) ctx.enterAccount(user.id)
        return { user }
      },
    })
    return { ...result, user: await presentOwn(ctx, info) }
  }

  @Mutation(() => UpdateUserPayload, {
    nullable: true,
    description:
      "Updates the viewer's profile. Fails with CONFLICT if another account has the handle, and with FORBIDDEN if it is reserved.",
  })
  async updateUser(
    @Arg('input', () => UpdateUserInput, { description: inputDescription }) input: UpdateUserInput,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { users } = ctx.services
    const result = await mutate(ctx, 'updateUser', input, {
      parse: {
        handle: () => parseNewHandle(input.handle),
        name: () => parseNewName(input.name),
      },
      check: (viewer) =>
        users.checkUpdate(viewer, { ...input, handle: undefined, name: input.name ?? undefined }),
      run: async ({ viewer, handle, name, idempotencyKey }) => ({
        user: await users.update(viewer, { ...input, handle, name }, idempotencyKey),
      }),
    })
    return { ...result, user: await presentOwn(ctx, info) }
  }

  @Mutation(() => DeleteUserPayload, {
    nullable: true,
    description:
      "Deletes the viewer's account at once, and hides what belongs to it. A background job deletes the edges and posts, and releases the handle after 24 seconds at the earliest. A minute after that, the viewer may create another account.",
  })
  async deleteUser(
    @Arg('input', () => DeleteUserInput, { description: inputDescription }) input: DeleteUserInput,
    @Ctx() ctx: Context,
  ) {
    return mutate(ctx, 'deleteUser', input, {
      run: async ({ viewer, idempotencyKey }) => {
        const { changed, handle } = await ctx.services.users.delete(viewer, idempotencyKey)
        if (changed) ctx.nudge()
        return { changed, handle }
      },
    })
  }
}

function parseNewName(given: string | null | undefined): string | undefined {
  if (given === null) throw badInput('input.name', 'must not be null')
  return given
}

/** Null is the same as absent: no account is without a handle. */
const parseNewHandle = (handle: string | null | undefined) =>
  handle == null ? undefined : parseHandle('input.handle', handle)

/** The viewer's account after the mutation. Null if it was deleted since. */
const presentOwn = (ctx: Context, info: GraphQLResolveInfo) =>
  presentUser(ctx, ctx.requireViewer(), selectionOf(info).of('user'))
