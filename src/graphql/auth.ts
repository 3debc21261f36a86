import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { AuthConfig } from '../config.ts'
import { DomainError } from '../errors.ts'
import type { Subject } from '../users/subject.ts'
import { cacheVerified } from './verified-tokens.ts'

/** Who sends a request, by its verified token. */
export interface SignedIn {
  readonly subject: Subject
}

/**
 * Returns who is signed in from the values of a request's Authorization headers; undefined for an anonymous request.
 * More than one header is refused, because servers and proxies disagree on which one counts.
 */
export type Authenticate = (headers: readonly string[]) => Promise<SignedIn | undefined>

const refused = (problem: string, cause?: unknown) =>
  new DomainError('UNAUTHENTICATED', `Authorization: ${problem}`, { cause })

/** Those of a secret, and those of published keys. Apart, so that no public key verifies a token as a secret. */
const secretAlgorithms = ['HS256']
const keyAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
]

/**
 * Verifies `Bearer` tokens by secret or JWKS, with an allowlist of algorithms, issuer and audience. In development also
 * accepts `Dev <handle>` without verification.
 * @returns a function that throws {DomainError} UNAUTHENTICATED for a token that it cannot verify, and UNAVAILABLE if
 * the keys cannot be fetched.
 */
export function createAuthenticate(auth: AuthConfig): Authenticate {
  const verify = createVerify(auth)
  const expected = `expected ${auth.dev ? '"Dev <handle>" or ' : ''}"Bearer <token>"`
  return async ([header, ...more]) => {
    if (more.length > 0) throw refused('send the header only once')
    if (header === undefined || header === '') return undefined
    const [scheme = '', credentials = '', ...rest] = header.split(' ')
    if (rest.length > 0 || credentials === '') throw refused(expected)
    if (auth.dev && scheme.toLowerCase() === 'dev') return signedInAs(credentials)
    if (scheme.toLowerCase() !== 'bearer') throw refused(expected)
    if (!verify)
      throw refused('this server has no key to verify tokens: set AUTH_JWT_SECRET or AUTH_JWKS_URL')
    return verify(credentials)
  }
}

/** A signed token may hold a subject of any JSON type. */
function signedInAs(sub: unknown, issuer = ''): SignedIn {
  if (typeof sub !== 'string' || sub === '' || Buffer.byteLength(sub) > 255)
    throw refused('the subject must be a text of 1 to 255 bytes')
  return { subject: { issuer, sub, isMain: true } }
}

/** How long after its expiry a token counts, in seconds, because clocks differ. */
const toleranceSeconds = 5

function createVerify(auth: AuthConfig): ((token: string) => Promise<SignedIn>) | undefined {
  const keys = keysOf(auth)
  if (keys === undefined) return undefined
  const options = {
    algorithms: auth.secret === undefined ? keyAlgorithms : secretAlgorithms,
    ...(auth.issuer === undefined ? {} : { issuer: auth.issuer }),
    ...(auth.audience === undefined ? {} : { audience: auth.audience }),
    requiredClaims: ['sub', 'exp'],
    clockTolerance: toleranceSeconds,
  }
  const verify = async (token: string) => {
    try {
      return (await jwtVerify(token, keys, options)).payload
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw refused('the token has expired', error)
      if (isKeyFault(error)) {
        throw new DomainError('UNAVAILABLE', 'The keys that verify tokens are unreachable', {
          cause: error,
        })
      }
      throw refused('the token is not valid for this server', error)
    }
  }
  return cacheVerified(async (token) => {
    const { sub, iss, exp = 0 } = await verify(token)
    return { signedIn: signedInAs(sub, iss), expiresAt: (exp + toleranceSeconds) * 1000 }
  })
}

/** Whether the keys could not be fetched: their URL does not answer, or not with keys. The token may still be valid. */
const isKeyFault = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === errors.JOSEError.code

function keysOf({ secret, jwksUrl }: AuthConfig): JWTVerifyGetKey | undefined {
  if (secret !== undefined) {
    const key = new TextEncoder().encode(secret)
    return async () => key
  }
  return jwksUrl === undefined
    ? undefined
    : createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3000 })
}
