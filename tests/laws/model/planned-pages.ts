import type { UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import type { FeedStrategyName, MaterialisedName } from '../../../src/timeline/strategies/list.ts'
import type { PageStep, Plan, WalkStep } from './histories.ts'
import { type Actors, groupNames, type Model } from './model.ts'
import type { Setting } from './setting.ts'
import type { Seen, Timelines } from './timelines.ts'

/** The parts of {@link PlannedPages}. */
interface PlannedPagesParts {
  readonly setting: Pick<Setting, 'asked'>
  readonly plan: Pick<Plan, 'turn' | 'sizes'>
  readonly processes: readonly [Services, Services]
  readonly actors: Actors
  readonly model: Model
  readonly timelines: Timelines
}

/** Reads the pages of a history, and compares them with the model. */
export class PlannedPages {
  constructor(private readonly parts: PlannedPagesParts) {}

  /**
   * @param seen the posts of the timeline while the page was read. Default: the posts that belong
   *   to it now.
   */
  async read(step: PageStep, services = this.by(step.by), seen?: Seen): Promise<void> {
    const { actors, model, timelines } = this.parts
    const { user, group, size, backward, content, strategy } = step
    const reader = actors.user(user)
    if (!model.users().includes(reader)) return
    const post = (n: number | undefined) =>
      n === undefined ? undefined : actors.posts[n % Math.max(1, actors.posts.length)]?.id
    const window = { limit: size, backward, after: post(step.after), before: post(step.before) }
    const asked = { reader, group, content, strategy: this.strategy(strategy) }
    await timelines.comparePage(services, asked, window, seen)
  }

  /** Reads pages to the end. */
  async walk({ user, size, backward, strategy, by, ...asked }: WalkStep): Promise<void> {
    const { actors, model, timelines } = this.parts
    const reader = actors.user(user)
    if (!model.users().includes(reader)) return
    const all = { ...asked, reader, strategy: this.strategy(strategy) }
    await timelines.compareWalk(this.by(by), all, size, backward)
  }

  /** Compares all pages of all readers after all jobs. */
  async compareAll(): Promise<void> {
    const readers = this.parts.model.users()
    await Promise.all(readers.map((reader, n) => this.compareReader(reader, n)))
  }

  /** @param n the number of a strategy, modulo the number of the setting's stored strategies. */
  materialised(n: number): MaterialisedName {
    const names = this.parts.setting.asked.filter((name) => name !== 'FANOUT_ON_READ')
    return names[n % names.length] as MaterialisedName
  }

  /** Compares the pages of each strategy, of a group, and of changing strategies in a walk. */
  private async compareReader(reader: UserId, n: number): Promise<void> {
    const { setting, plan, processes, timelines } = this.parts
    const { asked } = setting
    const nth = (at: number) => this.strategy(plan.turn + at)
    const walk = { reader, content: true, sizes: plan.sizes, backward: (plan.turn + n) % 2 === 0 }
    for (const strategy of new Set(asked)) {
      if (strategy === 'FANOUT_ON_READ') continue
      const one = { ...walk, content: false, strategyOf: () => strategy }
      await timelines.compareAtRest(processes, one)
    }
    const group = groupNames[plan.turn % groupNames.length]
    await timelines.compareAtRest(processes, { ...walk, group, strategyOf: () => nth(n) })
    const backward = !walk.backward
    await timelines.compareAtRest(processes, { ...walk, backward, strategyOf: nth, probed: true })
  }

  private by(n: number): Services {
    return this.parts.processes[n % 2] as Services
  }

  private strategy(n: number): FeedStrategyName {
    const { asked } = this.parts.setting
    return asked[n % asked.length] as FeedStrategyName
  }
}
