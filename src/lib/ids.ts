import { randomBytes } from 'node:crypto'

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** An account's id: the `_id` of the user, opaque and for ever. */
export type UserId = Brand<string, 'UserId'>
/** A user's handle: the name that other users see and write. It can change. */
export type Handle = Brand<string, 'Handle'>
/** A post's id: 24 hex digits that sort by creation time, to the millisecond (law L1). */
export type PostId = Brand<string, 'PostId'>
/** The id of a follow, mute or block: sorts by creation time, like a post's id. */
export type EdgeId = Brand<string, 'EdgeId'>
/** The id of a like, comment or share: sorts by creation time. */
export type EngagementId = Brand<string, 'EngagementId'>
/** An id that sorts by creation time, newest last. Every cursor carries one. */
export type TimeId = PostId | EdgeId | EngagementId

/** A post's id with its author, the first part of the posts' shard key (law L5). */
export interface PostRef {
  readonly id: PostId
  readonly author: UserId
}

/** What an id may look like. A minted one begins with a capital letter, so it is no handle. */
const userIdPattern = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$/
const handlePattern = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/
const timeIdPattern = /^[0-9a-f]{24}$/

/** The format of a handle, for error messages. */
export const handleRule =
  '1 to 64 lowercase letters, digits, ".", "_" or "-", with a letter or digit first and last'

/** @returns the handle, or undefined if `text` is not a handle in lower case. */
export const parseHandle = (text: string): Handle | undefined =>
  handlePattern.test(text) ? (text as Handle) : undefined

/** @returns the id, or undefined if no account can have `text` as its id. */
export const parseUserId = (text: string): UserId | undefined =>
  userIdPattern.test(text) ? (text as UserId) : undefined

const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = `0123456789${capitals}${capitals.toLowerCase()}`

/**
 * Creates the id of a new account: 64 random bits in 11 characters, spread evenly over all shards.
 * No account has had it before, a deleted one neither: among a billion accounts, the probability
 * that any two had the same id is 3 %.
 * @param random Default: the random bytes of the machine.
 */
export function mintUserId(random: (bytes: number) => Buffer = randomBytes): UserId {
  let left = random(8).readBigUInt64BE()
  const next = (alphabet: string) => {
    const digit = alphabet[Number(left % BigInt(alphabet.length))]
    left /= BigInt(alphabet.length)
    return digit
  }
  return [capitals, ...Array.from({ length: 10 }, () => digits)].map(next).join('') as UserId
}

/** @returns the id, or undefined if `text` is not 24 lower-case hex digits. */
export const parseTimeId = <Id extends TimeId>(text: string): Id | undefined =>
  timeIdPattern.test(text) ? (text as Id) : undefined

/** The creation time in an id, to the millisecond. */
export function timeOf(id: TimeId): Date {
  return new Date(Number.parseInt(id.slice(0, 8), 16) * 1000 + Number.parseInt(id.slice(8, 12), 16))
}

const hex = (value: number | bigint, digits: number) => value.toString(16).padStart(digits, '0')

/**
 * Encodes a time and a tail as an id: seconds (4 bytes), milliseconds (2 bytes), tail (6 bytes).
 * Imports derive the tail from the imported row, so that a repeated import creates the same ids.
 * @param atMs milliseconds since 1970, below 2106.
 * @param tail 12 hex digits.
 */
export function timeIdAt<Id extends TimeId>(atMs: number, tail: string): Id {
  return `${hex(Math.floor(atMs / 1000), 8)}${hex(Math.floor(atMs) % 1000, 4)}${tail}` as Id
}

/**
 * The id right before (-1) or after (+1) another. Turns an excluded bound into an included bound.
 */
export const neighbour = <Id extends TimeId>(id: Id, step: -1 | 1): Id =>
  id === (step < 0 ? lowest : highest) ? id : (hex(BigInt(`0x${id}`) + BigInt(step), 24) as Id)

// Forged cursors may carry these ids, which no mint creates. They have no neighbour on one side.
const lowest = '0'.repeat(24)
const highest = 'f'.repeat(24)

/**
 * The most difference between the clocks of two processes that is not reported, in milliseconds.
 * Ids may also run ahead of the clock by this much. Ids of different processes sort by time within
 * this bound.
 */
export const clockSkewMaxMs = 1_000

const sequenceMax = 0xffff

/**
 * Creates ids that rise strictly within a process, and differ between processes by four random
 * bytes. Creates 65,536 ids in a millisecond, then uses the next millisecond.
 *
 * If the clock steps back by at most {@link clockSkewMaxMs}, ids continue from the last one. After
 * a longer step they follow the clock at once, with new random bytes.
 */
export class IdMint {
  private lastMs = 0
  private sequence = 0
  private process: string

  /** @param now milliseconds since 1970. */
  constructor(
    private readonly now: () => number,
    private readonly random: (bytes: number) => Buffer = randomBytes,
  ) {
    this.process = this.tail()
  }

  /**
   * A new id above all earlier ids of this mint, unless the clock stepped back by more than the
   * bound.
   * @param above an id that the new id must also be above, whatever the clock says. It affects no
   *   later id.
   */
  next<Id extends TimeId>(above?: TimeId): Id {
    const now = Math.floor(this.now())
    if (this.lastMs > now + clockSkewMaxMs) {
      // The mint may already have created ids of these milliseconds.
      this.process = this.tail()
      this.lastMs = now
      this.sequence = 0
    } else if (now > this.lastMs) {
      this.lastMs = now
      this.sequence = 0
    } else if (++this.sequence > sequenceMax) {
      this.lastMs++
      this.sequence = 0
    }
    const id = timeIdAt<Id>(this.lastMs, hex(this.sequence, 4) + this.process)
    return above === undefined || id > above ? id : this.rightAbove<Id>(above)
  }

  /** An id above another, with new random bytes, so that two ids above the same id differ. */
  private rightAbove<Id extends TimeId>(above: TimeId): Id {
    const atMs = timeOf(above).getTime()
    const sequence = Number.parseInt(above.slice(12, 16), 16) + 1
    return sequence > sequenceMax
      ? timeIdAt<Id>(atMs + 1, hex(0, 4) + this.tail())
      : timeIdAt<Id>(atMs, hex(sequence, 4) + this.tail())
  }

  private tail(): string {
    return this.random(4).toString('hex')
  }
}
