import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import { shown } from '../lib/shown.ts'
import { KeysProblem } from './fetch-keys.ts'

/** The most keys of a set. Providers publish fewer than ten. */
const keysMax = 100

/** The least bits of an RSA key, as RFC 7518 demands. */
const rsaBitsMin = 2_048

/** The published keys of an answer. */
export interface PublishedKeys {
  /** Those that can verify tokens. */
  readonly usable: JSONWebKeySet
  /** What is wrong with each other key that is meant to verify tokens. */
  readonly problems: readonly string[]
}

/**
 * Reads a set of published keys. A key that is malformed, weak or secret is left out, and the
 * others are used.
 * @throws {KeysProblem} if the text is no set of keys, or one of too many.
 */
export function parseKeys(text: string): PublishedKeys {
  const keys = keysOf(text)
  if (keys.length > keysMax)
    throw new KeysProblem(`answers with ${keys.length} keys, and may have ${keysMax}`)
  const usable: JWK[] = []
  const problems: string[] = []
  for (const key of keys.filter(isToVerify)) {
    const problem = problemOf(key)
    if (problem === undefined) usable.push(publicPartOf(key))
    else problems.push(`the key ${nameOf(key)} is not used: it ${problem}`)
  }
  return { usable: { keys: usable }, problems }
}

function keysOf(text: string): readonly JWK[] {
  const set = parseJson(text) as { readonly keys?: unknown } | null
  const keys = set?.keys
  if (Array.isArray(keys) && keys.every(isObject)) return keys
  throw new KeysProblem('answers with something else than a set of keys: {"keys": […]}')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new KeysProblem('answers with something else than JSON')
  }
}

const isObject = (value: unknown): value is JWK =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Not if the key encrypts, as some providers publish too. Members may be of any type. */
const isToVerify = ({ alg, use, key_ops: operations }: JWK): boolean =>
  (alg === undefined || typeof alg === 'string') &&
  (use === undefined || use === 'sig') &&
  (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))

/** The members that verify, and no others: an answer may have members of any size and depth. */
const publicPartOf = ({ kty, kid, alg, n, e, crv, x, y }: JWK): JWK =>
  Object.fromEntries(
    Object.entries({ kty, kid, alg, n, e, crv, x, y }).filter(([, value]) => value !== undefined),
  )

const nameOf = ({ kid }: JWK): string =>
  typeof kid === 'string' ? `with the "kid" ${shown(kid)}` : 'without a "kid"'

function problemOf(key: JWK): string | undefined {
  if (key.kid !== undefined && typeof key.kid !== 'string') return 'has a "kid" that is no text'
  if (key.kty === 'oct' || Object.hasOwn(key, 'd')) return 'is secret, and must not be published'
  try {
    const { asymmetricKeyType, asymmetricKeyDetails = {} } = createPublicKey({
      ...{ key: key as JsonWebKey, format: 'jwk' },
    })
    const { modulusLength: bits = 0, publicExponent: exponent = 0n } = asymmetricKeyDetails
    if (asymmetricKeyType !== 'rsa') return undefined
    if (bits < rsaBitsMin) return `has ${bits} bits, and RSA needs at least ${rsaBitsMin}`
    // With the exponent 1, anyone can sign.
    return exponent < 3n || exponent % 2n === 0n ? `has the exponent ${exponent}` : undefined
  } catch {
    return 'is malformed'
  }
}
