import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { shown } from '../lib/shown.ts'
import { isIssuer, issuerTexts, type TokenSource } from '../sign-in.ts'

/** How long after its expiry a token counts, in seconds, because clocks differ. */
export const toleranceSeconds = 5

/** Why a token is refused. The log counts each kind by itself. */
export type ProblemKind =
  | ('form' | 'algorithm' | 'expired' | 'time' | 'issuer' | 'audience' | 'key' | 'signature')
  | 'other'

/** The sentences about a refused token that production answers with. */
const publicTexts: Readonly<Partial<Record<ProblemKind, string>>> = {
  expired: 'the token has expired',
}

/**
 * Why a token is refused, as the end of a sentence that begins with the token. It shows no more of
 * it than names.
 */
export class TokenProblem extends Error {
  constructor(
    readonly kind: ProblemKind,
    text: string,
    /** What a client of production reads. */
    readonly publicText = publicTexts[kind] ?? 'the token is not valid for this server',
  ) {
    super(text)
  }
}

/** What the operator reads about a refusal: the cause, which production keeps from clients. */
export const causeOfRefusal = ({ cause, message }: Error): string =>
  cause instanceof TokenProblem ? `the token ${cause.message}` : message

/** The claims and the header of a token whose signature has not been verified. */
export interface UnverifiedToken {
  readonly alg: unknown
  readonly kid: unknown
  /** The members of the header that the server must understand. */
  readonly crit: unknown
  readonly claims: JWTPayload
}

/** @throws {TokenProblem} if the text is no signed token. */
export function readUnverified(token: string): UnverifiedToken {
  const parts = token.split('.', 6).length
  if (parts === 5)
    throw new TokenProblem('form', 'is encrypted (JWE), and this server reads signed tokens (JWS)')
  if (parts !== 3)
    throw new TokenProblem(
      'form',
      'is no JWT: ask the provider for one, and not for an opaque token',
    )
  try {
    const { alg, kid, crit } = decodeProtectedHeader(token)
    return { alg, kid, crit, claims: decodeJwt(token) }
  } catch {
    throw new TokenProblem('form', 'is no JWT: its header or its claims are no JSON objects')
  }
}

/** A name in a token, as it is shown. */
export const shownName = (value: unknown): string =>
  typeof value === 'string' ? shown(value) : value === undefined ? 'none' : typeNameOf(value)

const typeNameOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object'
        : `a ${typeof value}`

/**
 * What is wrong with a token whatever its signature is, so that the keys need not be asked. jose
 * checks the same again for published keys, but not that a token has no `iss`.
 */
export function problemOf(
  { alg, claims }: UnverifiedToken,
  source: TokenSource,
): TokenProblem | undefined {
  const { algorithms, audience } = source
  if (!algorithms.some((allowed) => allowed === alg)) {
    const text = `has the "alg" ${shownName(alg)}, and must have one of ${algorithms.join(', ')}`
    return new TokenProblem('algorithm', text)
  }
  return (
    timeProblem(claims) ??
    issuerProblem(claims.iss, source) ??
    audienceProblem(claims.aud, audience)
  )
}

function timeProblem(claims: JWTPayload): TokenProblem | undefined {
  for (const name of ['exp', 'nbf', 'iat'] as const) {
    const value: unknown = claims[name]
    if (typeof value !== 'number' && (name === 'exp' || value !== undefined))
      return new TokenProblem(
        'time',
        `must have a number as "${name}", and has ${shownName(value)}`,
      )
  }
  const { exp = 0, nbf = 0 } = claims
  const now = Math.floor(Date.now() / 1_000)
  if (exp <= now - toleranceSeconds) return new TokenProblem('expired', 'has expired')
  if (nbf <= now + toleranceSeconds) return undefined
  return new TokenProblem(
    'time',
    `does not hold yet: its "nbf" is ${Math.ceil(nbf - now)} s from now`,
  )
}

/**
 * Several issuers may share published keys, so without AUTH_ISSUER a token with `iss` could be of
 * any of them. Who knows a secret can write any `iss`, so there it says nothing.
 */
function issuerProblem(iss: unknown, source: TokenSource): TokenProblem | undefined {
  const texts = issuerTexts(source)
  if (texts.length > 0) {
    if (texts.some((text) => text === iss)) return undefined
    const text = `has the "iss" ${shownName(iss)}, and must have ${texts.map(shown).join(' or ')}`
    return new TokenProblem('issuer', `${text}${slashHint(iss, texts)}`)
  }
  if (iss === undefined) return undefined
  if (source.secret !== undefined && typeof iss === 'string' && isIssuer(iss)) return undefined
  const text = `has the "iss" ${shownName(iss)}, and must have none without AUTH_ISSUER`
  return new TokenProblem('issuer', text)
}

function audienceProblem(aud: unknown, audience: readonly string[]): TokenProblem | undefined {
  const own: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (audience.length === 0 || own.some((name) => audience.some((right) => right === name))) return
  const has = own.slice(0, 3).map(shownName).join(', ')
  const expected = audience.map(shown).join(', ')
  return new TokenProblem('audience', `has the "aud" ${has || 'none'}, and must have ${expected}`)
}

/** The hint that an issuer differs from a right one in its end alone. */
export function slashHint(iss: unknown, issuers: readonly string[]): string {
  const isNear = (issuer: string) => iss === `${issuer}/` || `${String(iss)}/` === issuer
  const near = typeof iss === 'string' ? issuers.find(isNear) : undefined
  return near === undefined ? '' : `; ${shown(near)} differs by the slash at its end`
}

/** Why the keys do not verify a token, by the error of the verification. */
export function verificationProblem(error: unknown, { alg, kid }: UnverifiedToken): TokenProblem {
  if (isUnknownKey(error)) {
    const text = `is signed by no published key of its issuer that has its "kid" ${shownName(kid)} and is for ${shownName(alg)}`
    return new TokenProblem('key', text)
  }
  if (error instanceof errors.JWTExpired) return new TokenProblem('expired', 'has expired')
  if (isWrongSignature(error))
    return new TokenProblem('signature', 'has a wrong signature: another key has signed it')
  const code = error instanceof errors.JOSEError ? error.code : 'its key cannot be used'
  return new TokenProblem('other', `cannot be verified (${code})`)
}

export const isUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey

export const isWrongSignature = (error: unknown): boolean =>
  error instanceof errors.JWSSignatureVerificationFailed
