import { type Handle, parseHandle } from '../../src/lib/ids.ts'
import { randomAt, shuffled, zipf } from './random.ts'

/** The digits in the handle of a numbered account. */
const digits = 6

/** The handle of the account `at`, from 0, of a prefix: `drive-000001` for the first. */
export function numberedHandle(prefix: string, at: number): Handle {
  const handle = parseHandle(`${prefix}-${String(at + 1).padStart(digits, '0')}`)
  if (handle === undefined) throw new Error(`${prefix} is no prefix of a handle`)
  return handle
}

/** The streams of random numbers for the graph. */
const streams = { popularity: 100, followees: 101 } as const

/** The users of a run. Some are followed and read far more than others, by Zipf's law. */
export class People {
  private readonly ranks: Uint32Array
  private readonly drawRank: (random: number) => number

  /** @param handles at least two. */
  constructor(
    readonly handles: readonly Handle[],
    private readonly seed: number,
  ) {
    this.ranks = shuffled(handles.length, seed, streams.popularity)
    this.drawRank = zipf(handles.length)
  }

  get count(): number {
    return this.handles.length
  }

  /** The handle of a user by number. */
  handleOf(user: number): Handle {
    const handle = this.handles[user]
    if (handle === undefined) throw new RangeError(`there is no user ${user}`)
    return handle
  }

  /** A sample of different users, the same for equal seeds. @param stream distinguishes samples. */
  sampleUsers(count: number, stream: number): number[] {
    return [...shuffled(this.count, this.seed, stream).subarray(0, count)]
  }

  /** Draws a user by popularity. @param random at least 0 and below 1. */
  drawPopular(random: number): number {
    return this.ranks[this.drawRank(random)] ?? 0
  }

  /** Draws a user by popularity who is not `user`. */
  drawOther(user: number, random: number): number {
    const drawn = this.drawPopular(random)
    return drawn === user ? (drawn + 1) % this.count : drawn
  }

  /**
   * The followees of `user` in the graph of the run: equal for equal seeds and numbers of users.
   * @returns different users, at most `wanted`, fewer if popular ones are drawn again and again.
   */
  planFollowees(user: number, wanted: number): number[] {
    const followees = new Set<number>()
    for (let tries = 0; followees.size < wanted && tries < 4 * wanted; tries++) {
      const random = randomAt(this.seed, user * 4096 + tries, streams.followees)
      followees.add(this.drawOther(user, random))
    }
    return [...followees]
  }
}
