import { expect } from 'vitest'
import type { Db } from '../../../src/db/mongo.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { pollCursors } from '../../../src/timeline/api/poll-cursors.ts'
import { registerStrategies } from '../../../src/timeline/feeds.ts'
import { newsMax } from '../../../src/timeline/pages/news.ts'
import { cursorAfterPage, positionOf } from '../../../src/timeline/pages/poll-cursor.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { sameLimits } from '../../support/engagement.ts'
import { Killed, killedAtWrite } from '../../support/faulty.ts'
import { intercepted } from '../../support/intercept.ts'
import { gate } from '../../support/jobs.ts'
import { keepMemory } from '../../support/memory.ts'
import { type Polled, Poller, type PollQueries } from '../../support/poller.ts'
import { servicesOver, virtualClock } from '../../support/services.ts'
import { Deliveries } from './deliveries.ts'
import { heldAtRead } from './held-poll.ts'
import { Actors, Model, outcomeOf } from './model.ts'
import type { LatePostStep, PollPlan, PollPlanStep, PollStep, SlowPollStep } from './poll-plans.ts'
import { begin, emptied, noteReleased, type Setting, sweepNow } from './setting.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

type AskedPage = Parameters<PollQueries['timeline']>[0]

/** Runs one history with pollers, and compares what they hold with the model: law L7. */
export class PollSimulation {
  private readonly clock = virtualClock()
  private readonly services: Services
  private readonly actors: Actors
  private readonly model = new Model()
  private readonly deliveries: Deliveries
  /** The strategy that is polled. */
  private readonly strategy: FeedStrategyName
  private readonly pollers = new Map<UserId, Poller>()
  /** The posts that pollers held before their delivery, since they last loaded their first page. */
  private readonly undelivered = new Map<Poller, ReadonlySet<string>>()
  /** The services of the poll under way, whose calls may be held. */
  private polling: Services
  /** Whether the transaction of a post waits before its commit. */
  private isPostOpen = false

  private constructor(
    private readonly setting: Setting,
    private readonly plan: PollPlan,
  ) {
    this.services = this.process(setting.harness.database.db)
    this.polling = this.services
    const { asked } = setting
    this.strategy = asked[plan.strategy % asked.length] as FeedStrategyName
    this.actors = new Actors(this.services)
    this.deliveries = new Deliveries(this.services.collections, (what) => this.count(what))
  }

  /** Opens an empty database with four users, the edges of the plan, and undelivered posts. */
  static async open(setting: Setting, plan: PollPlan): Promise<PollSimulation> {
    const simulation = new PollSimulation(setting, plan)
    const { services, actors, model, clock } = simulation
    await emptied(services, setting)
    await registerStrategies(services, setting.registered)
    await simulation.drain()
    await begin(services, { ...plan, crowd: false }, actors, model, clock.now)
    return simulation
  }

  /** Runs all steps and all jobs. Then each poller polls, and must hold its timeline. */
  async run(): Promise<void> {
    await keepMemory(this.services)
    await this.runSteps().finally(() => this.services.memory.close())
  }

  private async runSteps(): Promise<void> {
    for (const step of this.plan.steps) await this.apply(step)
    await this.drain()
    for (const [reader, poller] of this.pollers) {
      if (!this.model.users().includes(reader)) continue
      await this.pollAtRest(poller)
      const all = this.model.timeline(reader)
      const { oldest = '' } = poller
      const expected = all.filter((id) => id >= oldest)
      expect(poller.held, `${this.strategy} polled at rest`).toEqual(expected)
      const { news } = await poller.poll()
      const nothing = { count: 0, hasMore: false, changed: false }
      expect(news, `${this.strategy} polled again`).toMatchObject(nothing)
    }
  }

  private async apply(step: PollPlanStep): Promise<void> {
    await this.applyStep(step)
    await noteReleased(this.services, this.model)
  }

  private async applyStep(step: PollPlanStep): Promise<void> {
    const { deliveries, services } = this
    switch (step.kind) {
      case 'poll':
        return this.poll(step)
      case 'late':
        return this.postLate(step)
      case 'slow':
        return this.pollSlowly(step)
      case 'work': {
        const job = await deliveries.nth(step.job)
        // Other jobs would wait for the open transaction.
        if (job && (!this.isPostOpen || job.kind === 'post.created')) {
          await deliveries.run(services, job, step)
        }
        return
      }
      case 'kill': {
        const job = await deliveries.nth(step.job)
        if (!job) return
        const { db, ended } = killedAtWrite(this.setting.harness.database.db, step.at, step.effect)
        await deliveries.run(this.process(db), job).catch((error) => {
          if (!(error instanceof Killed)) throw error
          this.count(`killed ${job.kind}`)
        })
        return ended()
      }
      case 'advance':
        this.clock.advance(step.ms)
        // The sweep would wait for the open transaction.
        if (!this.isPostOpen && this.setting.feed.timelineDaysMax) await sweepNow(services)
        return
      case 'expire':
        await services.collections.timeline_cache.deleteOne({ _id: this.actors.user(step.user) })
        return
      case 'rest':
        return this.drain()
      default:
        await this.actors.apply(step, this.model)
    }
  }

