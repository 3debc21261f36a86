import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { SharedBuckets, TakenTokens, Tokens, Wanted } from '../db/rate-limits.ts'
import { RequestEnded } from '../db/request-time.ts'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { type BucketState, TokenBuckets } from '../lib/token-buckets.ts'
import type { Log } from '../log.ts'
import type { Subject } from '../users/subject.ts'
import { standInOf } from '../users/subjects.ts'

/** What is left to a client, as the schema shows it. */
export interface RateLimitState {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: Date
  readonly cost: number
}

/** The buckets that a request is charged to. */
export interface Client {
  /** The key of its own buckets. */
  readonly client: string
  /**
   * The key of further buckets, which a request must not exceed either. Undefined: there are none.
   */
  readonly crowd: string | undefined
  /** Whether its limits are those of a server that acts for users. */
  readonly isServer: boolean
}

/** Who has sent a signed-in request. */
export interface Charged {
  readonly viewer: UserId
  /** The subject of a token that may act for users. Undefined for any other token. */
  readonly server: Subject | undefined
  /** Whether the server acts for the viewer, and not for itself. */
  readonly isActing: boolean
}

/**
 * The client of a request: the address of an anonymous one, or the viewer, who shares the buckets
 * of the address with others, or the server that acts for its users. A user of it may use no more
 * than a viewer, so that others can go on.
 */
export function clientOf(sender: Charged | undefined, address: string): Client {
  if (!sender) {
    return { client: `address:${networkOf(address)}`, crowd: undefined, isServer: false }
  }
  const { viewer, server, isActing } = sender
  if (!server) {
    return { client: `viewer:${viewer}`, crowd: `crowd:${networkOf(address)}`, isServer: false }
  }
  const name = standInOf(server)
  const crowd = isActing ? `acting:${name}:${viewer}` : undefined
  return { client: `server:${name}`, crowd, isServer: true }
}

/** Some proxies add a port, and brackets around an IPv6 address before it. */
const written = /^([\d.]+)(?::\d+)?$|^\[(.+)\](?::\d+)?$/

/**
 * Of sorts of IPv6 addresses with an IPv4 address inside: where it begins, in bytes, and whether
 * its bits are inverted.
 */
const embedded: Readonly<Record<string, readonly [from: number, mask: number]>> = {
  ipv4Mapped: [12, 0],
  // SIIT and NAT64, which translate IPv4.
  rfc6145: [12, 0],
  rfc6052: [12, 0],
  '6to4': [2, 0],
  // Otherwise all clients of a Teredo server would be one.
  teredo: [12, 0xff],
}

/**
 * An IPv4 address, also one within an IPv6 address, or the first 64 bits of an IPv6 address, which
 * one client usually has for itself. One key for all texts that are no address.
 */
function networkOf(address: string): string {
  const kept = networks.get(address)
  if (kept !== undefined) return kept
  const network = readNetwork(address)
  if (address.length <= addressLengthMax) networks.set(address, network)
  return network
}

/** The most characters of an address, with brackets and a port. A proxy may pass on any text. */
const addressLengthMax = 64

/** The networks of the addresses that sent requests last. */
const networks = new LRUCache<string, string>({ max: 1_000 })

function readNetwork(given: string): string {
  const [, ipv4, ipv6] = written.exec(given) ?? []
  const text = ipv4 ?? ipv6 ?? given
  if (!isIP(text)) return 'unknown'
  const address = ipaddr.parse(text)
  if (address.kind() === 'ipv4') return address.toString()
  const [from, mask = 0] = embedded[address.range()] ?? []
  const bytes = address.toByteArray()
  if (from !== undefined) {
    const inner = bytes.slice(from, from + 4).map((byte) => byte ^ mask)
    return inner.join('.')
  }
  return Buffer.from(bytes.slice(0, 8)).toString('hex')
}

/** What a request took from the buckets of its client. */
export interface Charge {
  readonly headers: Readonly<Record<string, string>>
  /** The bucket of costs. Undefined without a limit of costs. */
  readonly state: RateLimitState | undefined
  /** Why the request is refused. Undefined for an allowed request. */
  readonly refusal: DomainError | undefined
}

/** Where the buckets of all clients are. */
export interface TokenStore {
  /** Takes mutations, then cost. Refused mutations take no cost. */
  take(client: string, wanted: Wanted): TakenTokens | Promise<TakenTokens>
}

/** The buckets of the clients of this process, in its memory, which they bound. */
export class MemoryStore implements TokenStore {
  private readonly costs: TokenBuckets | undefined
  private readonly mutations: TokenBuckets | undefined

  constructor(limits: Tokens) {
    this.costs = limits.cost > 0 ? new TokenBuckets(limits.cost) : undefined
    this.mutations = limits.mutations > 0 ? new TokenBuckets(limits.mutations) : undefined
  }

  /** Sends no command. */
  take(client: string, wanted: Wanted): TakenTokens {
    return this.use('take', client, wanted)
  }

  /** What `take` would return. Takes nothing, and sends no command. */
  check(client: string, wanted: Tokens): TakenTokens {
    return this.use('check', client, wanted)
  }

  private use(how: 'take' | 'check', client: string, wanted: Wanted): TakenTokens {
    const mutations =
      wanted.mutations > 0 ? this.mutations?.[how](client, wanted.mutations) : undefined
    if (mutations?.isAllowed === false) return { mutations, cost: undefined }
    return { mutations, cost: this.costs?.[how](client, wanted.cost, wanted.paid) }
  }
}

/** How long no further warning is logged, in milliseconds. */
const quietMs = 10_000

/**
 * The buckets of the database. While it does not answer, those of this process, with a warning
 * every 10 s at most.
 */
