import { randomBytes } from 'node:crypto'

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/** A person's handle: their `_id`, their name in URLs and the subject of their token (seed 4). */
export type UserId = Brand<string, 'UserId'>
/** A post's id: 24 hex digits that sort by creation time, to the millisecond (law L1). */
export type PostId = Brand<string, 'PostId'>
/** The id of a follow, mute or block: sorts by the time it was made, like a post's. */
export type EdgeId = Brand<string, 'EdgeId'>
/** The id of a like, comment or share: sorts by the time it was made. */
export type EngagementId = Brand<string, 'EngagementId'>
/** Any id whose order is the order of time, newest last. Every cursor carries one. */
export type TimeId = PostId | EdgeId | EngagementId

/** Names a post together with its author, the first part of the posts' shard key (law L5). */
export interface PostRef {
  readonly id: PostId
  readonly author: UserId
}

const handlePattern = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/
const timeIdPattern = /^[0-9a-f]{24}$/

/** What a handle must look like, for error messages. */
export const handleRule =
  '1 to 64 lowercase letters, digits, ".", "_" or "-", with a letter or digit first and last'

/** @returns the handle, or undefined when `text` is not one. */
export const parseUserId = (text: string): UserId | undefined =>
  handlePattern.test(text) ? (text as UserId) : undefined

/** @returns the id, or undefined when `text` is not 24 lower-case hex digits. */
export const parseTimeId = <Id extends TimeId>(text: string): Id | undefined =>
  timeIdPattern.test(text) ? (text as Id) : undefined

/** When the thing that `id` names was made, to the millisecond. */
export function timeOf(id: TimeId): Date {
  return new Date(Number.parseInt(id.slice(0, 8), 16) * 1000 + Number.parseInt(id.slice(8, 12), 16))
}

const hex = (value: number | bigint, digits: number) => value.toString(16).padStart(digits, '0')

/**
 * Writes a time and six bytes of tail as an id: seconds (4 bytes), milliseconds (2 bytes), tail.
 * A tail derived from what the id names makes an import repeatable.
 * @param atMs milliseconds since 1970, below 2106.
 * @param tail 12 hex digits.
 */
export function timeIdAt<Id extends TimeId>(atMs: number, tail: string): Id {
  return `${hex(Math.floor(atMs / 1000), 8)}${hex(Math.floor(atMs) % 1000, 4)}${tail}` as Id
}

/** The id right before (-1) or after (+1) another: turns an excluded bound into one that counts it in. */
export const neighbour = <Id extends TimeId>(id: Id, step: -1 | 1): Id =>
  id === (step < 0 ? lowest : highest) ? id : (hex(BigInt(`0x${id}`) + BigInt(step), 24) as Id)

// Forged cursors may carry these, which no mint makes; they have no neighbour.
const lowest = '0'.repeat(24)
const highest = 'f'.repeat(24)

/**
 * How far the clocks of two processes may be apart before that is reported, and how far ids may run ahead of the clock,
 * in milliseconds. Ids of different processes are in order of time within this bound.
 */
export const clockSkewMaxMs = 1_000

const sequenceMax = 0xffff

/**
 * Makes ids that rise strictly within a process, and differ between processes by four random bytes. Holds 65,536 ids a
 * millisecond; then it borrows from the next. While the clock steps back by up to {@link clockSkewMaxMs}, ids go on from
 * the last one; after a longer step they follow the clock at once, with other random bytes.
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
   * A fresh id, above every one that {@link next} has made unless the clock stepped back by more than the bound.
   * @param above an id that the fresh one must be above too, whatever the clock says. It moves no later id.
   */
  next<Id extends TimeId>(above?: TimeId): Id {
    const now = Math.floor(this.now())
    if (this.lastMs > now + clockSkewMaxMs) {
      // It may have made ids of these milliseconds before.
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

  /** With random bytes of its own, so that two that follow the same id differ. */
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
