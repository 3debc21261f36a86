import { isMalformedData } from '../../db/errors.ts'
import { badInput, checkAll, DomainError } from '../../errors.ts'
import { checkGroup } from '../../follows/groups.ts'
import { chunks } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import { stopwatch } from '../../lib/stopwatch.ts'
import type { Log } from '../../log.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import { timelineFallbacks } from '../../metrics/timelines.ts'
import { pageFrom, rangeOf, readRange } from '../../pages/pipeline.ts'
import {
  isBackfilled,
  isSameRegistration,
  type Registered,
  type Registration,
  type Registry,
} from '../registry/registry.ts'
import { hasRisen } from '../strategies/floor.ts'
import { descriptors, type FeedStrategyName, isMaterialised } from '../strategies/list.ts'
import type { TimelinePage, TimelineQuery, TimelineRequest, TimelineSlice } from './page.ts'
import type { Pending } from './pending.ts'
import { TimelineList, type TimelineParts } from './timeline-list.ts'
import type { Watermarks } from './watermark.ts'

/** The parts that {@link FeedService} works with. */
export interface FeedServiceParts extends TimelineParts {
  /** The strategy of requests that name none. */
  readonly standard: FeedStrategyName
  readonly registry: Registry
  readonly memory: ProcessMemory
  readonly pending: Pending
  readonly watermarks: Watermarks
}

/** How long no further warning is logged, in milliseconds. */
const quietMs = 10_000

/**
 * Whether what was read under a registration is a part of the timeline, if the registration was
 * `now` afterwards.
 */
const isCurrent = (then: Registration, now: Registration | undefined): boolean =>
  isSameRegistration(then, now) && now !== undefined && !hasRisen(then, now)

/** FANOUT_ON_READ depends on no registration. */
const none: Registered = new Map()

const isNotFound = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND'

/**
 * How many posts a page of a warm-up has, how many pages it reads at once, and how long it begins
 * pages.
 */
const [warmUpPosts, warmUpAtOnce, warmUpMsMax] = [50, 8, 1_000]

/** How often a page is read again because registrations changed while it was read. */
const triesMax = 3

/**
 * Serves timelines. A page passes the four steps of {@link TimelineList} until it is full, so an
 * unfollow, mute, block or deletion takes effect on the next page with every strategy.
 * @see law L1
 */
