import type { UserDoc } from '../db/collections.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { profileLeaves } from '../entities/account.ts'
import {
  checkText,
  type GivenOf,
  leafChecks,
  namesOf,
  type ValuesOf,
  valuesOf,
} from '../entities/leaves.ts'
import { badInput, checkAll } from '../errors.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import { checkedText, type TextRules } from '../lib/text.ts'
import { nameProblem, type ReservedNames } from './names.ts'

/** The fields of a profile that an account may lack. */
export const optionalFields = namesOf(profileLeaves)

/** An account. */
export interface User extends ValuesOf<typeof profileLeaves> {
  readonly id: UserId
  readonly handle: Handle
  readonly name: string
  readonly createdAt: Date
}

/**
 * The profile of an account. An absent field is not changed. Null, or an empty text, removes it.
 */
export interface Profile extends GivenOf<typeof profileLeaves> {
  readonly name?: string | undefined
}

/** The profile of a new account. */
export type NewProfile = Profile & { readonly name: string; readonly handle?: Handle | undefined }

/** The rules of a display name. */
export const nameRules: TextRules = { form: 'line', graphemesMax: 64, bytesMax: 640 }

/**
 * The given fields of a new account in their stored form. Sends no command.
 * @param handle of the account. Undefined: it is not known.
 * @throws {DomainError} BAD_USER_INPUT.
 */
export function checkProfile(
  reserved: ReservedNames,
  handle: Handle | undefined,
  { name, ...leaves }: Profile,
): Profile {
  return checkAll({
    ...(name !== undefined && { name: () => checkName(reserved, handle, name) }),
    ...leafChecks(profileLeaves, leaves),
  })
}

/** Whether a name would be right but for the reserved names. */
export function isReservedName(reserved: ReservedNames, name: string): boolean {
  const { text, problem } = checkedText(name.trim(), nameRules)
  return problem === undefined && reserved.has(text)
}

/**
 * The name in its stored form. The owner of a reserved handle, such as an imported account, may use
 * its name.
 */
function checkName(reserved: ReservedNames, handle: Handle | undefined, name: string): string {
  const checked = checkText('input.name', name.trim(), nameRules)
  const problem = nameProblem(checked)
  if (problem) throw badInput('input.name', problem)
  if (reserved.has(checked) && !(handle && reserved.has(handle))) {
    throw badInput('input.name', 'is reserved, or looks like a reserved name')
  }
  return checked
}

/** The documents of the accounts among `ids`. */
export const hasAccount = (ids: readonly UserId[]) => ({
  _id: { $in: [...ids] },
  deletedAt: { $exists: false },
})

/** The accounts of documents, by id, without malformed documents. */
export const usersIn = (docs: readonly UserDoc[]): Map<UserId, User> =>
  new Map(
    docs.flatMap((doc) =>
      conforms(shapes.users, doc) ? [[doc._id as UserId, toUser(doc)] as const] : [],
    ),
  )

/** The account of a document. */
export function toUser(doc: UserDoc): User {
  const { _id, name, createdAt, ...rest } = doc
  const handle = doc.handle as Handle
  return {
    id: _id as UserId,
    handle,
    name: name ?? handle,
    createdAt,
    ...valuesOf(profileLeaves, rest),
  }
}
