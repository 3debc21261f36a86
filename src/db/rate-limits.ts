import { createHash } from 'node:crypto'
import { type BucketState, bucketState } from '../lib/token-buckets.ts'
import { within } from '../lib/within.ts'
import type { Collections, RateLimitDoc } from './collections.ts'
import { commandMs } from './request-time.ts'

/** What a client may use in a minute. */
export type Tokens = Readonly<Record<'cost' | 'mutations', number>>

/** What a request wants from the buckets of its client. */
export interface Wanted extends Tokens {
  /** The part of the cost that was taken before. Default: none. */
  readonly paid?: number
}

/**
 * The buckets that a request took from. Undefined without a limit, and for the cost if the
 * mutations are refused.
 */
export type TakenTokens = Readonly<Record<keyof Tokens, BucketState | undefined>>

const minuteMs = 60_000

/** How long a request waits for its rate limit, in milliseconds. */
const waitMsMax = 500

/**
 * The buckets of all clients in the database, which all processes share. A document expires when
 * its bucket is full.
 */
export class SharedBuckets {
  /** @param limits 0: no limit. */
  constructor(
    private readonly rateLimits: Collections['rate_limits'],
    private readonly limits: Tokens,
  ) {}

  /**
   * Takes mutations, then cost, from the buckets of a client. A bucket with too few tokens gives
   * none, and refused mutations take no cost. One command, by the clock of the server. It waits for
   * no other member of the replica set: a failover may forget the last requests.
   * @throws {RequestEnded}; driver errors; {Error} after half a second.
   */
  async take(client: string, wanted: Wanted): Promise<TakenTokens> {
    const maxTimeMS = commandMs(waitMsMax)
    const _id = createHash('sha256').update(client).digest('hex')
    const taken = this.rateLimits.findOneAndUpdate({ _id }, this.updateFor(wanted), {
      upsert: true,
      returnDocument: 'after',
      maxTimeMS,
      writeConcern: { w: 1 },
    })
    const late = () => new Error(`no answer within ${waitMsMax} ms`)
    return this.statesOf(await within(waitMsMax, taken, late), wanted)
  }

  private updateFor({ cost, mutations, paid = 0 }: Wanted) {
    const now = { at: '$$NOW', expiresAt: { $add: ['$$NOW', minuteMs] } }
    const has = (field: keyof Tokens, tokens: number) =>
      this.limits[field] > 0 ? { $gte: [`$${field}`, tokens] } : true
    return [
      { $set: { ...this.refilled('cost'), ...this.refilled('mutations'), ...now } },
      { $set: { hasMutations: has('mutations', mutations) } },
      { $set: { hasCost: { $and: ['$hasMutations', has('cost', cost - paid)] } } },
      { $set: { ...this.less('cost', cost, paid), ...this.less('mutations', mutations) } },
    ]
  }

  /**
   * The tokens of a bucket now: those at its last use, and its share of a minute since. At most
   * those of a minute.
   */
  private refilled(field: keyof Tokens): Record<string, object> {
    const perMinute = this.limits[field]
    if (perMinute === 0) return {}
    const elapsedMs = { $max: [0, { $subtract: ['$$NOW', { $ifNull: ['$at', '$$NOW'] }] }] }
    const gained = { $multiply: [elapsedMs, perMinute / minuteMs] }
    const before = { $ifNull: [`$${field}`, perMinute] }
    return { [field]: { $min: [perMinute, { $add: [before, gained] }] } }
  }

  /** The tokens of a bucket after a request, if it has them. */
  private less(field: keyof Tokens, tokens: number, paid = 0): Record<string, object> {
    const limit = this.limits[field]
    if (limit === 0) return {}
    const before = { $min: [limit, { $add: [`$${field}`, paid] }] }
    const has = field === 'cost' ? '$hasCost' : '$hasMutations'
    return { [field]: { $cond: [has, { $subtract: [before, tokens] }, `$${field}`] } }
  }

  private statesOf(doc: RateLimitDoc | null, { cost, mutations, paid = 0 }: Wanted): TakenTokens {
    const stateOf = (field: keyof Tokens, tokens: number, isAllowed = false) => {
      const [limit, left] = [this.limits[field], doc?.[field]]
      return limit > 0 && left !== undefined
        ? bucketState(limit, tokens, { isAllowed, left })
        : undefined
    }
    const ofMutations =
      mutations > 0 ? stateOf('mutations', mutations, doc?.hasMutations) : undefined
    const isRefused = ofMutations?.isAllowed === false
    return {
      mutations: ofMutations,
      cost: isRefused ? undefined : stateOf('cost', cost - paid, doc?.hasCost),
    }
  }
}
