import { expect } from 'vitest'
import { ConfigError } from '../../../src/config.ts'
import type { Db } from '../../../src/db/mongo.ts'
import { registerStrategies } from '../../../src/feed/feeds.ts'
import type { FeedStrategyName, MaterialisedName } from '../../../src/feed/strategies/list.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { sameLimits } from '../../support/engagement.ts'
import { heldAtCall, Killed, killedAtWrite } from '../../support/faulty.ts'
import { servicesOver } from '../../support/services.ts'
import { Deliveries } from './deliveries.ts'
import type { PageStep, Plan, SlowStep, Step, WalkStep } from './histories.ts'
import { Actors, groupNames, Model } from './model.ts'
import { begin, drop, emptied, type Setting } from './setting.ts'
import { type Seen, Timelines } from './timelines.ts'
import { checkClusters, clusterOf, loseSometimes } from './timelines-cluster.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

/** Runs one history and compares every page with the model: law L1. */
export class Simulation {
  private readonly processes: readonly [Services, Services]
  private readonly actors: Actors
  private readonly model = new Model()
  private readonly deliveries: Deliveries
  private readonly timelines: Timelines
  /** Records the timelines while a page is held. Undefined without a held page. */
  private snapshots: (() => void) | undefined

  private constructor(
    private readonly setting: Setting,
    private readonly plan: Plan,
  ) {
    const { db } = setting.harness.database
    this.processes = [this.process(db, 0), this.process(db, 1)]
    this.actors = new Actors(this.processes[0])
    const { outbox } = this.processes[0].collections
    const count = (what: string) => this.count(what)
    this.deliveries = new Deliveries(outbox, count)
    this.timelines = new Timelines(this.model, this.actors, this.deliveries, count)
  }

  /** Opens an empty database with four users, the edges of the plan, and undelivered posts. */
  static async open(setting: Setting, plan: Plan): Promise<Simulation> {
    const simulation = new Simulation(setting, plan)
    const { processes, actors, model } = simulation
    await checkClusters(processes, setting)
    await emptied(processes[0], setting)
    await simulation.register(setting.registered)
    await begin(processes[0], plan, actors, model, setting.harness.clock.now)
    return simulation
  }

  /** Runs all steps. Then runs all jobs and compares every page of every strategy with the model. */
  async run(): Promise<void> {
    for (const [at, step] of this.plan.steps.entries()) {
      await loseSometimes(this.setting, this.processes, at + this.plan.turn)
      await this.applyStep(step)
    }
    await this.settle(this.plan.turn % 2 === 0)
    await Promise.all(this.model.users().map((reader, n) => this.compare(reader, n)))
  }

  private process(db: Db, by: number, watch?: (db: Db) => Db): Services {
    const { harness, feed, mutate } = this.setting
    const { client } = harness.database
    const own = { ...feed, entries: this.plan.entries[by] ?? 'author' }
    const cluster = clusterOf(this.setting.cluster, watch)
    const services = servicesOver(
      { client, db },
      harness.clock,
      engagement,
      harness.following,
      own,
      cluster,
    )
    mutate?.(services)
    return services
  }

  private async applyStep(step: Step): Promise<void> {
    this.snapshots?.()
    await this.runStep(step)
    await this.updateFreedHandles()
    this.snapshots?.()
  }

