import fc from 'fast-check'
import { expect } from 'vitest'
import { Stamping } from '../../../src/db/stamps.ts'
import { registerStrategies } from '../../../src/feed/feeds.ts'
import type { MaterialisedName } from '../../../src/feed/strategies/list.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { sameLimits } from '../../support/engagement.ts'
import { drain, servicesOver } from '../../support/services.ts'
import { Actors, anyOp, groupNames, Model, type Op, pageOf } from './model.ts'
import { begin, drop, emptied, type Setting } from './setting.ts'

const strategies = ['CACHE', 'INBOX'] as const

/** A step of a history. */
type KeptStep =
  | Op
  /** Runs all jobs. */
  | { readonly kind: 'drain' }
  /** A reading process restarts. */
  | { readonly kind: 'restart'; readonly process: number }
  /** Versions expire. */
  | { readonly kind: 'forget'; readonly part: string }
  /** A stored cache expires. */
  | { readonly kind: 'expire'; readonly user: number }
  | { readonly kind: 'rename'; readonly user: number; readonly name: string }
  | { readonly kind: 'register' | 'drop' | 'rebuild'; readonly strategy: number }

/** A history of four users. Two processes write, and two others keep pages. */
export interface KeptPlan {
  readonly edges: readonly (readonly [number, number])[]
  readonly steps: readonly KeptStep[]
}

const step: fc.Arbitrary<KeptStep> = fc.oneof(
  { weight: 30, arbitrary: anyOp() as fc.Arbitrary<KeptStep> },
  { weight: 20, arbitrary: anyOp(['post']) },
  { weight: 10, arbitrary: anyOp(['follow', 'unfollow', 'deletePost']) },
  { weight: 30, arbitrary: fc.constant({ kind: 'drain' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), process: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('forget' as const),
      part: fc.constantFrom('relations', 'timeline', 'account', 'registrations'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('expire' as const), user: fc.nat(1) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('rename' as const),
      user: fc.nat(3),
      name: fc.constantFrom('Ann', 'Bob', 'Cid'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('register' as const, 'drop' as const, 'rebuild' as const),
      strategy: fc.nat(1),
    }),
  },
)

export const anyKeptPlan: fc.Arbitrary<KeptPlan> = fc.record({
  edges: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
})

/** Runs one history. After each step, processes that keep pages show what the model says: law L1. */
export class KeptSimulation {
  private readonly model = new Model()
  private readonly names = new Map<UserId, string>()
  private readonly writers: readonly [Services, Services]
  private readonly readers: [Services, Services]
  private readonly actors: Actors

  constructor(
    private readonly setting: Setting,
    private readonly plan: KeptPlan,
  ) {
    this.writers = [this.process(), this.process()]
    this.readers = [this.process(), this.process()]
    for (const writer of this.writers) setting.mutate?.(writer)
    this.actors = new Actors(this.writers[0])
  }

  async run(): Promise<void> {
    const { edges, steps } = this.plan
    const [writer] = this.writers
    await emptied(writer, this.setting)
    await registerStrategies(writer, strategies)
    const clock = this.setting.harness.clock.now
    await begin(
      writer,
      { edges, posts: [0, 1, 2, 3], crowd: false },
      this.actors,
      this.model,
      clock,
    )
    await this.drain()
    for (const [at, step] of steps.entries()) {
      await this.apply(step)
      await this.compare(at)
    }
    await this.drain()
    for (const at of [0, 1, 2, 3]) await this.compare(at)
  }

  private process(): Services {
    const { harness, feed } = this.setting
    const limits = sameLimits({ threshold: 3, capacity: 2 })
    return servicesOver(harness.database, harness.clock, limits, harness.following, feed)
  }

  private async apply(step: KeptStep): Promise<void> {
    const [writer, other] = this.writers
    switch (step.kind) {
      case 'drain':
        return this.drain()
      case 'restart':
        this.readers[step.process] = this.process()
        return
      case 'forget':
        await writer.collections.versions.deleteMany({ _id: { $regex: `^${step.part}` } })
        return
      case 'expire':
        await writer.collections.timeline_cache.deleteOne({ _id: this.actors.user(step.user) })
        return
      case 'rename': {
        const user = this.actors.user(step.user)
        if (!this.model.users().includes(user)) return
        await other.users.update(user, { name: step.name })
        this.names.set(user, step.name)
        return
      }
      case 'register':
        if ((await writer.registry.read()).get(nameOf(step.strategy))?.dropping) return
        await registerStrategies(writer, [nameOf(step.strategy)])
        return
      case 'drop':
        return drop(other, nameOf(step.strategy), false)
      case 'rebuild':
        await other.registrations.rebuild(nameOf(step.strategy))
        return
      default: {
        const isSure = this.model.leavers().length === 0
        const { found, expected } = await this.actors.apply(step, this.model)
        if (isSure) expect(found, step.kind).toBe(expected)
        if (step.kind === 'createUser' && found === 'changed')
          this.names.delete(this.actors.user(step.a))
      }
    }
  }

  private async drain(): Promise<void> {
    await drain(this.writers[1])
    for (const user of this.model.leavers()) {
      if (await this.writers[0].users.leavingSince(user)) continue
      this.model.purged(user)
      this.names.delete(user)
    }
  }

  /** Compares the newest page of two readers by both processes. While a job waits, posts may be missing. */
  private async compare(at: number): Promise<void> {
    const isAtRest = (await this.writers[0].collections.outbox.findOne({})) === null
    const group = at % 3 === 2 ? groupNames[0] : undefined
    // The larger page reaches below the cache.
    const limit = at % 4 === 3 ? 5 : 2
    for (const reader of this.model.users().slice(0, 2)) {
      const all = this.model.timeline(reader, group)
      const { ids: expected } = pageOf(all, { limit, backward: false })
      for (const services of this.readers) {
        for (const strategy of strategies) {
          const request = { window: { limit, backward: false }, strategy, group, profiles: true }
          const stamping = new Stamping(services.versions)
          const asked = { ...request, projection: 'ref' as const }
          const { items, facts } = await services.feed.timeline(reader, asked, stamping)
          if (facts.some(({ stats }) => stats === undefined)) this.count(`${strategy} kept`)
          const ids = items.map(({ id }) => id)
          if (isAtRest) expect(ids, `${strategy} at rest`).toEqual(expected)
          else expect(all, `${strategy} while jobs wait`).toEqual(expect.arrayContaining(ids))
          for (const { author } of items) {
            const shown = facts.flatMap(({ profiles }) => profiles?.get(author)?.name ?? []).at(-1)
            expect(shown, `${strategy}, the name of ${author}`).toBe(
              this.names.get(author) ?? author,
            )
          }
        }
      }
    }
  }

  private count(what: string): void {
    const { tally } = this.setting
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}

const nameOf = (n: number): MaterialisedName => strategies[n % strategies.length] ?? 'INBOX'
