import { errors, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose'
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
 * Verifies tokens. The keys, audience and algorithms of a listed issuer alone verify its tokens. The main keys verify those
 * of AUTH_ISSUER. Only a token that the keys in memory do not verify may wait for other keys.
 * @returns undefined without any keys. Otherwise a function that throws {DomainError} UNAUTHENTICATED for a token that it
 * cannot verify, and UNAVAILABLE if the keys cannot be fetched.
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
  return cacheVerified(async (token) => {
    let hint = ''
    try {
      const unverified = readUnverified(token)
      const { iss } = unverified.claims
      const ofIssuer = typeof iss === 'string' ? listed.get(iss) : undefined
      // The issuer only chooses the keys: these verify the same claim.
      if (ofIssuer) return await ofIssuer(token, unverified)
      hint = hintOf(iss)
      if (byMain) return await byMain(token, unverified)
      const text = `has the "iss" ${shownName(iss)}, which is none of AUTH_ISSUERS`
      throw new TokenProblem('issuer', text, 'the token is of no issuer of this server')
    } catch (error) {
      if (!(error instanceof TokenProblem)) throw error
      const { kind, message, publicText } = error
      const text = `${message}${hint}`
      const problem = new TokenProblem(kind, text, publicText)
      throw refused(auth.dev ? `the token ${text}` : publicText, problem)
    }
  })
}

type Verify = (token: string, unverified: UnverifiedToken) => Promise<VerifiedToken>
type ReadingRule = Pick<ClaimRule, 'issuer' | 'actsFor'>

/** @param keySet undefined for a secret. */
function createVerifier(source: TokenSource, rule: ReadingRule, keySet?: KeySet): Verify {
  const { audience, algorithms, secret = '' } = source
  const texts = issuerTexts(source)
  const options = {
    algorithms: [...algorithms],
    ...(texts.length === 0 ? {} : { issuer: [...texts] }),
    ...(audience.length === 0 ? {} : { audience: [...audience] }),
    requiredClaims: ['exp'],
    clockTolerance: toleranceSeconds,
  }
  const key = new TextEncoder().encode(secret)
  const verifySignature = (token: string): Promise<Verified> =>
    keySet ? verifyBySet(token, keySet, options) : jwtVerify(token, key, options)
  return async (token, unverified) => {
    const problem = problemOf(unverified, source)
    if (problem) throw problem
    const { payload, keys } = await verifySignature(token).catch((error: unknown) => {
      throw error instanceof DomainError ? error : verificationProblem(error, unverified)
    })
    const { exp = 0 } = payload
    const signedIn = readClaims(payload, { ...source, ...rule })
    return { signedIn, expiresAt: (exp + toleranceSeconds) * 1000, keys }
  }
}

type Verified = Pick<JWTVerifyResult, 'payload'> & { readonly keys?: FetchedKeys }

/** Asks for other keys if those in memory do not verify the token: they may have been changed, also under the same name. */
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
