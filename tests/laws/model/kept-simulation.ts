import fc from 'fast-check'
import { expect } from 'vitest'
import { parsePostNodeId } from '../../../src/graphql/node-id.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import type { Change } from '../../../src/memory/followed.ts'
import type { Services } from '../../../src/services.ts'
import { registerStrategies } from '../../../src/timeline/feeds.ts'
import type { MaterialisedName } from '../../../src/timeline/strategies/list.ts'
import { type AnsweringProcess, answeringProcess } from '../../support/answering.ts'
import { sameLimits } from '../../support/engagement.ts'
import { drain, servicesOver } from '../../support/services.ts'
import { importEdge, type KeptDamage, keptDamages, reconcileAll } from './kept-repairs.ts'
import { Actors, anyOp, groupNames, Model, type Op, pageOf } from './model.ts'
import { begin, drop, emptied, noteReleased, type Setting, sweepNow } from './setting.ts'

/** The strategies that are registered, and those that are asked for. */
const strategies = ['CACHE', 'INBOX'] as const
const asked = ['FANOUT_ON_READ', ...strategies] as const

/** A step of a history. */
type KeptStep =
  | Op
  /** Runs all jobs. */
  | { readonly kind: 'drain' }
  /** A reading process restarts. */
  | { readonly kind: 'restart'; readonly process: number }
  /** A stored cache expires. */
  | { readonly kind: 'expire'; readonly user: number }
  | { readonly kind: 'rename'; readonly user: number; readonly name: string }
  | { readonly kind: 'register' | 'drop' | 'rebuild'; readonly strategy: number }
  | ({ readonly kind: 'import'; readonly from: 'graph' | 'relations' } & Pair)
  /** Damages the timeline of a reader, lets processes keep what is damaged, and reconciles. */
  | ({ readonly kind: 'repair'; readonly damage: KeptDamage } & Pair)
interface Pair {
  readonly a: number
  readonly b: number
}

/**
 * A history of four users. Four processes write: two for users and jobs, one that imports, and one
 * that reconciles. Two others keep memory, and one keeps nothing.
 */
export interface KeptPlan {
  readonly edges: readonly (readonly [number, number])[]
  readonly steps: readonly KeptStep[]
}

const anyPair = { a: fc.nat(1), b: fc.nat(3) }
const step: fc.Arbitrary<KeptStep> = fc.oneof(
  { weight: 30, arbitrary: anyOp() as fc.Arbitrary<KeptStep> },
  { weight: 20, arbitrary: anyOp(['post']) },
  { weight: 10, arbitrary: anyOp(['follow', 'unfollow', 'deletePost']) },
  { weight: 30, arbitrary: fc.constant({ kind: 'drain' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), process: fc.nat(1) }),
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
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      from: fc.constantFrom('graph' as const, 'relations' as const),
      ...anyPair,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('repair' as const),
      damage: fc.constantFrom(...(Object.keys(keptDamages) as KeptDamage[])),
      ...anyPair,
    }),
  },
)

export const anyKeptPlan: fc.Arbitrary<KeptPlan> = fc.record({
  edges: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
})

/**
 * The processes that answer requests over a database. Histories share them, because each has users
 * of its own.
 */
const answering = new Map<unknown, AnsweringProcess[]>()

/** Call it after all tests. */
export async function closeAnswering(): Promise<void> {
  await Promise.all([...answering.values()].flat().map((one) => one.close()))
}

const query = `query ($first: Int, $strategy: FeedStrategy, $group: String) {
  timeline(first: $first, strategy: $strategy, group: $group) {
    edges { node { id author { handle name } } }
  }
}`

interface AnsweredEdge {
  readonly node: {
    readonly id: string
    readonly author: { readonly handle: UserId; readonly name: string }
  }
}

/** Runs one history. After each step, all processes show what the model says: law L1. */
export class KeptSimulation {
  private readonly model = new Model()
  private readonly names = new Map<UserId, string>()
  private readonly writers: readonly [Services, Services]
  private readonly importer = this.process()
  private readonly repairer = this.process()
  private readers: readonly AnsweringProcess[] = []
  private readonly actors: Actors
  private drains = 0

  constructor(
    private readonly setting: Setting,
    private readonly plan: KeptPlan,
    /** Whether memory gets a change. */
    private readonly tells: (change: Change) => boolean = () => true,
  ) {
    this.writers = [this.process(), this.process()]
    this.actors = new Actors(this.writers[0])
  }

