import { isIPv6 } from 'node:net'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { type BucketState, TokenBuckets } from '../lib/token-buckets.ts'

/** The tokens of a minute. Zero: no limit. */
export interface RateLimits {
  readonly cost: number
  readonly mutations: number
}

/** What is left to a client, as the schema shows it. */
export interface RateLimitState {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: Date
  readonly cost: number
}

/** The key of a client's buckets: the viewer, or the address of an anonymous request. */
export const clientOf = (viewer: UserId | undefined, address: string): string =>
  viewer === undefined ? `address:${networkOf(address)}` : `viewer:${viewer}`

/** An IPv4 address, or the first 64 bits of an IPv6 address, which one client usually has for itself. */
function networkOf(address: string): string {
  // An IPv4 address in the form of IPv6 is an address of its own.
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const missing = tail === undefined ? 0 : 4 - groups.length
  return [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0')]
    .slice(0, 4)
    .join(':')
}

/** What a request took from the buckets of its client. */
export interface Charge {
  readonly headers: Readonly<Record<string, string>>
  /** The bucket of costs. Undefined without a limit of costs. */
  readonly state: RateLimitState | undefined
  /** Why the request is refused. Undefined for an allowed request. */
  readonly refusal: DomainError | undefined
}

/** The buckets of costs and mutations of all clients. In the memory of this process, which they bound. */
export class RateLimiter {
  private readonly costs: TokenBuckets | undefined
  private readonly mutations: TokenBuckets | undefined

  constructor(limits: RateLimits) {
    this.costs = limits.cost > 0 ? new TokenBuckets(limits.cost) : undefined
    this.mutations = limits.mutations > 0 ? new TokenBuckets(limits.mutations) : undefined
  }

  /** Takes mutations and cost from the buckets of a client. A refused request takes no cost. Sends no command. */
  charge(client: string, cost: number, mutations: number): Charge | undefined {
    const first =
      mutations > 0 ? this.take(this.mutations, client, mutations, 'mutations') : undefined
    if (first?.refusal) return first
    const charge = this.take(this.costs, client, cost, 'units of cost')
    return charge ?? first
  }

  private take(
    buckets: TokenBuckets | undefined,
    client: string,
    tokens: number,
    what: string,
  ): Charge | undefined {
    if (!buckets) return undefined
    const bucket = buckets.take(client, tokens)
    const { remaining, fullInMs, retryInMs } = bucket
    const limit = buckets.perMinute
    const resetAt = new Date(Date.now() + fullInMs)
    return {
      headers: headersOf(limit, bucket),
      state: buckets === this.costs ? { limit, remaining, resetAt, cost: tokens } : undefined,
      refusal: bucket.isAllowed
        ? undefined
        : new DomainError(
            'RATE_LIMITED',
            `The limit is ${limit} ${what} per minute. Try again in ${secondsOf(retryInMs)} seconds.`,
          ),
    }
  }
}

const headersOf = (limit: number, { isAllowed, remaining, fullInMs, retryInMs }: BucketState) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(secondsOf(fullInMs)),
  ...(isAllowed ? {} : { 'retry-after': String(secondsOf(retryInMs)) }),
})

const secondsOf = (ms: number): number => Math.ceil(ms / 1_000)