  private async runStep(step: Step): Promise<void> {
    const [main, other] = this.processes
    const { deliveries } = this
    switch (step.kind) {
      case 'page':
        return this.readPage(step)
      case 'walk':
        return this.walk(step)
      case 'slow':
        return this.runHeld(step)
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
        const { db, watch, ended } = killedAtWrite(
          this.setting.harness.database.db,
          step.at,
          step.effect,
        )
        const killed = this.process(db, 1, watch)
        const work = killed.clusterRepair.run().then(() => deliveries.run(killed, job, step))
        await work.catch((error) => {
          if (!(error instanceof Killed)) throw error
          this.count(`killed ${job.kind}`)
        })
        return ended()
      }
      case 'drop':
        await checkClusters(this.processes, this.setting)
        return drop(other, this.materialised(step.strategy), step.cut)
      case 'register':
        return this.register([this.materialised(step.strategy)])
      case 'rebuild':
        await main.registrations.rebuild(this.materialised(step.strategy))
        return
      case 'advance':
        this.setting.harness.clock.advance(step.ms)
        return this.sweep()
      case 'expire':
        await main.collections.timeline_cache.deleteOne({ _id: this.actors.user(step.user) })
        return
      case 'rest':
        return this.settle(step.newestFirst)
      default: {
        const sure = this.model.leavers().length === 0
        const { found, expected } = await this.actors.apply(step, this.model)
        if (sure) expect(found, step.kind).toBe(expected)
      }
    }
  }

  /** Queues the job that drops the timelines of readers who are away. Nothing without a retention. */
  private async sweep(): Promise<void> {
    const { collections, sweep } = this.processes[0]
    await collections.meta.deleteOne({ _id: 'timelines.sweep' })
    await sweep.enqueueDaily()
    if (await collections.outbox.findOne({ kind: 'timelines.sweep' })) this.count('sweep')
  }

  /** Holds one call of a page or a job while other steps run. Then requests a held page again. */
  private async runHeld({ held, at, expired, concurrent }: SlowStep): Promise<void> {
    const { db, watch, reached, go } = heldAtCall(this.setting.harness.database.db, at)
    const process = this.process(db, held.by, watch)
    const job = held.kind === 'work' ? await this.deliveries.nth(held.job) : undefined
    // A held deletion would run into the next owner of the handle.
    if (job?.kind === 'user.deleted') return
    if (held.kind === 'work' && !job) return
    const ever = new Set<PostId>()
    let always: ReadonlySet<PostId> | undefined
    if (held.kind === 'page') {
      if (expired) await this.runStep({ kind: 'expire', user: held.user })
      this.snapshots = () => {
        const now = this.model.timeline(this.actors.user(held.user), held.group)
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
      held.kind === 'page'
        ? this.readPage(held, process, seen)
        : job && this.deliveries.run(process, job, held)
    const ended = running?.catch((error) => ({ error }))
    await Promise.race([reached, ended])
    this.count(`slow ${job?.kind ?? held.kind}`)
    try {
      for (const step of concurrent) await this.applyStep(step)
    } finally {
      this.snapshots = undefined
      go()
      await ended
    }
    const failed = await ended
    if (failed) throw failed.error
    if (held.kind === 'page') await this.readPage(held)
  }

  private async readPage(
    { user, group, size, backward, content, after, before, strategy, by }: PageStep,
    services = this.by(by),
    seen?: Seen,
  ): Promise<void> {
    const reader = this.actors.user(user)
    if (!this.model.users().includes(reader)) return
    const post = (n: number | undefined) =>
      n === undefined ? undefined : this.actors.posts[n % Math.max(1, this.actors.posts.length)]?.id
    const window = { limit: size, backward, after: post(after), before: post(before) }
    const asked = { reader, group, content, strategy: this.strategy(strategy) }
    await this.timelines.comparePage(services, asked, window, seen)
  }

  private async walk({ user, size, backward, strategy, by, ...asked }: WalkStep): Promise<void> {
    const reader = this.actors.user(user)
    if (!this.model.users().includes(reader)) return
    const all = { ...asked, reader, strategy: this.strategy(strategy) }
    await this.timelines.compareWalk(this.by(by), all, size, backward)
  }

  /**
   * Compares all pages of a reader after all jobs: of each strategy, of a group, and of changing strategies in a walk.
   */
  private async compare(reader: UserId, n: number): Promise<void> {
    const { plan, processes, timelines } = this
    const { asked } = this.setting
    const nth = (at: number) => asked[(plan.turn + at) % asked.length] ?? 'FANOUT_ON_READ'
    const walk = { reader, content: true, sizes: plan.sizes, backward: (plan.turn + n) % 2 === 0 }
    for (const strategy of new Set(asked)) {
      if (strategy === 'FANOUT_ON_READ') continue
      await timelines.compareAtRest(processes, {
        ...walk,
        content: false,
        strategyOf: () => strategy,
      })
    }
    const group = groupNames[plan.turn % groupNames.length]
    await timelines.compareAtRest(processes, { ...walk, group, strategyOf: () => nth(n) })
    const backward = !walk.backward
    await timelines.compareAtRest(processes, { ...walk, backward, strategyOf: nth, probed: true })
  }

  /** Runs every job to its end, ends every drop, and registers missing strategies. */
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
      await checkClusters(this.processes, this.setting)
      const job = (await this.deliveries.waiting()).at(newestFirst ? -1 : 0)
      if (!job) return this.updateFreedHandles()
      await this.deliveries.run(this.by(tries), job)
    }
    throw new Error('jobs do not end')
  }

  /** Updates the model with the handles that purges released. */
  private async updateFreedHandles(): Promise<void> {
    for (const user of this.model.leavers()) {
      if (!(await this.processes[0].users.leavingSince(user))) this.model.purged(user)
    }
  }

  private async register(names: readonly FeedStrategyName[]): Promise<void> {
    const [main] = this.processes
    await checkClusters(this.processes, this.setting)
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