export class SharedStore implements TokenStore {
  private readonly own: MemoryStore
  private warnedMs = Number.NEGATIVE_INFINITY

  constructor(
    private readonly shared: Pick<SharedBuckets, 'take'>,
    limits: Tokens,
    private readonly log: Log,
  ) {
    this.own = new MemoryStore(limits)
  }

  /** One command. @throws {RequestEnded} */
  async take(client: string, wanted: Wanted): Promise<TakenTokens> {
    try {
      return await this.shared.take(client, wanted)
    } catch (error) {
      if (error instanceof RequestEnded) throw error
      if (performance.now() - this.warnedMs >= quietMs) {
        this.warnedMs = performance.now()
        this.log.warn({ err: error }, 'rate limits are not shared')
      }
      return this.own.take(client, wanted)
    }
  }
}

/** How many times the limits of a viewer others may use. */
export interface Multiples {
  /** The signed-in requests of an address together. */
  readonly viewersPerAddress: number
  /** A server that acts for users. */
  readonly viewersPerServer: number
}

/** The buckets of clients of one sort, and what errors call them. */
interface Plan {
  readonly limits: Tokens
  readonly store: TokenStore
  readonly whose: string
  readonly crowdLimits: Tokens
  readonly crowds: MemoryStore
  readonly whoseCrowd: string
}

const times = ({ cost, mutations }: Tokens, factor: number): Tokens => ({
  cost: cost * factor,
  mutations: mutations * factor,
})

/** Charges requests to the buckets of their clients. */
export class RateLimiter {
  private readonly viewers: Plan
  private readonly servers: Plan

  /**
   * @param limits those of a viewer, and of an anonymous address.
   * @param storeOf creates the store of clients with limits.
   */
  constructor(
    limits: Tokens,
    { viewersPerAddress, viewersPerServer }: Multiples,
    storeOf: (limits: Tokens) => TokenStore,
  ) {
    const planOf = (own: Tokens, crowdLimits: Tokens) => ({
      ...{ limits: own, store: storeOf(own) },
      ...{ crowdLimits, crowds: new MemoryStore(crowdLimits) },
    })
    this.viewers = {
      ...planOf(limits, times(limits, viewersPerAddress)),
      whose: '',
      whoseCrowd: ' for all signed-in requests of an address',
    }
    this.servers = {
      ...planOf(times(limits, viewersPerServer), limits),
      whose: ' for a server with all its users',
      whoseCrowd: ' for a user that a server acts for',
    }
  }

  /**
   * The most mutations that a client may send at once: with more, it would wait for ever. Sends no
   * command.
   */
  mutationsMax({ crowd, isServer }: Client): number {
    const { limits, crowdLimits } = isServer ? this.servers : this.viewers
    if (limits.mutations === 0) return Number.POSITIVE_INFINITY
    return crowd === undefined
      ? limits.mutations
      : Math.min(limits.mutations, crowdLimits.mutations)
  }

  /**
   * Takes mutations and cost from the buckets of a client and of its crowd. A refused request takes
   * no cost, and nothing from the crowd. The commands of the store, or none if the crowd has too
   * few tokens. Requests that are charged at the same time may pass a crowd that has enough for one
   * of them.
   * @returns undefined without limits.
   */
  async charge({ client, crowd, isServer }: Client, wanted: Wanted): Promise<Charge | undefined> {
    const plan = isServer ? this.servers : this.viewers
    const { limits, store, crowds } = plan
    const { cost, mutations } = wanted
    if (limits.cost === 0 && (limits.mutations === 0 || mutations === 0)) return undefined
    if (crowd !== undefined) {
      const checked = crowds.check(crowd, wanted)
      if (isRefused(checked)) return chargeIn(plan.crowdLimits, checked, plan.whoseCrowd)
    }
    const taken = await store.take(client, wanted)
    const charge = chargeIn(limits, taken, plan.whose)
    if (crowd !== undefined && !charge?.refusal) crowds.take(crowd, wanted)
    if (!charge || charge.refusal || !taken.cost) return charge
    const { remaining, fullInMs } = taken.cost
    const resetAt = new Date(Date.now() + fullInMs)
    return { ...charge, state: { limit: limits.cost, remaining, resetAt, cost } }
  }
}

const isRefused = ({ mutations, cost }: TakenTokens): boolean =>
  mutations?.isAllowed === false || cost?.isAllowed === false

/** The bucket that refuses a request, or else the bucket of costs. */
function chargeIn(limits: Tokens, taken: TakenTokens, whose: string): Charge | undefined {
  if (taken.mutations && (!taken.mutations.isAllowed || !taken.cost)) {
    return chargeOf(taken.mutations, limits.mutations, `mutations per minute${whose}`)
  }
  return taken.cost && chargeOf(taken.cost, limits.cost, `units of cost per minute${whose}`)
}

const chargeOf = (bucket: BucketState, limit: number, what: string): Charge => ({
  headers: headersOf(limit, bucket),
  state: undefined,
  refusal: bucket.isAllowed
    ? undefined
    : new DomainError(
        'RATE_LIMITED',
        `The limit is ${limit} ${what}. Try again in ${secondsOf(bucket.retryInMs)} seconds.`,
        { retryAfterSeconds: secondsOf(bucket.retryInMs) },
      ),
})

const headersOf = (limit: number, { isAllowed, remaining, fullInMs, retryInMs }: BucketState) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(secondsOf(fullInMs)),
  ...(isAllowed ? {} : { 'retry-after': String(secondsOf(retryInMs)) }),
})

const secondsOf = (ms: number): number => Math.ceil(ms / 1_000)
