import { type AuthConfig, subjectIssuerOf } from '../sign-in.ts'
import type { SignedIn } from '../users/subject.ts'
import { readDevSubject, refused } from './claims.ts'
import type { KeySets } from './key-sets.ts'
import { createVerify } from './verify-token.ts'

/**
 * Returns what the values of a request's Authorization headers say; undefined for an anonymous
 * request. Answers at once as {@link VerifyToken} does. More than one header is refused, because
 * servers and proxies disagree on which one counts.
 */
export type Authenticate = (
  headers: readonly string[],
) => SignedIn | undefined | Promise<SignedIn | undefined>

/**
 * Verifies `Bearer` tokens by secret or published keys, with an allowlist of algorithms, issuer and
 * audience. Tokens of a listed issuer are verified by its keys alone. In development also accepts
 * `Dev <subject>` without verification.
 * @returns a function that throws {DomainError} UNAUTHENTICATED for a token that it cannot verify,
 * and UNAVAILABLE if the keys cannot be fetched.
 */
export function createAuthenticateAtOnce(
  auth: AuthConfig,
  keySets?: Pick<KeySets, 'of'>,
): Authenticate {
  const verify = createVerify(auth, keySets)
  const ofMain = subjectIssuerOf(auth.main, true)
  const expected = `expected ${auth.dev ? '"Dev <subject>" or ' : ''}"Bearer <token>"`
  return ([header, ...more]) => {
    if (more.length > 0) throw refused('send the header only once')
    if (header === undefined || header === '') return undefined
    const [scheme = '', credentials = '', ...rest] = header.split(' ')
    if (rest.length > 0 || credentials === '') throw refused(expected)
    if (auth.dev && scheme.toLowerCase() === 'dev') return readDevSubject(credentials, ofMain)
    if (scheme.toLowerCase() !== 'bearer') throw refused(expected)
    if (!verify) {
      throw refused(
        'this server has no key to verify tokens: set AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS',
      )
    }
    return verify(credentials)
  }
}

/** As {@link createAuthenticateAtOnce}, for those who wait in any case. */
export function createAuthenticate(auth: AuthConfig, keySets?: Pick<KeySets, 'of'>) {
  const authenticate = createAuthenticateAtOnce(auth, keySets)
  return async (headers: readonly string[]): Promise<SignedIn | undefined> => authenticate(headers)
}
