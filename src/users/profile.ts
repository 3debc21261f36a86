import type { UserDoc } from '../db/collections.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { badInput, checkAll } from '../errors.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import { checkedText, type TextRules } from '../lib/text.ts'
import { checkedUrl } from '../lib/url.ts'
import { nameProblem, type ReservedNames } from './names.ts'

/** The fields of a profile that an account may lack. */
export const optionalFields = ['bio', 'avatarUrl', 'bannerUrl'] as const
type OptionalField = (typeof optionalFields)[number]

/** An account. */
export interface User extends Readonly<Partial<Record<OptionalField, string>>> {
  readonly id: UserId
  readonly handle: Handle
  readonly name: string
  readonly createdAt: Date
}

/**
 * The profile of an account. An absent field is not changed. Null, or an empty text, removes it.
 */
export interface Profile extends Readonly<Partial<Record<OptionalField, string | null>>> {
  readonly name?: string | undefined
}

/** The profile of a new account. */
export type NewProfile = Profile & { readonly name: string; readonly handle?: Handle | undefined }

/** The rules of a display name. */
export const nameRules: TextRules = { form: 'line', graphemesMax: 64, bytesMax: 640 }
/** The rules of a bio. */
export const bioRules: TextRules = { form: 'lines', graphemesMax: 256, bytesMax: 2560 }

/**
 * The given fields of a new account in their stored form. Sends no command.
 * @param handle of the account. Undefined: it is not known.
 * @throws {DomainError} BAD_USER_INPUT.
 */
export function checkProfile(
  reserved: ReservedNames,
  handle: Handle | undefined,
  { name, bio, avatarUrl, bannerUrl }: Profile,
): Profile {
  return checkAll({
    ...(name !== undefined && { name: () => checkName(reserved, handle, name) }),
    ...(bio !== undefined && { bio: () => (bio ? trimmed('input.bio', bio, bioRules) : null) }),
    ...(avatarUrl !== undefined && { avatarUrl: () => checkUrl('input.avatarUrl', avatarUrl) }),
    ...(bannerUrl !== undefined && { bannerUrl: () => checkUrl('input.bannerUrl', bannerUrl) }),
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
  const checked = trimmed('input.name', name, nameRules)
  const problem = nameProblem(checked)
  if (problem) throw badInput('input.name', problem)
  if (reserved.has(checked) && !(handle && reserved.has(handle))) {
    throw badInput('input.name', 'is reserved, or looks like a reserved name')
  }
  return checked
}

function trimmed(argument: string, given: string, rules: TextRules): string {
  const { text, problem } = checkedText(given.trim(), rules)
  if (problem !== undefined) throw badInput(argument, problem)
  return text
}

function checkUrl(argument: string, given: string | null): string | null {
  if (given === null || given === '') return null
  const { url, problem } = checkedUrl(given)
  if (problem !== undefined) throw badInput(argument, problem)
  return url
}

/** The optional fields that have a value. */
export const presentFields = (profile: Pick<Profile, OptionalField>) =>
  Object.fromEntries(
    optionalFields.flatMap((field) => (profile[field] == null ? [] : [[field, profile[field]]])),
  ) as Pick<User, OptionalField>

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
  return { id: _id as UserId, handle, name: name ?? handle, createdAt, ...presentFields(rest) }
}
