/** The person that a verified token names. Two issuers never name the same person. */
export interface Subject {
  /** The `iss` of the token. Empty for a token without one, and for `Dev`. */
  readonly issuer: string
  /** Any text of 1 to 255 bytes. */
  readonly sub: string
  /** Whether the main keys (AUTH_JWT_SECRET or AUTH_JWKS_URL) or `Dev` verified it: accounts that were stored without an issuer belong to its subjects. */
  readonly isMain: boolean
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

/** Whose subjects a name stands for. */
export type SubjectIssuer = Pick<Subject, 'issuer' | 'isMain'>

/** What a verified token says. */
export interface SignedIn {
  readonly subject: Subject
  readonly roles: ReadonlySet<Role>
  readonly scopes: ReadonlySet<Scope>
  /** The issuer whose subjects its bearer may act for, and create. Undefined: it may act for no user. */
  readonly actsFor?: SubjectIssuer | undefined
}
