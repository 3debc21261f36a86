import { SignJWT } from 'jose'
import { ConfigError } from '../config.ts'
import { badInput, DomainError } from '../errors.ts'
import { createAuthenticate } from '../graphql/auth.ts'
import { causeOfRefusal } from '../graphql/token-problems.ts'
import { type AuthConfig, issuerTexts, type TokenSource } from '../sign-in.ts'
import { isSubject, type Role, type Scope, subjectRule } from '../users/subject.ts'

/** What a token of {@link signToken} says. */
export interface TokenContent {
  readonly subject: string
  readonly expiresAt: Date
  readonly scope?: Scope | undefined
  readonly roles?: readonly Role[] | undefined
  /** A text of `iss` that the variables name. Undefined: AUTH_ISSUER, or no `iss` without it. */
  readonly issuer?: string | undefined
}

/**
 * Signs a token by the variables of a server.
 * @throws {ConfigError} without a secret or a claim of roles, and if two claims have one name;
 *   {DomainError} BAD_USER_INPUT for what is no subject.
 */
export async function signToken(auth: AuthConfig, content: TokenContent): Promise<string> {
  const { subject, expiresAt, scope, roles = [] } = content
  if (!isSubject(subject)) throw badInput('subject', subjectRule)
  const source = findSource(auth, content.issuer)
  const { secret, audience, algorithms } = source
  const issuer = content.issuer ?? source.issuer
  const claims: Claims = new Map<string, Claim>([
    ['iat', Math.floor(Date.now() / 1000)],
    ['exp', Math.floor(expiresAt.getTime() / 1000)],
  ])
  if (issuer !== undefined) claims.set('iss', issuer)
  if (audience[0] !== undefined) claims.set('aud', audience[0])
  if (scope) claims.set('scope', scope)
  const named: (readonly [name: string, value: Claim])[] = [[source.subjectClaim, subject]]
  if (roles.length > 0) named.push([rolesClaimOf(source, auth), roles])
  // A name first, because a path may go around it.
  named.sort(([one], [other]) => one.split('.').length - other.split('.').length)
  for (const [name, value] of named) addClaim(claims, name, value)
  const [alg = 'HS256'] = algorithms
  return new SignJWT(toObject(claims))
    .setProtectedHeader({ alg, typ: 'JWT' })
    .sign(new TextEncoder().encode(secret))
}

/**
 * As {@link signToken}: a token that a server of these variables accepts until `expiresAt`, as this
 * subject with these roles and this scope.
 * @throws {ConfigError} also if they allow no such token.
 */
export async function signAcceptedToken(auth: AuthConfig, content: TokenContent): Promise<string> {
  const token = await signToken(auth, content)
  const signedIn = await createAuthenticate(auth)([`Bearer ${token}`]).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error
    throw new ConfigError([`a server of these variables refuses it: ${causeOfRefusal(error)}`])
  })
  const { subject, scope, roles = [] } = content
  const { roles: readRoles = new Set(), scopes = new Set(), actsFor } = signedIn ?? {}
  const isAsAsked =
    signedIn?.subject.sub === subject &&
    readRoles.size === roles.length &&
    roles.every((role) => readRoles.has(role)) &&
    scopes.size === (scope ? 1 : 0)
  if (!isAsAsked)
    throw new ConfigError(['the claims of subject and roles have the name of another claim'])
  if (scope && !actsFor)
    throw new ConfigError(['--scope: its issuer needs "actFor" in AUTH_ISSUERS to act for users'])
  return token
}

/** The keys that sign for an issuer. @throws {ConfigError} without a secret. */
function findSource(
  { main, issuers, dev }: AuthConfig,
  issuer: string | undefined,
): TokenSource & { readonly secret: string } {
  const sources = [...(main ? [main] : []), ...issuers]
  const source =
    issuer === undefined ? main : sources.find((each) => issuerTexts(each).includes(issuer))
  if (source?.secret !== undefined) return { ...source, secret: source.secret }
  if (issuer !== undefined) {
    throw new ConfigError([
      source
        ? `--issuer: the owner of the keys at ${source.jwksUrl} issues the tokens of "${issuer}"`
        : `--issuer: no variable names "${issuer}": set AUTH_ISSUER or AUTH_ISSUERS, and their keys, as for the servers`,
    ])
  }
  const problem = 'AUTH_JWT_SECRET: must be set to sign tokens'
  const others = issuers.filter(({ secret }) => secret !== undefined)
  const hints = [
    ...(main ? ['The owner of the keys at AUTH_JWKS_URL issues all other tokens.'] : []),
    ...(others[0] ? [`A secret of AUTH_ISSUERS signs with --issuer ${others[0].issuer}.`] : []),
    ...(dev && sources.length === 0 ? ['In development, servers also accept "Dev SUBJECT".'] : []),
  ]
  throw new ConfigError([hints.length > 0 ? `${problem}. ${hints.join(' ')}` : problem])
}

/** @throws {ConfigError} if the server reads no roles. */
function rolesClaimOf(source: TokenSource, { main }: AuthConfig): string {
  if (source.rolesClaim !== undefined) return source.rolesClaim
  const isMain = source.issuer === main?.issuer
  throw new ConfigError([
    isMain
      ? 'AUTH_ROLES_CLAIM: must be set for --roles'
      : `AUTH_ISSUERS: "${source.issuer}" must have rolesClaim for --roles`,
  ])
}

type Claim = string | number | readonly string[]
type Claims = Map<string, Claim | Claims>

/**
 * Adds a claim as a server reads it: by its name, if that is one name or a URL, or else by a path
 * of names.
 * @throws {ConfigError} if the token has another claim there.
 */
function addClaim(claims: Claims, name: string, value: Claim): void {
  const path = /[:/]/.test(name) ? [name] : name.split('.')
  const last = path.pop() ?? ''
  const parents: Claims[] = [claims]
  for (const step of path) {
    const next = parents.at(-1)?.get(step) ?? new Map()
    if (!(next instanceof Map)) break
    parents.push(next)
  }
  const isOpen = parents.length > path.length && !parents.at(-1)?.has(last)
  const place: Claims = isOpen ? (parents.at(-1) as Claims) : claims
  const key = isOpen ? last : name
  if (place.has(key) && place.get(key) !== value)
    throw new ConfigError([
      `the claim "${name}" of the subject or the roles is that of another value`,
    ])
  if (isOpen)
    for (const [at, step] of path.entries()) parents[at]?.set(step, parents[at + 1] as Claims)
  place.set(key, value)
}

const toObject = (claims: Claims): Record<string, unknown> =>
  Object.fromEntries(
    [...claims].map(([name, value]) => [name, value instanceof Map ? toObject(value) : value]),
  )
