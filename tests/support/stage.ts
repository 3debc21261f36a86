import { expect } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import type { Db } from '../../src/db/mongo.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { FeedStrategyName, MaterialisedName } from '../../src/feed/strategies/list.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { Deliveries } from './deliveries.ts'
import { sameLimits } from './engagement.ts'
import { Killed, mortal, slow } from './faulty.ts'
import type { PageStep, Plan, SlowStep, Step, WalkStep } from './histories.ts'
import { Cast, groupNames, Model } from './model.ts'
import { servicesOver } from './services.ts'
import { begin, drop, emptied, type Setting } from './setting.ts'
import { type Seen, Timelines } from './timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

/** Plays one history and compares whatever it sees with the model: law L1. */
export class Stage {
  private readonly processes: readonly [Services, Services]
  private readonly cast: Cast
  private readonly model = new Model()
  private readonly deliveries: Deliveries
  private readonly timelines: Timelines
  /** Every timeline there was since a page was held, if one is. */
  private snapshots: (() => void) | undefined

  private constructor(
    private readonly setting: Setting,
    private readonly plan: Plan,
  ) {
    const { db } = setting.harness.database
    this.processes = [this.process(db, 0), this.process(db, 1)]
    this.cast = new Cast(this.processes[0])
    const { outbox } = this.processes[0].collections
    const count = (what: string) => this.count(what)
    this.deliveries = new Deliveries(outbox, count)
    this.timelines = new Timelines(this.model, this.cast, this.deliveries, count)
  }

  /** Opens an empty database with four users, the edges of the plan, and undelivered posts. */
  static async open(setting: Setting, plan: Plan): Promise<Stage> {
    const stage = new Stage(setting, plan)
    const { processes, cast, model } = stage
    await emptied(processes[0], setting)
    await stage.register(setting.registered)
    await begin(processes[0], plan, cast, model, setting.harness.clock.now)
    return stage
  }

  /** Plays all steps; then, at rest, every page of every strategy is what the model says. */
  async run(): Promise<void> {
    for (const step of this.plan.steps) await this.play(step)
    await this.settle(this.plan.turn % 2 === 0)
    await Promise.all(this.model.users().map((reader, n) => this.compare(reader, n)))
  }

  private process(db: Db, by: number): Services {
    const { harness, feed, spoil } = this.setting
    const { client } = harness.database
    const own = { ...feed, entries: this.plan.entries[by] ?? 'author' }
    const services = servicesOver({ client, db }, harness.clock, engagement, harness.following, own)
    spoil?.(services)
    return services
  }

  private async play(step: Step): Promise<void> {
    this.snapshots?.()
    await this.do(step)
    await this.freed()
    this.snapshots?.()
  }

  private async do(step: Step): Promise<void> {
    const [main, other] = this.processes
    const { deliveries } = this
    switch (step.kind) {
      case 'look':
        return this.look(step)
      case 'walk':
        return this.walk(step)
      case 'slow':
        return this.slowly(step)
      case 'work': {
        const job = await deliveries.nth(step.job)
        if (job) await deliveries.run(this.by(step.by), job, step)
        return
      }
      case 'again': {
        const { done } = deliveries
        const job = done[step.job % Math.max(1, done.length)]
        if (!job) return
        this.count('again')
        return deliveries.run(other, job, { afresh: true })
      }
      case 'twice': {
        const job = await deliveries.nth(step.job)
        if (!job) return
        this.count('twice')
        const afresh = { afresh: true }
        const both = [main, other].map((one) => deliveries.run(one, job, afresh))
        await Promise.allSettled(both)
        return void (await Promise.all(both))
      }
      case 'kill': {
        const job = await deliveries.nth(step.job)
        if (!job) return
        const { db, ended } = mortal(this.setting.harness.database.db, step.at, step.effect)
        await deliveries.run(this.process(db, 1), job, step).catch((error) => {
          if (!(error instanceof Killed)) throw error
          this.count(`killed ${job.kind}`)
        })
        return ended()
      }
      case 'drop':
        return drop(other, this.materialised(step.strategy), step.cut)
      case 'register':
        return this.register([this.materialised(step.strategy)])
      case 'rebuild':
        await main.registrations.rebuild(this.materialised(step.strategy))
        return
      case 'advance':
        return this.setting.harness.clock.advance(step.ms)
      case 'expire':
        await main.collections.timeline_cache.deleteOne({ _id: this.cast.user(step.user) })
        return
      case 'rest':
        return this.settle(step.newestFirst)
      default: {
        const sure = this.model.leavers().length === 0
        const { found, expected } = await this.cast.play(step, this.model)
        if (sure) expect(found, step.kind).toBe(expected)
      }
    }
  }

