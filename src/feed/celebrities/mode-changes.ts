import type { Follows } from '../../follows/follows.ts'
import type { Run } from '../../jobs/lease.ts'
import { chunks } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import { type Backfill, concurrentReaders } from '../delivery/backfill.ts'
import type { Delivery } from '../delivery/delivery.ts'
import { walkFollowers } from '../delivery/follower-walk.ts'
import type { Registry } from '../registry/registry.ts'
import { hybrid } from '../strategies/hybrid.ts'
import type { Celebrities } from './celebrities.ts'
import type { PulledAuthors } from './pulled-authors.ts'

/** The parts that {@link ModeChanges} works with. */
export interface ModeChangesParts {
  readonly delivery: Delivery
  readonly registry: Registry
  readonly follows: Follows
  readonly celebrities: Celebrities
  readonly pulled: PulledAuthors
  readonly backfill: Backfill
}

/** The jobs that end a promotion or demotion of an author, see {@link Celebrities}. Each may be repeated. */
export class ModeChanges {
  constructor(private readonly parts: ModeChangesParts) {}

  /**
   * Notes an author with the author and all followers. Then HYBRID stops delivering the author's posts, and only reads
   * them. One command for each 500 followers.
   * @returns 'unfinished' if followers are left for the next run of the job.
   */
  async promote(
    { author, promotion }: { author: UserId; promotion: string },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    const { celebrities, pulled, follows } = this.parts
    if (!(await celebrities.isChanging(author, 'promoting', promotion))) return undefined
    const note = async (readers: readonly UserId[]) => pulled.addNotes(readers, [author])
    await note([author])
    const left = await walkFollowers({ follows, user: author, run }, note)
    if (!left) await celebrities.completePromotion(author, promotion)
    return left
  }

  /**
   * Delivers the posts that HYBRID left out while it read the author, to the author and all followers. Then HYBRID only
   * delivers the author's posts. Ends if the author was promoted again.
   * @returns 'unfinished' if followers are left for the next run of the job.
   */
  async demote(
    { author, demotion }: { author: UserId; demotion: string },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    const { backfill, celebrities, delivery, follows, registry } = this.parts
    if (!(await celebrities.isChanging(author, 'demoting', demotion))) return undefined
    const registration = (await registry.read()).get(hybrid.name)
    if (registration) {
      const timelines = delivery.openTimeline(registration)
      const left = await walkFollowers({ follows, user: author, run }, async (readers) => {
        // HYBRID reads an author who was promoted again, and a retraction would not find entries stored now.
        if (!(await celebrities.isChanging(author, 'demoting', demotion))) return
        for (const batch of chunks(readers, concurrentReaders)) {
          await Promise.all(
            batch.map((reader) => backfill.addPosts(timelines, reader, author, run.signal)),
          )
        }
      })
      if (left) return left
      await backfill.addPosts(timelines, author, author, run.signal)
    }
    await celebrities.completeDemotion(author, demotion)
    return undefined
  }
}
