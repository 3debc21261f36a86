import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'
import type { SignedIn } from '../users/subject.ts'

/** The most bytes of all verified tokens in memory. */
const bytesMax = 8 * 1024 ** 2

/**
 * What a token takes beside texts and sets: its digest, and the parts of the cache that hold it.
 */
const tokenBytes = 600

/** What a set of a few names takes. Tokens without a role or scope share one. */
const setBytes = 256

const bytesOf = ({ signedIn: { subject, roles, scopes } }: VerifiedToken): number =>
  tokenBytes +
  2 * (subject.issuer.length + subject.sub.length) +
  [roles, scopes].filter(({ size }) => size > 0).length * setBytes

/** How long a verification counts, in milliseconds. */
const verifiedMsMax = 60_000

/** A verified token. Times are in milliseconds since 1970. */
export interface VerifiedToken {
  readonly signedIn: SignedIn
  readonly expiresAt: number
  /** The published keys that verified it. Once they are replaced, it is verified again. */
  readonly keys?: { readonly isCurrent: boolean } | undefined
}

/** @returns what a valid token says, at once if it needs no other keys and no WebCrypto. */
export type VerifyToken = (token: string) => SignedIn | Promise<SignedIn>

interface Verification extends VerifiedToken {
  readonly verifiedAt: number
}

/**
 * Whether a verification counts now. Not if the clock was set back since, nor if its key may have
 * been withdrawn.
 */
function counts({ verifiedAt, expiresAt, keys }: Verification): boolean {
  if (keys?.isCurrent === false) return false
  const now = Date.now()
  return verifiedAt <= now && now < Math.min(expiresAt, verifiedAt + verifiedMsMax)
}

/**
 * Keeps verified tokens by their digest, for a minute, and never beyond their expiry. Keeps no
 * token and no refusal. A verification takes at least ten times as long as a digest.
 */
export function cacheVerified(
  verify: (token: string) => VerifiedToken | Promise<VerifiedToken>,
): VerifyToken {
  const verified = new LRUCache<string, Verification>({
    maxSize: bytesMax,
    sizeCalculation: bytesOf,
  })
  const { countRead } = measureCache('tokens', () => verified.calculatedSize)
  return (token) => {
    const digest = hash('sha256', token, 'base64')
    const cached = verified.get(digest)
    const isKnown = cached !== undefined && counts(cached)
    countRead(isKnown)
    if (isKnown) return cached.signedIn
    const keep = (valid: VerifiedToken): SignedIn => {
      verified.set(digest, { ...valid, verifiedAt: Date.now() })
      return valid.signedIn
    }
    const valid = verify(token)
    return valid instanceof Promise ? valid.then(keep) : keep(valid)
  }
}