  /** Polls, or begins to. */
  private async poll({ user }: PollStep): Promise<void> {
    const reader = this.actors.user(user)
    if (!this.model.users().includes(reader)) return
    const known = this.pollers.get(reader)
    if (known) return void (await this.pollOnce(known))
    const poller = new Poller(this.queriesOf(reader), this.plan.sizes)
    this.pollers.set(reader, poller)
    await poller.load()
  }

  /** Posts alone never change what a poller holds, except undelivered posts of stored timelines. */
  private async pollOnce(poller: Poller): Promise<Polled> {
    const { held: before } = poller
    await this.noteUndelivered(poller)
    const polled = await poller.poll()
    const { changed, count } = polled.news
    this.count(`${this.strategy} ${changed ? 'changed' : count > 0 ? 'news' : 'nothing'}`)
    if (this.plan.isQuiet && changed) {
      const undelivered = this.undelivered.get(poller) ?? []
      expect([...undelivered], `${this.strategy} changed by posts alone`).not.toEqual([])
      const last = poller.held.at(-1) ?? ''
      const lost = before.filter((id) => id >= last && !poller.held.includes(id))
      expect([...undelivered]).toEqual(expect.arrayContaining(lost))
      this.undelivered.delete(poller)
    }
    await this.noteUndelivered(poller)
    return polled
  }

  /**
   * Fan-out on read always shows undelivered posts. A page of a stored timeline shows them if it
   * continues there.
   */
  private async noteUndelivered(poller: Poller): Promise<void> {
    if (this.strategy === 'FANOUT_ON_READ') return
    const waiting = await this.deliveries.waitingAmong(poller.held as readonly PostId[])
    this.undelivered.set(poller, new Set([...(this.undelivered.get(poller) ?? []), ...waiting]))
  }

  /** Polls while nothing else happens. The count of new posts is exact. */
  private async pollAtRest(poller: Poller): Promise<void> {
    const { news, added } = await this.pollOnce(poller)
    if (news.changed) return
    const { count, hasMore } = news
    const expected = { count: Math.min(added.length, newsMax), hasMore: added.length > newsMax }
    expect({ count, hasMore }, `${this.strategy} counts news`).toEqual(expected)
  }

  private async pollSlowly({ poll, at, concurrent }: SlowPollStep): Promise<void> {
    this.polling = this.process(this.setting.harness.database.db)
    const { reached, go } = heldAtRead(this.polling, at)
    const polled = this.poll(poll).catch((error) => ({ error }))
    await Promise.race([reached, polled])
    try {
      for (const step of concurrent) await this.apply(step)
    } finally {
      go()
      await polled
      this.polling = this.services
    }
    const failed = await polled
    if (failed) throw failed.error
  }

  private async postLate({ author: n, behindMs, waitMs, concurrent }: LatePostStep): Promise<void> {
    const author = this.actors.user(n)
    if (!this.model.users().includes(author)) return
    const [reached, going] = [gate(), gate()]
    const { db } = this.setting.harness.database
    const held = intercepted(db, {
      before: async ({ collection, method }) => {
        if (collection !== 'outbox' || method !== 'bulkWrite') return
        reached.open()
        await going.opened
      },
    })
    const behind = { ...this.clock, now: () => this.clock.now() - behindMs }
    const posted = this.process(held, behind).posts.create(author, { text: `by ${author}` })
    await reached.opened
    this.isPostOpen = true
    this.clock.advance(waitMs)
    try {
      for (const step of concurrent) await this.apply(step)
    } finally {
      going.open()
      this.isPostOpen = false
      expect(await outcomeOf(posted)).toBe('changed')
    }
    const { id } = await posted
    this.actors.posts.push({ id, author })
    this.model.post(author, id)
  }

  private queriesOf(reader: UserId): PollQueries {
    const { strategy } = this
    return {
      timeline: async (asked: AskedPage) => {
        const base = 'before' in asked ? pollCursors.decode(asked.before) : undefined
        const window =
          'first' in asked
            ? { limit: asked.first, backward: false }
            : { limit: asked.last, backward: true, before: base && positionOf(base) }
        const request = { window, strategy, projection: 'ref' as const, watermark: true }
        const { items, isCut, watermark } = await this.polling.feed.timeline(reader, request)
        const ids = items.map(({ post }) => post.id)
        const page = { posts: ids, isCut, watermark: watermark as PostId }
        const cursor = cursorAfterPage(window, base, page)
        const [hasNextPage, hasPreviousPage] = [isCut && !window.backward, isCut && window.backward]
        const pollCursor = cursor ? pollCursors.encode(cursor) : ''
        return { ids, pollCursor, hasNextPage, hasPreviousPage }
      },
      news: async (since: string) => {
        const asked = { since: pollCursors.parse('since', since), strategy, changed: true }
        const { cursor, ...news } = await this.polling.news.findNews(reader, asked)
        return { ...news, pollCursor: pollCursors.encode(cursor) }
      },
    }
  }

  private process(db: Db, clock = this.clock): Services {
    const { harness, feed, mutate } = this.setting
    const { client } = harness.database
    const { following } = harness
    const services = servicesOver({ client, db }, clock, engagement, following, feed)
    mutate?.(services)
    return services
  }

  private async drain(): Promise<void> {
    await this.deliveries.drain({ next: () => this.services, newestFirst: true })
    await noteReleased(this.services, this.model)
  }

  private count(what: string): void {
    const { tally } = this.setting
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}
