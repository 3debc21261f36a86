import { DomainError } from '../errors.ts'
import type { TokenSource } from '../sign-in.ts'
import {
  type ActsFor,
  isSubject,
  type Role,
  roleNames,
  type Scope,
  type SignedIn,
  type SubjectIssuer,
  scopeNames,
  subjectRule,
} from '../users/subject.ts'

/** The refusal of an Authorization header, with a problem that the client may read. */
export const refused = (problem: string, cause?: unknown): DomainError =>
  new DomainError('UNAUTHENTICATED', `Authorization: ${problem}`, { cause })

/** The claims of a token, as its JSON has them: of any type. */
export type Claims = Readonly<Record<string, unknown>>

/** How the claims of a token are read. */
export interface ClaimRule extends Pick<TokenSource, 'subjectClaim' | 'rolesClaim'> {
  /** Whose subjects the tokens name. */
  readonly issuer: SubjectIssuer
  /** Whose accounts a token with the scope `act-for` acts for. Undefined: of no user. */
  readonly actsFor?: ActsFor | undefined
}

/**
 * Reads claims whose `iss` is verified. Keeps no role and no scope that the server does not know.
 * @throws {DomainError} UNAUTHENTICATED if the subject is not a text within its bounds.
 */
export function readClaims(claims: Claims, rule: ClaimRule): SignedIn {
  const { subjectClaim, rolesClaim, issuer, actsFor } = rule
  const sub = checkSubject(claimOf(claims, subjectClaim), subjectClaim)
  const roles = rolesClaim === undefined ? [] : wordsOf(claimOf(claims, rolesClaim), /[\s,]+/)
  const words = ['scope', 'scp'].flatMap((name) => wordsOf(ownValue(claims, name), / +/))
  const scopes = setOf(scopeNames.filter((name) => words.includes(name)))
  return {
    subject: { ...issuer, sub },
    roles: setOf(
      roleNames.filter((name) => roles.some((role) => role.toLowerCase() === name.toLowerCase())),
    ),
    scopes,
    ...(scopes.has('act-for') && { actsFor }),
  }
}

/**
 * What `Dev <subject>` says: the same subject as a token of the main keys.
 * @throws {DomainError} UNAUTHENTICATED if the subject is not within its bounds.
 */
export const readDevSubject = (sub: string, issuer: SubjectIssuer): SignedIn => ({
  subject: { ...issuer, sub: checkSubject(sub, 'subject') },
  roles: none,
  scopes: none,
})

function checkSubject(sub: unknown, name: string): string {
  if (isSubject(sub)) return sub
  throw refused(`"${name}" ${subjectRule}`)
}

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ownValue = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/**
 * A claim by its name, which may hold dots, as that of a URL does, or else by a path of names with
 * dots between them.
 */
function claimOf(claims: Claims, name: string): unknown {
  const exact = ownValue(claims, name)
  return exact === undefined ? name.split('.').reduce<unknown>(ownValue, claims) : exact
}

function wordsOf(claim: unknown, separator: RegExp): readonly string[] {
  const words = typeof claim === 'string' ? claim.split(separator) : claim
  return Array.isArray(words) ? words.filter((word) => typeof word === 'string') : []
}

const none: ReadonlySet<never> = new Set()

/** Most tokens have no role and no scope, and share a set. */
const setOf = <Name extends Role | Scope>(names: readonly Name[]): ReadonlySet<Name> =>
  names.length === 0 ? none : new Set(names)
