import type { Follows } from '../follows/follows.ts'
import type { Run } from '../jobs/lease.ts'
import { chunks } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import { batchSize, type WalkCheckpoint, walkFollowers } from './audience.ts'
import type { DeliveryFactsReader } from './delivery-facts.ts'
import {
  maintainedIn,
  type Registered,
  type Registration,
  type Registry,
  writersIn,
} from './registry.ts'
import type { AuthorFilters, ByStrategy } from './strategies/list.ts'
import { type MaterialisedStrategy, type StoredTimelines, under } from './strategies/strategy.ts'

/** What deliveries work with. */
export interface DeliveryParts {
  /** Deliveries go to those that are registered, whichever are served here. */
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly filters: AuthorFilters
  readonly registry: Registry
  readonly facts: DeliveryFactsReader
  readonly follows: Follows
  /** The largest audience that is delivered to by the process that took the post. */
  readonly inlineMax: number
}

/** Fans posts out on write, and takes deleted ones back (seed 1). Done again from anywhere it changes nothing. */
export class Delivery {
  constructor(private readonly parts: DeliveryParts) {}

  /**
   * Delivers a post to its author first, then to those who follow the author once the post is there. A post that is
   * deleted while it is delivered leaves no entry. One command for what it needs to know, for each 2,000 followers three,
   * and those of the strategies.
   * @see law L4
   */
  async deliver(post: PostRef, run: Run): Promise<'unfinished' | undefined> {
    const { registry, facts, follows, inlineMax } = this.parts
    const { author } = post
    // Nothing is kept here, most likely: then that is all to be asked.
    const idle = (await registry.lastSeen()).size === 0
    if (idle && (await registry.read()).size === 0) return undefined
    const { after } = (run.checkpoint ?? { after: '' }) as WalkCheckpoint
    const { registered, entry, followers, window } = await facts.about(post, after)
    registry.update(registered)
    if (registered.size === 0) return undefined
    if (!entry) {
      // An earlier try may have written to these after the walk of the deletion had passed them.
      await this.takeBackFrom(post, [author, ...window])
      return undefined
    }
    const targets = await this.targetsFor(author, registered, followers)
    if (targets.length === 0) return undefined
    const write = async (readers: readonly UserId[]) => {
      await Promise.all(targets.map((strategy) => strategy.deliver(entry, readers)))
    }
    // The walk of a deletion that came in between may have passed these readers before they were written to.
    const written = async (readers: readonly UserId[]) => {
      if (await facts.exists(post)) return true
      await this.takeBackFrom(post, readers)
      return false
    }
    const begins = run.checkpoint === undefined
    if (begins && run.inline && followers > inlineMax) {
      await write([author])
      if (!(await written([author]))) return undefined
      await run.save({ after: '' } satisfies WalkCheckpoint)
      return 'unfinished'
    }
    const first = { window, besides: begins ? [author] : [] }
    return walkFollowers({ follows, user: author, run }, write, { first, written })
  }

  /**
   * Takes a deleted post out of timelines, where it does not show any more. Two commands, one more under HYBRID, and as
   * many as a delivery; no walk where the post was never stored.
   */
  async takeBack({ id, author }: PostRef, run: Run): Promise<'unfinished' | undefined> {
    const forget = await this.forgetter(author, [id])
    if (!forget) return undefined
    if (run.checkpoint === undefined) await forget([author])
    return walkFollowers({ follows: this.parts.follows, user: author, run }, forget)
  }

  private async takeBackFrom({ id, author }: PostRef, readers: readonly UserId[]): Promise<void> {
    const forget = await this.forgetter(author, [id])
    if (forget) await Promise.all([...chunks(readers, batchSize)].map(forget))
  }

  /** Takes posts of an author who leaves out of the followers' timelines. */
  async takeAllBack(author: UserId, posts: readonly PostId[], signal: AbortSignal): Promise<void> {
    const forget = await this.forgetter(author, posts)
    if (!forget) return
    const run = { checkpoint: undefined, save: async () => {}, signal }
    const walk = { follows: this.parts.follows, user: author, run }
    await walkFollowers(walk, forget, { isOver: () => false })
  }

  /** What takes those of an author's posts that may be stored out of timelines; undefined where none is. */
  private async forgetter(
    author: UserId,
    posts: readonly PostId[],
  ): Promise<((readers: readonly UserId[]) => Promise<void>) | undefined> {
    const all = writersIn(await this.parts.registry.read()).map(async (registration) => {
      const unstored = await this.parts.filters.get(registration._id)?.unstoredFrom(author)
      const stored = unstored === undefined ? posts : posts.filter((id) => id < unstored)
      return { strategy: this.of(registration), stored }
    })
    const holdings = (await Promise.all(all)).filter(({ stored }) => stored.length > 0)
    if (holdings.length === 0) return undefined
    return async (readers) => {
      await Promise.all(holdings.map(({ strategy, stored }) => strategy.forget(readers, stored)))
    }
  }

  /**
   * From which post on none of an author's is stored in any timeline; undefined where any may be. One command where
   * HYBRID is all that is maintained, else none.
   */
  async unstoredFrom(author: UserId, registered: Registered): Promise<PostId | undefined> {
    const filters = writersIn(registered).map(({ _id }) => this.parts.filters.get(_id))
    if (filters.includes(undefined)) return undefined
    const bounds = await Promise.all(filters.map((filter) => filter?.unstoredFrom(author)))
    return bounds.includes(undefined) ? undefined : bounds.sort().at(-1)
  }

  /** Removes the timelines of a reader who leaves, and what is noted of the author they were. */
  async forgetReader(reader: UserId): Promise<void> {
    for (const strategy of this.allOf(await this.parts.registry.read())) {
      await strategy.forgetReader(reader)
    }
    for (const filter of this.parts.filters.values()) await filter.forget(reader)
  }

  /** The stored timelines of every strategy that the database maintains. */
  allOf(registered: Registered): StoredTimelines[] {
    return maintainedIn(registered).map((one) => this.of(one))
  }

  /** The stored timelines that take an author's posts now, each under the registration that was read. */
  async targetsOf(author: UserId, registered: Registered): Promise<StoredTimelines[]> {
    const writers = writersIn(registered)
    const accepted = await Promise.all(
      writers.map(async ({ _id }) => (await this.parts.filters.get(_id)?.accepts(author)) ?? true),
    )
    return writers.filter((_, at) => accepted[at]).map((one) => this.of(one))
  }

  /** As {@link targetsOf}, for a post that is being delivered: an author who crossed HYBRID's threshold changes sides first. */
  private async targetsFor(
    author: UserId,
    registered: Registered,
    followers: number,
  ): Promise<StoredTimelines[]> {
    for (const registration of writersIn(registered)) {
      await this.parts.filters.get(registration._id)?.settle(author, followers, registration)
    }
    return this.targetsOf(author, registered)
  }

  private of(registration: Registration): StoredTimelines {
    return under(this.parts.strategies[registration._id], registration)
  }
}
