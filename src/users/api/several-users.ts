import type { GraphQLResolveInfo } from 'graphql'
import { badInput, DomainError } from '../../errors.ts'
import type { Context } from '../../graphql/context.ts'
import { shorten } from '../../graphql/errors.ts'
import { usersMax } from '../../graphql/mutation-types.ts'
import { selectionOf } from '../../graphql/selection.ts'
import type { UserId } from '../../lib/ids.ts'
import { presentUsers } from './present-users.ts'

/** Checks how many users a mutation of several names. @throws {DomainError} BAD_USER_INPUT. */
export function checkUserCount({ length }: readonly unknown[]): void {
  if (length > usersMax) throw badInput('input.users', `must be at most ${usersMax}`)
}

/** The users of results, after the mutation. Null without an account. */
export async function presentEach(
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
export function presentRefusal(outcome: unknown, at: number) {
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