export class FeedService {
  private log: Log | undefined
  private warnedMs = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: FeedServiceParts) {}

  /** From now on, logs each defect that FANOUT_ON_READ hides, at most every 10 s. */
  start(log: Log): void {
    this.log = log
  }

  /**
   * Reads pages of some readers as requests do, so that the code of pages is compiled, and posts
   * and accounts that many readers share are in memory, before the first request. Begins no page
   * after a second, and none after a failure. Reads nothing under a strategy whose timelines are
   * created by reads, as `CACHE`. Cost: as of {@link timeline}, for each reader.
   */
  async warmUp(readers: readonly UserId[]): Promise<void> {
    const { standard } = this.parts
    if (isMaterialised(standard) && !descriptors[standard].backfilled) return
    const elapsedMs = stopwatch()
    const window = { limit: warmUpPosts, backward: false }
    const needs = { projection: 'content', viewerHas: true } as const
    for (const batch of chunks(readers, warmUpAtOnce)) {
      if (elapsedMs() > warmUpMsMax) return
      const pages = batch.map((reader) => this.timeline(reader, { window, ...needs }))
      const results = await Promise.allSettled(pages)
      if (results.some(({ status }) => status === 'rejected')) return
    }
  }

  /**
   * Loads one page of the reader's timeline, newest first, without gaps or repeats along its
   * cursors.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that this process does not serve. Cost: the
   * strategy's commands, and those of {@link PageFactsReader.load}. The same again for each refill.
   * With `pending` or `watermark`, one more, and one more for each of them while a delivery to the
   * reader waits. None for FANOUT_ON_READ.
   */
  async timeline(reader: UserId, request: TimelineRequest): Promise<TimelinePage> {
    const { window, projection, viewerHas } = request
    const counts = request.counts ?? projection === 'content'
    const { pending, watermarks } = this.parts
    const { strategy, group } = this.checkRequest(request)
    // Read before the candidates, so that a delivery that ends in between has written its entries.
    const mark = request.watermark ? await watermarks.load(reader, strategy, group) : undefined
    const waits =
      request.pending &&
      isMaterialised(strategy) &&
      (await pending.hasPendingPosts(reader, group, mark?.waiting))
    const query = { reader, group, projection, counts, viewerHas, range: rangeOf(window) }
    const { items, servedBy, isStored, facts } = await this.readSlice(strategy, query)
    // The probes of a page without stored entries read no stored entries, because `pending` does
    // not cover them.
    const probed = isStored ? strategy : 'FANOUT_ON_READ'
    const any = async (range: Range) =>
      (await this.readSlice(probed, { reader, group, projection: 'ref', range })).items.length > 0
    return {
      ...pageFrom(window, items, any),
      strategy,
      servedBy,
      pending: request.pending && isStored && waits,
      watermark: mark?.watermark,
      isCut: items.length > window.limit,
      facts,
    }
  }

  /**
   * The strategy and the group of a request, in the form in which they are stored. Sends no
   * command.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that this process does not serve, and for
   *   an invalid group.
   */
  checkRequest({ strategy, group }: Pick<TimelineRequest, 'strategy' | 'group'>) {
    return checkAll({
      strategy: () => this.chooseStrategy(strategy),
      group: () => (group === undefined ? undefined : checkGroup('group', group)),
    })
  }

  /**
   * The requested strategy, or the configured one.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that this process does not serve.
   */
  chooseStrategy(requested: FeedStrategyName | undefined): FeedStrategyName {
    const { strategies, standard } = this.parts
    const strategy = requested ?? standard
    if (strategies[strategy]) return strategy
    const maintained = Object.keys(strategies).join(', ')
    throw badInput(
      'strategy',
      `this server does not maintain ${strategy}. Maintained strategies: ${maintained}`,
    )
  }

  /**
   * Reads a slice of a timeline.
   *
   * It reads under the registrations that this process saw last. If they are others afterwards, or
   * have a higher floor, it reads again under these. After three tries, for a reader without
   * back-fill, and if a stored timeline cannot be read, FANOUT_ON_READ serves, which depends on no
   * registration. Cost: as of {@link timeline}, without `pending` and `watermark`.
   */
  async readSlice(name: FeedStrategyName, query: TimelineQuery): Promise<TimelineSlice> {
    const { registry, memory } = this.parts
    let registered = isMaterialised(name) ? await this.findRegistered(name, query.reader) : none
    let isReadable = true
    for (let tries = 1; ; tries++) {
      const registration = registered.get(name)
      const isCovered =
        isReadable &&
        tries <= triesMax &&
        registration !== undefined &&
        isBackfilled(registration, query.reader)
      const strategy = isCovered || !isMaterialised(name) ? name : 'FANOUT_ON_READ'
      const list = new TimelineList(this.parts, query, strategy, registration)
      try {
        const slices = await readRange(list, [query.reader], query.range)
        const { servedBy, isStored, facts } = list
        const slice = { items: slices.get(query.reader) ?? [], servedBy, isStored, facts }
        if (!isCovered) return slice
        // After all facts: no epoch returns, and no floor falls. A page without candidates has read
        // no facts.
        registered = await registry.load(facts.at(-1)?.isCurrent ?? (await memory.isCurrent()))
        if (isCurrent(registration, registered.get(name))) return slice
      } catch (error) {
        if (!isCovered || !this.isUnreadable(error)) throw error
        isReadable = false
      }
    }
  }

  /**
   * The registrations that this process saw last. As they are now, if those do not cover the
   * reader.
   */
  private async findRegistered(name: FeedStrategyName, reader: UserId): Promise<Registered> {
    const { registry, memory } = this.parts
    const seen = await registry.lastSeen()
    return isBackfilled(seen.get(name), reader) ? seen : registry.load(await memory.isCurrent())
  }

  /**
   * Whether a document of a stored timeline is malformed, or Feedline has a defect. Then
   * FANOUT_ON_READ serves.
   */
  private isUnreadable(error: unknown): boolean {
    const isUnexpected = error instanceof TypeError
    if (!isMalformedData(error) && !isUnexpected && !isNotFound(error)) return false
    if (isUnexpected) this.warn(error)
    timelineFallbacks.inc()
    return true
  }

  private warn(error: TypeError): void {
    if (performance.now() - this.warnedMs < quietMs) return
    this.warnedMs = performance.now()
    this.log?.warn({ err: error }, 'a stored timeline could not be read')
  }
}
