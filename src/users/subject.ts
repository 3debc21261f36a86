import type { SubjectIssuer } from '../sign-in.ts'

export type { SubjectIssuer } from '../sign-in.ts'

/** The person that a verified token names. */
export interface Subject extends SubjectIssuer {
  /** Any text of 1 to 255 bytes. */
  readonly sub: string
}

const subjectBytesMax = 255

/** Whether a value can be the subject of a token. */
export const isSubject = (sub: unknown): sub is string =>
  typeof sub === 'string' &&
  sub !== '' &&
  sub.isWellFormed() &&
  !/\p{Cc}/u.test(sub) &&
  Buffer.byteLength(sub) <= subjectBytesMax

/** What {@link isSubject} demands, as the end of a sentence. */
export const subjectRule = `must be a text of 1 to ${subjectBytesMax} bytes without control characters`

/** What a role of a token lets its viewer do, beside what every viewer may. */
export const roleNames = ['MODERATOR', 'ADMIN'] as const
export type Role = (typeof roleNames)[number]

/** The scopes of tokens that the server knows. */
export const scopeNames = ['act-for'] as const
export type Scope = (typeof scopeNames)[number]

/** Whose accounts a server acts for. It names and creates subjects of the first. */
export type ActsFor = readonly [SubjectIssuer, ...SubjectIssuer[]]

/** What a verified token says. */
export interface SignedIn {
  readonly subject: Subject
  readonly roles: ReadonlySet<Role>
  readonly scopes: ReadonlySet<Scope>
  /**
   * Whose accounts its bearer may act for. It names and creates subjects of the first. Undefined:
   * it may act for no user.
   */
  readonly actsFor?: ActsFor | undefined
}
