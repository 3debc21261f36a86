import {
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
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
import { createVerifyHmac } from './hmac.ts'
import type { FetchedKeys, KeySet } from './key-set.ts'
import { KeySets } from './key-sets.ts'
import {
  isUnknownKey,
  isWrongSignature,
  problemOf,
  readUnverified,
  shownName,
  slashHint,
  TokenProblem,
  toleranceSeconds,
  type UnverifiedToken,
  verificationProblem,
} from './token-problems.ts'
import { cacheVerified, type VerifiedToken, type VerifyToken } from './verified-tokens.ts'

/** The most keys that a token is tried with, if its header leaves it open. */
const candidatesMax = 4

/**
 * Verifies tokens. The keys, audience and algorithms of a listed issuer alone verify its tokens.
 * The main keys verify those of AUTH_ISSUER. Only a token that the keys in memory do not verify may
 * wait for other keys.
 * @returns undefined without any keys. Otherwise a function that throws {DomainError}
 * UNAUTHENTICATED for a token that it cannot verify, and UNAVAILABLE if the keys cannot be fetched.
 */
export function createVerify(
  auth: AuthConfig,
  keySets: Pick<KeySets, 'of'> = new KeySets(auth),
): VerifyToken | undefined {
  const { main, issuers } = auth
  if (!main && issuers.length === 0) return undefined
  const verifierOf = (source: TokenSource, rule: ReadingRule) =>
    createVerifier(source, rule, keySets.of(source))
  const listed = new Map<string, Verify>(
    issuers.flatMap((source) => {
      const [first, ...more] = source.actFor.flatMap((each) => findIssuer(auth, each) ?? [])
      const actsFor: ActsFor | undefined = first && [first, ...more]
      const verify = verifierOf(source, { issuer: subjectIssuerOf(source, false), actsFor })
      return issuerTexts(source).map((text) => [text, verify] as const)
    }),
  )
  const ofMain = subjectIssuerOf(main, true)
  const byMain = main && verifierOf(main, { issuer: ofMain, actsFor: [ofMain] })
  /** Of a token whose issuer is not listed, but may be meant to be. */
  const hintOf = (iss: unknown) => slashHint(iss, [...listed.keys()])
  const refusalOf = (error: unknown, hint: string): unknown => {
    if (!(error instanceof TokenProblem)) return error
    const { kind, message, publicText } = error
    const text = `${message}${hint}`
    const problem = new TokenProblem(kind, text, publicText)
    return refused(auth.dev ? `the token ${text}` : publicText, problem)
  }
  return cacheVerified((token) => {
    let hint = ''
    try {
      const unverified = readUnverified(token)
      const { iss } = unverified.claims
      const ofIssuer = typeof iss === 'string' ? listed.get(iss) : undefined
      if (!ofIssuer) hint = hintOf(iss)
      // The issuer only chooses the keys: these verify the same claim.
      const verify = ofIssuer ?? byMain
      if (!verify) {
        const text = `has the "iss" ${shownName(iss)}, which is none of AUTH_ISSUERS`
        throw new TokenProblem('issuer', text, 'the token is of no issuer of this server')
      }
      const verified = verify(token, unverified)
      if (!(verified instanceof Promise)) return verified
      return verified.catch((error: unknown) => {
        throw refusalOf(error, hint)
      })
    } catch (error) {
      throw refusalOf(error, hint)
    }
  })
}

/**
 * At once by a secret, unless the header of the token has critical members, which few tokens have.
 */
type Verify = (token: string, unverified: UnverifiedToken) => VerifiedToken | Promise<VerifiedToken>
type ReadingRule = Pick<ClaimRule, 'issuer' | 'actsFor'>

/**
 * By a secret, {@link problemOf} checks all that jose checks of claims.
 * @param keySet undefined for a secret.
 */
function createVerifier(source: TokenSource, rule: ReadingRule, keySet?: KeySet): Verify {
  const { audience, algorithms, secret } = source
  const texts = issuerTexts(source)
  const options = {
    algorithms: [...algorithms],
    ...(texts.length === 0 ? {} : { issuer: [...texts] }),
    ...(audience.length === 0 ? {} : { audience: [...audience] }),
    requiredClaims: ['exp'],
    clockTolerance: toleranceSeconds,
  }
  const key = new TextEncoder().encode(secret)
  const verifyHmac = keySet || secret === undefined ? undefined : createVerifyHmac(secret)
  const readVerified = ({ payload, keys }: Verified): VerifiedToken => ({
    signedIn: readClaims(payload, { ...source, ...rule }),
    expiresAt: ((payload.exp ?? 0) + toleranceSeconds) * 1000,
    keys,
  })
  return (token, unverified) => {
    const problem = problemOf(unverified, source)
    if (problem) throw problem
    const throwProblem = (error: unknown): never => {
      throw error instanceof DomainError ? error : verificationProblem(error, unverified)
    }
    if (verifyHmac && unverified.crit === undefined) {
      try {
        verifyHmac(token, String(unverified.alg))
      } catch (error) {
        throwProblem(error)
      }
      return readVerified({ payload: unverified.claims })
    }
    const verifying = keySet
      ? verifyBySet(token, keySet, options)
      : jwtVerify<JWTPayload>(token, key, options)
    return verifying.catch(throwProblem).then(readVerified)
  }
}

type Verified = Pick<JWTVerifyResult, 'payload'> & { readonly keys?: FetchedKeys }

/**
 * Asks for other keys if those in memory do not verify the token: they may have been changed, also
 * under the same name.
 */
async function verifyBySet(
  token: string,
  keySet: KeySet,
  options: JWTVerifyOptions,
): Promise<Verified> {
  const keys = await keySet.load()
  try {
    return await verifyBy(keys, token, options)
  } catch (error) {
    if (!isUnknownKey(error) && !isWrongSignature(error)) throw error
    const others = await keySet.renew(keys)
    if (others) return verifyBy(others, token, options)
    // The key may have been published since.
    if (isUnknownKey(error) && keySet.isFailing) throw keySet.unavailable()
    throw error
  }
}

async function verifyBy(
  keys: FetchedKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<Verified> {
  try {
    return { ...(await jwtVerify(token, keys.find, options)), keys }
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tries = 0
    for await (const key of error) {
      if (++tries > candidatesMax) break
      const result = await jwtVerify(token, key, options).catch((failure: unknown) => {
        if (!isWrongSignature(failure)) throw failure
      })
      if (result) return { ...result, keys }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}
