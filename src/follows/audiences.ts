import { LRUCache } from 'lru-cache'
import type { Versions } from '../db/versions.ts'
import type { UserId } from '../lib/ids.ts'
import { measureCache } from '../metrics/caches.ts'
import type { KnownAudience } from '../users/stats.ts'

/** An author's followers, as they were under a version. */
export interface Audience extends KnownAudience {
  /** When the account was opened. Undefined: not read yet. */
  readonly since?: Date | undefined
}

/** Estimated bytes in memory: the followers of some thousand authors. */
const bytesMax = 16 * 1_048_576

/**
 * The followers of authors with small audiences, in memory. They may have changed since: the transaction of a post
 * compares their version, which each follow, unfollow, block, import and repair changes together with the edges. The
 * audience used longest ago is dropped first.
 */
export class Audiences {
  private readonly kept = new LRUCache<UserId, Audience>({
    maxSize: bytesMax,
    sizeCalculation: bytesOf,
  })
  private readonly countRead = measureCache('audiences', () => this.kept.calculatedSize).countRead

  constructor(private readonly versions: Pick<Versions, 'isOn'>) {}

  /**
   * The kept followers of authors. No command; up to two, every 10 s, on a database that a process of an earlier release
   * may use. It knows no versions of followers, so nothing is kept then.
   */
  async find(authors: Iterable<UserId>): Promise<ReadonlyMap<UserId, Audience>> {
    if (this.kept.size === 0 || !(await this.versions.isOn('postsWithoutJobs'))) return new Map()
    const audiences = new Map<UserId, Audience>()
    for (const author of authors) {
      const audience = this.kept.get(author)
      this.countRead(audience !== undefined)
      if (audience) audiences.set(author, audience)
    }
    return audiences
  }

  /** Keeps followers that a transaction has read together with their version. */
  keep(author: UserId, audience: Audience): void {
    this.kept.set(author, audience)
  }

  /** Notes when an account was opened. */
  noteSince(author: UserId, since: Date): void {
    const audience = this.kept.get(author)
    if (audience && !audience.since) this.kept.set(author, { ...audience, since })
  }
}

function bytesOf({ followers }: Audience): number {
  let bytes = 300
  for (const follower of followers) bytes += 32 + follower.length
  return bytes
}
