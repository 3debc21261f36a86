import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'
import type { SignedIn } from './auth.ts'

/** The most bytes of all verified tokens in memory. */
const bytesMax = 8 * 1024 ** 2

/** What a token takes: its digest, its viewer, and the parts of the cache that hold them. */
const tokenBytes = 512

/** How long a verification counts, in milliseconds. A token of a key that was withdrawn is refused after that. */
const verifiedMsMax = 60_000

/** A verified token. Times are in milliseconds since 1970. */
export interface VerifiedToken {
  readonly signedIn: SignedIn
  readonly expiresAt: number
}

interface Verification extends VerifiedToken {
  readonly verifiedAt: number
}

/** Whether a verification counts now. Not if the clock was set back since. */
function counts({ verifiedAt, expiresAt }: Verification): boolean {
  const now = Date.now()
  return verifiedAt <= now && now < Math.min(expiresAt, verifiedAt + verifiedMsMax)
}

/**
 * Keeps verified tokens by their digest, for a minute, and never beyond their expiry. Keeps no token and no refusal.
 * A verification takes ten times as long as a digest.
 */
export function cacheVerified(
  verify: (token: string) => Promise<VerifiedToken>,
): (token: string) => Promise<SignedIn> {
  const verified = new LRUCache<string, Verification>({
    maxSize: bytesMax,
    sizeCalculation: () => tokenBytes,
  })
  const { countRead } = measureCache('tokens', () => verified.calculatedSize)
  return async (token) => {
    const digest = createHash('sha256').update(token).digest('base64')
    const cached = verified.get(digest)
    const isKnown = cached !== undefined && counts(cached)
    countRead(isKnown)
    if (isKnown) return cached.signedIn
    const found = await verify(token)
    verified.set(digest, { ...found, verifiedAt: Date.now() })
    return found.signedIn
  }
}
