/** The state of a key's bucket after a request. */
export interface BucketState {
  readonly isAllowed: boolean
  /** Number of tokens that are left. */
  readonly remaining: number
  /** The time until the bucket is full again, in milliseconds. */
  readonly fullInMs: number
  /** The time until the refused tokens are there, in milliseconds. Zero if they were allowed. */
  readonly retryInMs: number
}

const minuteMs = 60_000

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

/** The state of a bucket after a request for `tokens`, which leaves `left` tokens. */
export function bucketState(
  perMinute: number,
  tokens: number,
  { isAllowed, left }: { readonly isAllowed: boolean; readonly left: number },
): BucketState {
  const timeFor = (missing: number) => Math.ceil((missing / perMinute) * minuteMs)
  return {
    isAllowed,
    remaining: Math.floor(left),
    fullInMs: timeFor(perMinute - left),
    retryInMs: isAllowed ? 0 : timeFor(tokens - left),
  }
}

/** The most buckets that are kept: about four megabytes. */
const bucketsMax = 20_000

/**
 * Token buckets by key. A bucket holds the tokens of a minute and fills continuously. A full bucket
 * is not kept. Beyond 20,000 buckets, the one that was used longest ago is forgotten.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>()

  /**
   * @param perMinute the number of tokens of a minute, and the size of a bucket.
   * @param now a monotonic time in milliseconds.
   */
  constructor(
    readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The state of a bucket as `take` would return it. Takes nothing. */
  check(key: string, tokens: number, paid = 0): BucketState {
    const { isAllowed, left } = this.without(key, tokens, this.now(), paid)
    return bucketState(this.perMinute, tokens - paid, { isAllowed, left })
  }

  /**
   * Takes tokens, or none if the bucket holds fewer.
   * @param key at most 100 characters.
   * @param paid the tokens among them that were taken before.
   */
  take(key: string, tokens: number, paid = 0): BucketState {
    const nowMs = this.now()
    const { isAllowed, left } = this.without(key, tokens, nowMs, paid)
    this.buckets.delete(key)
    if (left < this.perMinute) this.buckets.set(key, { tokens: left, atMs: nowMs })
    if (this.buckets.size > bucketsMax) this.deleteOldest()
    return bucketState(this.perMinute, tokens - paid, { isAllowed, left })
  }

  private deleteOldest(): void {
    const [oldest] = this.buckets.keys()
    if (oldest !== undefined) this.buckets.delete(oldest)
  }

  private without(key: string, tokens: number, nowMs: number, paid: number) {
    const { tokens: before, atMs } = this.buckets.get(key) ?? {
      tokens: this.perMinute,
      atMs: nowMs,
    }
    const there = Math.min(this.perMinute, before + ((nowMs - atMs) / minuteMs) * this.perMinute)
    const isAllowed = tokens - paid <= there
    return { isAllowed, left: isAllowed ? Math.min(this.perMinute, there + paid) - tokens : there }
  }

  /** The number of buckets that are kept. */
  get size(): number {
    return this.buckets.size
  }
}
