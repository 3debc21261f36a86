import type { Run } from '../../jobs/lease.ts'
import { deliveryLeadMs, type KeyRange } from '../../jobs/ranges.ts'
import { chunks } from '../../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import {
  maintainedIn,
  type Registered,
  type Registration,
  type Registry,
} from '../registry/registry.ts'
import type { ByStrategy } from '../strategies/list.ts'
import {
  bindRegistration,
  type MaterialisedStrategy,
  type StoredTimelines,
} from '../strategies/strategy.ts'
import type { DeliveryFactsReader } from './delivery-facts.ts'
import {
  batchSize,
  type FollowerWalks,
  positionOf,
  type WalkCheckpoint,
  type Walked,
} from './follower-walk.ts'
import { timelineReactions } from './job-kinds.ts'

const deliveryJob = timelineReactions['post.created']
const retractionJob = timelineReactions['post.deleted']

/** The parts that {@link Delivery} works with. */
export interface DeliveryParts {
  /**
   * All strategies. Deliveries go to the registered ones, also if this process does not serve them.
   */
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly registry: Registry
  readonly facts: DeliveryFactsReader
  readonly walks: FollowerWalks
  /** Number of followers up to which the process that created the post delivers it. */
  readonly inlineMax: number
}

/**
 * Fans posts out on write, and retracts deleted posts. A repeat from any checkpoint changes
 * nothing.
 */
export class Delivery {
  constructor(private readonly parts: DeliveryParts) {}

  /**
   * Delivers a post to its author, then to the author's followers. A post that is deleted meantime
   * leaves no entry. One command for the facts, or up to four that concurrent deliveries share, and
   * one to count 2,000 followers or more. Three for each 2,000 followers, and the commands of the
   * strategies. From 8,000 followers on, the job is split by ranges of followers.
   * @param range of a range job. Default: all followers.
   * @see law L4
   */
  async deliverPost(post: PostRef, run: Run, range?: KeyRange): Promise<Walked> {
    const { registry, facts, walks, inlineMax } = this.parts
    const { author } = post
    const waited = await walks.ranges.wait(run)
    if (waited) return waited === 'ended' ? undefined : waited
    // On a sharded cluster, posts have jobs also while no strategy is registered.
    const isIdle = (await registry.lastSeen()).size === 0
    if (isIdle && (await registry.read()).size === 0) return undefined
    const { after } = positionOf(run, range)
    const { registered, entry, followers, window } = await facts.loadFacts(post, after, range?.upTo)
    if (registered.size === 0) return undefined
    if (!entry) {
      // An earlier try may have written for these readers after the retraction had passed them.
      await this.retractFrom(post, [author, ...window])
      return undefined
    }
    const targets = this.openTimelines(registered)
    if (targets.length === 0) return undefined
    const write = async (readers: readonly UserId[]) => {
      await Promise.all(targets.map((strategy) => strategy.deliver(entry, readers)))
    }
    // The retraction of a post deleted in between may have passed these readers before the write.
    const onWindowWritten = async (readers: readonly UserId[]) => {
      if (await facts.postExists(post)) return true
      await this.retractFrom(post, readers)
      return false
    }
    const isFirstRun = run.checkpoint === undefined && range === undefined
    const isLeft = async () => (followers ?? (await walks.countFollowers(author))) > inlineMax
    if (isFirstRun && run.inline && (await isLeft())) {
      await write([author])
      if (!(await onWindowWritten([author]))) return undefined
      await run.save({ after: '' } satisfies WalkCheckpoint)
      return 'unfinished'
    }
    const first = { window, moreReaders: isFirstRun ? [author] : [] }
    const job = range ? undefined : { kind: deliveryJob, payload: { author, post: post.id } }
    const walk = { user: author, run, range, job, followers, leadMs: deliveryLeadMs }
    return walks.walk(walk, write, { first, onWindowWritten })
  }

  /**
   * Removes the entries of a deleted post from all timelines. No page shows the post, even before.
   * Two commands, and as many as a delivery. No walk if no timeline can hold the post.
   * @param range of a range job. Default: all followers.
   */
  async retract({ id, author }: PostRef, run: Run, range?: KeyRange): Promise<Walked> {
    const { walks } = this.parts
    const waited = await walks.ranges.wait(run)
    if (waited) return waited === 'ended' ? undefined : waited
    const remove = await this.createRemover([id])
    if (!remove) return undefined
    if (run.checkpoint === undefined && !range) await remove([author])
    const job = range ? undefined : { kind: retractionJob, payload: { author, post: id } }
    return walks.walk({ user: author, run, range, job }, remove)
  }

  private async retractFrom({ id }: PostRef, readers: readonly UserId[]): Promise<void> {
    const remove = await this.createRemover([id])
    if (remove) await Promise.all([...chunks(readers, batchSize)].map(remove))
  }

  /**
   * Removes the entries of a deleted author's posts from the followers in a range. Commands as in
   * {@link retract}.
   */
  async retractAll(
    user: UserId,
    posts: readonly PostId[],
    run: Run,
    range: KeyRange,
  ): Promise<Walked> {
    const remove = await this.createRemover(posts)
    return remove && this.parts.walks.walk({ user, run, range }, remove)
  }

  /**
   * Creates a function that removes posts from the timelines of some readers. Undefined if no
   * strategy is maintained.
   */
  private async createRemover(
    posts: readonly PostId[],
  ): Promise<((readers: readonly UserId[]) => Promise<void>) | undefined> {
    const targets = this.openTimelines(await this.parts.registry.read())
    if (targets.length === 0) return undefined
    return async (readers) => {
      await Promise.all(targets.map((strategy) => strategy.remove(readers, posts)))
    }
  }

  /** Deletes the stored timelines of a deleted user. */
  async deleteReader(reader: UserId): Promise<void> {
    for (const strategy of this.openTimelines(await this.parts.registry.read())) {
      await strategy.deleteReader(reader)
    }
  }

  /** Opens the stored timelines of every maintained strategy. Sends no command. */
  openTimelines(registered: Registered): StoredTimelines[] {
    return maintainedIn(registered).map((one) => this.openTimeline(one))
  }

  /** Opens the stored timelines of one strategy. Sends no command. */
  openTimeline(registration: Registration): StoredTimelines {
    return bindRegistration(this.parts.strategies[registration._id], registration)
  }
}
