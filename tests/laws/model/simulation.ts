import { expect } from 'vitest'
import { ConfigError } from '../../../src/config.ts'
import type { Db } from '../../../src/db/mongo.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { registerStrategies } from '../../../src/timeline/feeds.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { sameLimits } from '../../support/engagement.ts'
import { heldAtCall, Killed, killedAtWrite } from '../../support/faulty.ts'
import { servicesOver } from '../../support/services.ts'
import { Deliveries } from './deliveries.ts'
import type { Plan, SlowStep, Step } from './histories.ts'
import { Actors, Model } from './model.ts'
import { PlannedPages } from './planned-pages.ts'
import { begin, drop, emptied, noteReleased, type Setting } from './setting.ts'
import { leftoversStored } from './stored-timelines.ts'
import { type Seen, Timelines } from './timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

/** Runs one history and compares every page with the model: law L1. */
export class Simulation {
  private readonly processes: readonly [Services, Services]
  private readonly actors: Actors
  private readonly model = new Model()
  private readonly deliveries: Deliveries
  private readonly pages: PlannedPages
  /** The readers from whose timelines purges have removed a post, by post. */
  private readonly removed = new Map<PostId, readonly UserId[]>()
  /** Records the timelines while a page is held. Undefined without a held page. */
  private snapshots: (() => void) | undefined

  private constructor(
    private readonly setting: Setting,
    private readonly plan: Plan,
  ) {
    const { db } = setting.harness.database
    this.processes = [this.process(db, 0), this.process(db, 1)]
    this.actors = new Actors(this.processes[0])
    const { actors, model, processes } = this
    const count = (what: string) => this.count(what)
    this.deliveries = new Deliveries(processes[0].collections, count)
    const timelines = new Timelines(model, actors, this.deliveries, count)
    this.pages = new PlannedPages({ setting, plan, processes, actors, model, timelines })
  }

  /** Opens an empty database with four users, the edges of the plan, and undelivered posts. */
  static async open(setting: Setting, plan: Plan): Promise<Simulation> {
    const simulation = new Simulation(setting, plan)
    const { processes, actors, model } = simulation
    await emptied(processes[0], setting)
    await simulation.register(setting.registered)
    await begin(processes[0], plan, actors, model, setting.harness.clock.now)
    return simulation
  }

  /**
   * Runs all steps, then all jobs. Then compares every page of every strategy with the model. No
   * follower of a deleted account still stores its posts.
   */
  async run(): Promise<void> {
    for (const step of this.plan.steps) await this.applyStep(step)
    await this.settle(this.plan.turn % 2 === 0)
    await this.pages.compareAll()
    const left = await leftoversStored(this.processes[0].collections, this.removed)
    expect(left, `${this.setting.registered} after purges`).toEqual([])
  }

  private process(db: Db, by: number): Services {
    const { harness, feed, mutate } = this.setting
    const { client } = harness.database
    const { timelineDaysMax = 0 } = feed
    const own = {
      ...{ ...feed, entries: this.plan.entries[by] ?? 'author' },
      // Processes may differ in it. The shortest retention of all decides.
      timelineDaysMax: (by + 1) * timelineDaysMax,
    }
    const services = servicesOver({ client, db }, harness.clock, engagement, harness.following, own)
    mutate?.(services)
    return services
  }

  private async applyStep(step: Step): Promise<void> {
    this.snapshots?.()
    await this.runStep(step)
    await this.noteReleased()
    this.snapshots?.()
  }

  private async runStep(step: Step): Promise<void> {
    const [main, other] = this.processes
    const { deliveries } = this
    switch (step.kind) {
      case 'page':
        return this.pages.read(step)
      case 'walk':
        return this.pages.walk(step)
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
        return deliveries.run(other, job, { isStale: true })
      }
      case 'twice': {
        const job = await deliveries.nth(step.job)
        if (!job) return
        this.count('twice')
        const both = [main, other].map((one) => deliveries.run(one, job))
        await Promise.allSettled(both)
        return void (await Promise.all(both))
      }
      case 'kill': {
        const job = await deliveries.nth(step.job)
        if (!job) return
        const { db, ended } = killedAtWrite(this.setting.harness.database.db, step.at, step.effect)
        await deliveries.run(this.process(db, 1), job, step).catch((error) => {
          if (!(error instanceof Killed)) throw error
          this.count(`killed ${job.kind}`)
        })
        return ended()
      }
      case 'drop':
        return drop(other, this.pages.materialised(step.strategy), step.cut)
      case 'register':
        return this.register([this.pages.materialised(step.strategy)])
      case 'rebuild':
        await main.registrations.rebuild(this.pages.materialised(step.strategy))
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

  /** Queues the job that removes old entries. Nothing without a retention. */
  private async sweep(): Promise<void> {
    const { collections, periodic } = this.processes[0]
    await collections.meta.deleteOne({ _id: 'timelines.sweep' })
    await periodic.queueDue()
    if (await collections.outbox.findOne({ kind: 'timelines.sweep' })) this.count('sweep')
  }

  /** Holds one call of a page or a job while other steps run. Then requests a held page again. */
  private async runHeld({ held, at, expired, concurrent }: SlowStep): Promise<void> {
    const { db, reached, go } = heldAtCall(this.setting.harness.database.db, at)
    const process = this.process(db, held.by)
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
        ? this.pages.read(held, process, seen)
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
    if (held.kind === 'page') await this.pages.read(held)
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
    await this.deliveries.drain({ next: (tries) => this.by(tries), newestFirst })
    await this.noteReleased()
  }

  /**
   * Updates the model with the handles that purges released, and notes which entries are removed.
   */
  private async noteReleased(): Promise<void> {
    for (const [user, followers] of await noteReleased(this.processes[0], this.model)) {
      const posts = this.actors.posts.filter(({ id, author }) => {
        return author === user && !this.removed.has(id)
      })
      for (const { id } of posts) this.removed.set(id, [user, ...followers])
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

  private count(what: string): void {
    const { tally } = this.setting
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}
