import { handleRule, parseHandle } from '../../src/lib/ids.ts'
import { isSubject, type SubjectIssuer, subjectRule } from '../../src/users/subject.ts'

/** A user as a file names it: a handle, or a subject. */
export type UserName = string

/** Whose subjects the names of a file are. Undefined: they are handles. */
export type NamedBy = SubjectIssuer | undefined

/**
 * Reads a name. A handle becomes lower case, and loses an `@` before it and invisible characters
 * around it.
 * @returns undefined if no user can have it, or if its bytes were not of the encoding of its file.
 */
export function parseUserName(text: string, namedBy: NamedBy): UserName | undefined {
  if (namedBy !== undefined) return isSubject(text) && !text.includes('\uFFFD') ? text : undefined
  const name = text.toLowerCase()
  return parseHandle(name) ?? parseHandle(name.replace(/^\p{Cf}*@?|\p{Cf}+$/gu, ''))
}

/** Why {@link parseUserName} cannot read a name, as the end of a sentence. */
export const nameProblem = (namedBy: NamedBy): string =>
  namedBy === undefined ? `is not a handle: ${handleRule}` : `is not a subject: it ${subjectRule}`

/**
 * What an import keeps of its names in its checkpoint: an import by other names is another import.
 */
export const namingOptions = (namedBy: NamedBy): { readonly issuer?: string } =>
  namedBy === undefined ? {} : { issuer: namedBy.issuer }
