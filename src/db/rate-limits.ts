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

/** The buckets that a request took from. Undefined without a limit, and for the cost if the mutations are refused. */
export type TakenTokens = Partial<Readonly<Record<keyof Tokens, BucketState>>>

const minuteMs = 60_000

/** How long a request waits for its rate limit, in milliseconds. */
const waitMsMax = 500

/** The buckets of all clients in the database, which all processes share. A document expires when its bucket is full. */
export class SharedBuckets {
  /** @param limits 0: no limit. */
  constructor(
    private readonly rateLimits: Collections['rate_limits'],
    private readonly limits: Tokens,
  ) {}

  /**
   * Takes mutations, then cost, from the buckets of a client. A bucket with too few tokens gives none, and refused
   * mutations take no cost. One command, by the clock of the server. It waits for no other member of the replica set:
   * a failover may forget the last requests.
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
    const { limits } = this
    const now = { at: '$$NOW', expiresAt: { $add: ['$$NOW', minuteMs] } }
    const hasCost = limits.cost > 0 ? { $gte: ['$cost', cost - paid] } : true
    const hasMutations = limits.mutations > 0 ? { $gte: ['$mutations', mutations] } : true
    return [
      { $set: { ...refilled('cost', limits), ...refilled('mutations', limits), ...now } },
      { $set: { hasMutations } },
      { $set: { hasCost: { $and: ['$hasMutations', hasCost] } } },
      {
        $set: {
          ...(limits.cost > 0
            ? { cost: lessIf('$hasCost', '$cost', cost, { limit: limits.cost, paid }) }
            : {}),
          ...(limits.mutations > 0
            ? {
                mutations: lessIf('$hasMutations', '$mutations', mutations, {
                  limit: limits.mutations,
                }),
              }
            : {}),
        },
      },
    ]
  }

  private statesOf(doc: RateLimitDoc | null, wanted: Wanted): TakenTokens {
    const { limits } = this
    if (!doc) return {}
    const { cost: leftCost, mutations: leftMutations, hasCost, hasMutations } = doc
    const mutations =
      leftMutations !== undefined && limits.mutations > 0 && wanted.mutations > 0
        ? bucketState(limits.mutations, wanted.mutations, {
            isAllowed: hasMutations,
            left: leftMutations,
          })
        : undefined
    if (mutations && !hasMutations) return { mutations }
    const cost =
      leftCost !== undefined && limits.cost > 0
        ? bucketState(limits.cost, wanted.cost - (wanted.paid ?? 0), {
            isAllowed: hasCost,
            left: leftCost,
          })
        : undefined
    return { ...(mutations ? { mutations } : {}), ...(cost ? { cost } : {}) }
  }
}

/** The tokens of a bucket now: those at its last use, and its share of a minute since. At most those of a minute. */
function refilled(field: keyof Tokens, limits: Tokens): Record<string, object> {
  const perMinute = limits[field]
  if (perMinute === 0) return {}
  const elapsedMs = { $max: [0, { $subtract: ['$$NOW', { $ifNull: ['$at', '$$NOW'] }] }] }
  const gained = { $multiply: [elapsedMs, perMinute / minuteMs] }
  const before = { $ifNull: [`$${field}`, perMinute] }
  return { [field]: { $min: [perMinute, { $add: [before, gained] }] } }
}

const lessIf = (
  condition: string,
  field: string,
  tokens: number,
  { limit, paid = 0 }: { readonly limit: number; readonly paid?: number },
) => ({
  $cond: [condition, { $subtract: [{ $min: [limit, { $add: [field, paid] }] }, tokens] }, field],
})
