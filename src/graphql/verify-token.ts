import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { DomainError } from '../errors.ts'
import {
  type AuthConfig,
  findIssuer,
  issuerTexts,
  subjectIssuerOf,
  type TokenSource,
} from '../sign-in.ts'
import type { ActsFor } from '../users/subject.ts'
import { type ClaimRule, readClaims, refused } from './claims.ts'
import { cacheVerified, type VerifiedToken, type VerifyToken } from './verified-tokens.ts'

/** How long after its expiry a token counts, in seconds, because clocks differ. */
const toleranceSeconds = 5

/**
 * Verifies tokens. The keys, audience and algorithms of a listed issuer alone verify its tokens. The main keys verify those
 * of AUTH_ISSUER, or without it those without `iss`.
 * @returns undefined without any keys. Otherwise a function that throws {DomainError} UNAUTHENTICATED for a token that it
 * cannot verify, and UNAVAILABLE if the keys cannot be fetched.
 */
export function createVerify(auth: AuthConfig): VerifyToken | undefined {
  const { main, issuers } = auth
  if (!main && issuers.length === 0) return undefined
  const listed = new Map<unknown, Verify>(
    issuers.flatMap((source) => {
      const [first, ...more] = source.actFor.flatMap((each) => findIssuer(auth, each) ?? [])
      const actsFor: ActsFor | undefined = first && [first, ...more]
      const verify = verifierOf(source, { issuer: subjectIssuerOf(source, false), actsFor })
      return issuerTexts(source).map((text) => [text, verify] as const)
    }),
  )
  const ofMain = subjectIssuerOf(main, true)
  const byMain = main && verifierOf(main, { issuer: ofMain, actsFor: [ofMain] })
  return cacheVerified(async (token) => {
    const verify = listed.get(readUnverifiedIssuer(token)) ?? byMain
    if (!verify) throw refused('the token is of no issuer of this server')
    return verify(token)
  })
}

type Verify = (token: string) => Promise<VerifiedToken>

const notValid = (cause: unknown) => refused('the token is not valid for this server', cause)

/** Only chooses the keys: these verify the same claim afterwards. */
function readUnverifiedIssuer(token: string): unknown {
  try {
    return decodeJwt(token).iss
  } catch (error) {
    throw notValid(error)
  }
}

function verifierOf(source: TokenSource, rule: Pick<ClaimRule, 'issuer' | 'actsFor'>): Verify {
  const keys = keysOf(source)
  const { audience, algorithms } = source
  const texts = issuerTexts(source)
  const options = {
    algorithms: [...algorithms],
    ...(texts.length === 0 ? {} : { issuer: [...texts] }),
    ...(audience.length === 0 ? {} : { audience: [...audience] }),
    requiredClaims: ['exp'],
    clockTolerance: toleranceSeconds,
  }
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, options).catch(throwRefusal)
    const { exp = 0 } = payload
    const signedIn = readClaims(payload, { ...source, ...rule })
    return { signedIn, expiresAt: (exp + toleranceSeconds) * 1000 }
  }
}

function throwRefusal(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw refused('the token has expired', error)
  if (isKeyFault(error)) {
    throw new DomainError('UNAVAILABLE', 'The keys that verify tokens are unreachable', {
      cause: error,
    })
  }
  throw notValid(error)
}

/** Whether the keys could not be fetched: their URL does not answer, or not with keys. The token may still be valid. */
const isKeyFault = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === errors.JOSEError.code

function keysOf({ secret, jwksUrl = '' }: TokenSource): JWTVerifyGetKey {
  if (secret === undefined) return createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3000 })
  const key = new TextEncoder().encode(secret)
  return async () => key
}