  async run(): Promise<void> {
    const { edges, steps } = this.plan
    const [writer] = this.writers
    await emptied(writer, this.setting)
    await registerStrategies(writer, strategies)
    this.readers =
      answering.get(this.tells) ?? (await this.restart([undefined, undefined, undefined]))
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
      await this.apply(step, at)
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

  /** Replaces processes that answer requests. @param left those that go on. */
  private async restart(left: readonly (AnsweringProcess | undefined)[]) {
    await Promise.all(this.readers.map((one) => left.includes(one) || one.close()))
    const readers = await Promise.all(
      left.map(
        (one, at) => one ?? answeringProcess(this.process(), at < 2 ? this.tells : undefined),
      ),
    )
    answering.set(this.tells, readers)
    return readers
  }

  private async apply(step: KeptStep, at: number): Promise<void> {
    const [writer, other] = this.writers
    switch (step.kind) {
      case 'drain':
        return this.drain()
      case 'restart':
        this.readers = await this.restart(
          this.readers.map((one, n) => (n === step.process ? undefined : one)),
        )
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
      case 'import':
        return this.import(step.from, step)
      case 'repair':
        return this.repair(step.damage, step, at)
      default: {
        const isSure = this.model.leavers().length === 0
        const { found, expected } = await this.actors.apply(step, this.model)
        if (isSure) expect(found, step.kind).toBe(expected)
        if (step.kind === 'createUser' && found === 'changed')
          this.names.delete(this.actors.user(step.a))
      }
    }
  }

  /** Both users of a pair, if they exist and differ. */
  private usersOf({ a, b }: Pair): readonly [UserId, UserId] | undefined {
    const [one, other] = [this.actors.user(a), this.actors.user(b)]
    const live = this.model.users()
    return one !== other && live.includes(one) && live.includes(other) ? [one, other] : undefined
  }

  /** An import skips pairs that have a history, so the model follows what is stored. */
  private async import(from: 'graph' | 'relations', pair: Pair): Promise<void> {
    const [follower, followee] = this.usersOf(pair) ?? []
    if (!follower || !followee) return
    await importEdge(this.importer, from, follower, followee)
    const { followers } = this.importer.collections
    if ((await followers.findOne({ user: followee, follower })) === null) return
    const outcome = this.model.follow(follower, followee)
    expect(['changed', 'unchanged']).toContain(outcome)
    this.count(`import ${from} ${outcome}`)
  }

  private async repair(damage: KeptDamage, pair: Pair, at: number): Promise<void> {
    await this.drain()
    const [reader, author] = this.usersOf(pair) ?? []
    if (!reader || !author || !this.model.shows(reader, author, undefined)) return
    await keptDamages[damage](this.repairer, reader, author)
    // No other document has the groups.
    if (damage === 'one side of the edge is lost') this.model.setGroups(reader, author, [])
    this.readers = await this.restart([undefined, undefined, undefined])
    for (let times = 0; times < 3; times++) await this.readPages(at)
    await reconcileAll(this.repairer)
    await this.compare(at)
    await this.drain()
    this.count(damage)
  }

  private async drain(): Promise<void> {
    await drain(this.writers[1])
    const released = await noteReleased(this.writers[0], this.model)
    for (const user of released.keys()) this.names.delete(user)
    if (!this.setting.feed.timelineDaysMax) return
    this.setting.harness.clock.advance(500)
    if (this.drains++ % 3 === 0) await sweepNow(this.writers[1])
  }

  /**
   * Compares the newest page of two readers by all processes. While a job waits, posts may be
   * missing from stored timelines.
   */
  private async compare(at: number): Promise<void> {
    const isAtRest = (await this.writers[0].collections.outbox.findOne({})) === null
    for (const { names, all, ...page } of await this.readPages(at)) {
      const { ids, strategy } = page
      const { ids: expected } = pageOf(all, { limit: page.first, backward: false })
      if (isAtRest || strategy === 'FANOUT_ON_READ')
        expect(ids, `${strategy} at rest`).toEqual(expected)
      else expect(all, `${strategy} while jobs wait`).toEqual(expect.arrayContaining(ids))
      for (const [author, name] of names)
        expect(name, `${strategy}, the name of ${author}`).toBe(this.names.get(author) ?? author)
    }
  }

  /** The newest page of two readers by all processes, and the timelines of the model. */
  private async readPages(at: number) {
    const pages = []
    const group = at % 3 === 2 ? groupNames[0] : undefined
    for (const reader of this.model.users().slice(0, 2)) {
      const all = this.model.timeline(reader, group)
      for (const process of this.readers) {
        for (const strategy of asked) {
          const variables = { first: limitAt(at), strategy, group }
          const { data } = await process.ask(reader, query, variables)
          const nodes = (data.timeline.edges as AnsweredEdge[]).map(({ node }) => node)
          const ids = nodes.map(({ id }) => parsePostNodeId('id', id).id)
          const names = nodes.map(({ author }) => [author.handle, author.name] as const)
          pages.push({ ...variables, reader, ids, all, names })
        }
      }
    }
    return pages
  }

  private count(what: string): void {
    const { tally } = this.setting
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }
}

/** The larger page reaches below the cache. */
const limitAt = (at: number): number => (at % 4 === 3 ? 5 : 2)

const nameOf = (n: number): MaterialisedName => strategies[n % strategies.length] ?? 'INBOX'