  /** Holds one call of a page or a job while other steps are played; a page is asked again after that. */
  private async slowly({ held, at, expired, meanwhile }: SlowStep): Promise<void> {
    const { db, reached, go } = slow(this.setting.harness.database.db, at)
    const process = this.process(db, held.by)
    const job = held.kind === 'work' ? await this.deliveries.nth(held.job) : undefined
    // A held deletion would run into the next owner of the handle.
    if (job?.kind === 'user.deleted') return
    if (held.kind === 'work' && !job) return
    const ever = new Set<PostId>()
    let always: ReadonlySet<PostId> | undefined
    if (held.kind === 'look') {
      if (expired) await this.do({ kind: 'expire', user: held.user })
      this.snapshots = () => {
        const now = this.model.timeline(this.cast.user(held.user), held.group)
        for (const id of now) ever.add(id)
        always = new Set(now.filter((id) => !always || always.has(id)))
      }
      this.snapshots()
    }
    const seen: Seen = {
      ever,
      get always() {
        return always ?? ever
      },
    }
    const running =
      held.kind === 'look'
        ? this.look(held, process, seen)
        : job && this.deliveries.run(process, job, held)
    const ended = running?.catch((error) => ({ error }))
    await Promise.race([reached, ended])
    this.count(`slow ${job?.kind ?? held.kind}`)
    try {
      for (const step of meanwhile) await this.play(step)
    } finally {
      this.snapshots = undefined
      go()
      await ended
    }
    const failed = await ended
    if (failed) throw failed.error
    if (held.kind === 'look') await this.look(held)
  }

  private async look(
    { user, group, size, backward, content, after, before, strategy, by }: PageStep,
    services = this.by(by),
    seen?: Seen,
  ): Promise<void> {
    const reader = this.cast.user(user)
    if (!this.model.users().includes(reader)) return
    const post = (n: number | undefined) =>
      n === undefined ? undefined : this.cast.posts[n % Math.max(1, this.cast.posts.length)]?.id
    const window = { limit: size, backward, after: post(after), before: post(before) }
    const asked = { reader, group, content, strategy: this.strategy(strategy) }
    await this.timelines.inFlight(services, asked, window, seen)
  }

  private async walk({ user, size, backward, strategy, by, ...asked }: WalkStep): Promise<void> {
    const reader = this.cast.user(user)
    if (!this.model.users().includes(reader)) return
    const all = { ...asked, reader, strategy: this.strategy(strategy) }
    await this.timelines.walkInFlight(this.by(by), all, size, backward)
  }

  /** All of one reader's pages at rest: of each strategy, of a group, and of one strategy after the other along one walk. */
  private async compare(reader: UserId, n: number): Promise<void> {
    const { plan, processes, timelines } = this
    const { asked } = this.setting
    const nth = (at: number) => asked[(plan.turn + at) % asked.length] ?? 'FANOUT_ON_READ'
    const walk = { reader, content: true, sizes: plan.sizes, backward: (plan.turn + n) % 2 === 0 }
    for (const strategy of new Set(asked)) {
      if (strategy === 'FANOUT_ON_READ') continue
      await timelines.atRest(processes, { ...walk, content: false, strategyOf: () => strategy })
    }
    const group = groupNames[plan.turn % groupNames.length]
    await timelines.atRest(processes, { ...walk, group, strategyOf: () => nth(n) })
    const backward = !walk.backward
    await timelines.atRest(processes, { ...walk, backward, strategyOf: nth, probed: true })
  }

  /** Runs every job to its end, ends every drop, and registers again what is not. */
  private async settle(newestFirst: boolean): Promise<void> {
    await this.drain(newestFirst)
    for (const { _id: name, dropping } of (await this.processes[0].registry.read()).values()) {
      if (dropping) await drop(this.processes[1], name, false)
    }
    await this.register(this.setting.registered)
    await this.drain(newestFirst)
  }

  private async drain(newestFirst: boolean): Promise<void> {
    for (let tries = 0; tries < 500; tries++) {
      const job = (await this.deliveries.waiting()).at(newestFirst ? -1 : 0)
      if (!job) return this.freed()
      await this.deliveries.run(this.by(tries), job)
    }
    throw new Error('jobs do not come to an end')
  }

  /** Tells the model of those whose handles have become free. */
  private async freed(): Promise<void> {
    for (const user of this.model.leavers()) {
      if (!(await this.processes[0].users.leavingSince(user))) this.model.purged(user)
    }
  }

  private async register(names: readonly FeedStrategyName[]): Promise<void> {
    const [main] = this.processes
    const registered = await main.registry.read()
    const missing = names.filter((name) => !registered.has(name))
    await registerStrategies(main, missing).catch((error) => {
      if (!(error instanceof ConfigError)) throw error
    })
  }

  private by(n: number): Services {
    return this.processes[n % 2] as Services
  }

  private strategy(n: number): FeedStrategyName {
    const { asked } = this.setting
    return asked[n % asked.length] as FeedStrategyName
  }

  private materialised(n: number): MaterialisedName {
    const names = this.setting.asked.filter((name) => name !== 'FANOUT_ON_READ')
    return names[n % names.length] as MaterialisedName
  }

  private count(what: string): void {
    const { tally } = this.setting
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}
