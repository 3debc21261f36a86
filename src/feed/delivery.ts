import type { StrategyDoc } from '../db/collections.ts'
import type { Follows } from '../follows/follows.ts'
import type { Run } from '../jobs/lease.ts'
import { chunks } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import { batchSize, type WalkCheckpoint, walkFollowers } from './audience.ts'
import type { Celebrities } from './celebrities.ts'
import type { DeliveryFactsReader } from './delivery-facts.ts'
import { isMaintained, maintainedIn, type Registered, type Registry } from './registry.ts'
import {
  type MaterialisedName,
  type MaterialisedStrategy,
  type StoredTimelines,
  under,
} from './strategies/strategy.ts'

/** Every strategy that stores timelines: deliveries go to those that are registered, whatever is served here. */
export type Materialised = Readonly<Record<MaterialisedName, MaterialisedStrategy>>

/** What deliveries work with. */
export interface DeliveryParts {
  readonly strategies: Materialised
  readonly registry: Registry
  readonly facts: DeliveryFactsReader
  readonly follows: Follows
  readonly celebrities: Celebrities
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
    const all = withoutTwin(maintainedIn(await this.parts.registry.read()))
    const from = all.some(({ _id }) => _id === 'HYBRID')
      ? await this.parts.celebrities.unstoredFrom(author)
      : undefined
    const holdings = all.flatMap((registration) => {
      const unstored = registration._id === 'HYBRID' ? from : undefined
      const stored = unstored === undefined ? posts : posts.filter((id) => id < unstored)
      return stored.length > 0
        ? this.of([registration]).map((strategy) => ({ strategy, stored }))
        : []
    })
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
    return maintainedIn(registered).every(({ _id }) => _id === 'HYBRID')
      ? this.parts.celebrities.unstoredFrom(author)
      : undefined
  }

  /** Removes the timelines of a reader who leaves, and what is noted of the author they were. */
  async forgetReader(reader: UserId): Promise<void> {
    for (const strategy of this.allOf(await this.parts.registry.read())) {
      await strategy.forgetReader(reader)
    }
    await this.parts.celebrities.forget(reader)
  }

  /** The stored timelines of every strategy that the database maintains. */
  allOf(registered: Registered): StoredTimelines[] {
    return this.of(maintainedIn(registered))
  }

  /** The stored timelines that take an author's posts now, each under the registration that was read. */
  async targetsOf(author: UserId, registered: Registered): Promise<StoredTimelines[]> {
    return this.of(await this.receiving(author, registered))
  }

  private async receiving(author: UserId, registered: Registered): Promise<StrategyDoc[]> {
    const all = withoutTwin(maintainedIn(registered))
    if (!all.some(({ _id }) => _id === 'HYBRID')) return all
    const isRead = (await this.parts.celebrities.standingOf(author)) === 'READ'
    return isRead ? all.filter(({ _id }) => _id !== 'HYBRID') : all
  }

  /** As {@link targetsOf}, for a post that is being delivered: an author who crossed HYBRID's threshold changes sides first. */
  private async targetsFor(
    author: UserId,
    registered: Registered,
    followers: number,
  ): Promise<StoredTimelines[]> {
    const hybrid = registered.get('HYBRID')
    if (hybrid && !hybrid.dropping && !isMaintained(registered, 'INBOX')) {
      await this.parts.celebrities.settle(author, followers, hybrid)
    }
    return this.targetsOf(author, registered)
  }

  private of(registrations: Iterable<StrategyDoc>): StoredTimelines[] {
    return [...registrations].flatMap((registration) => {
      const { _id: name } = registration
      return name === 'FANOUT_ON_READ' ? [] : under(this.parts.strategies[name], registration)
    })
  }
}

/** HYBRID and INBOX store in one collection: what INBOX takes, or removes, HYBRID does as well. */
const withoutTwin = (registrations: readonly StrategyDoc[]): StrategyDoc[] =>
  registrations.filter(
    ({ _id }) => _id !== 'HYBRID' || !registrations.some((other) => other._id === 'INBOX'),
  )
