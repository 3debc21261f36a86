import type { Run } from '../../jobs/lease.ts'
import type { KeyRange } from '../../jobs/ranges.ts'
import { chunks } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import { type Backfill, concurrentReaders } from '../delivery/backfill.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { FollowerWalks, Walked } from '../delivery/follower-walk.ts'
import type { Registry } from '../registry/registry.ts'
import { hybrid } from '../strategies/hybrid.ts'
import type { Celebrities } from './celebrities.ts'
import type { PulledAuthors } from './pulled-authors.ts'

/** The parts that {@link ModeChanges} works with. */
export interface ModeChangesParts {
  readonly delivery: Delivery
  readonly registry: Registry
  readonly walks: FollowerWalks
  readonly celebrities: Celebrities
  readonly pulled: PulledAuthors
  readonly backfill: Backfill
}

/** The payload of the job that ends a promotion. */
interface Promotion {
  readonly author: UserId
  readonly promotion: string
}

/** The payload of the job that ends a demotion. */
interface Demotion {
  readonly author: UserId
  readonly demotion: string
}

/** The jobs that end a promotion or demotion of an author, see {@link Celebrities}. Each may be repeated. */
export class ModeChanges {
  constructor(private readonly parts: ModeChangesParts) {}

  /**
   * Notes an author with all followers and the author. Then HYBRID stops delivering the author's posts, and only reads
   * them. One command for each 500 followers. From 8,000 followers on, the job is split by ranges of followers.
   * @param range of a range job. Default: all followers.
   */
  async promote({ author, promotion }: Promotion, run: Run, range?: KeyRange): Promise<Walked> {
    const { celebrities, pulled, walks } = this.parts
    if (!(await celebrities.isChanging(author, 'promoting', promotion))) return undefined
    const note = async (readers: readonly UserId[]) => pulled.addNotes(readers, [author])
    const job = { kind: 'author.promoted', payload: { author, promotion } }
    if (range) return walks.walk({ user: author, run, range }, note)
    const left = await walks.walk({ user: author, run, job }, note)
    if (left) return left
    await note([author])
    await celebrities.completePromotion(author, promotion)
    return undefined
  }

  /**
   * Delivers the posts that HYBRID left out while it read the author, to the author and all followers. Then HYBRID only
   * delivers the author's posts. Ends if the author was promoted again.
   * @param range of a range job. Default: all followers.
   */
  async demote({ author, demotion }: Demotion, run: Run, range?: KeyRange): Promise<Walked> {
    const { backfill, celebrities, delivery, registry, walks } = this.parts
    if (!(await celebrities.isChanging(author, 'demoting', demotion))) return undefined
    const registered = await registry.read()
    const registration = registered.get(hybrid.name)
    if (registration) {
      const timelines = delivery.openTimeline(registration)
      const job = range ? undefined : { kind: 'author.demoted', payload: { author, demotion } }
      const left = await walks.walk({ user: author, run, range, job }, async (readers) => {
        // HYBRID reads an author who was promoted again, and a retraction would not find entries stored now.
        if (!(await celebrities.isChanging(author, 'demoting', demotion))) return
        for (const batch of chunks(readers, concurrentReaders)) {
          await Promise.all(
            batch.map((reader) => backfill.addPosts(timelines, reader, author, run.signal)),
          )
        }
      })
      if (left || range) return left
      await backfill.addPosts(timelines, author, author, run.signal)
    }
    if (!range) await celebrities.completeDemotion(author, demotion)
    return undefined
  }
}
