import fc from 'fast-check'
import { clockSkewMaxMs } from '../../../src/lib/ids.ts'
import { commitMsMax } from '../../../src/timeline/pages/watermark.ts'
import { type Effect, effects } from '../../support/faulty.ts'
import { anyOp, type Op } from './model.ts'

/** Polls a timeline, or begins to. */
export interface PollStep {
  readonly kind: 'poll'
  readonly user: number
}

/** Runs a waiting job, also from its start, and does not delete it if it is kept. */
interface WorkStep {
  readonly kind: 'work'
  readonly job: number
  readonly kept: boolean
}

/** Runs a waiting job until its process dies after a number of writes. */
interface KillStep {
  readonly kind: 'kill'
  readonly job: number
  readonly at: number
  readonly effect: Effect
}

type QuickStep =
  | Op
  | PollStep
  | WorkStep
  | KillStep
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'expire'; readonly user: number }
  | { readonly kind: 'rest' }

/**
 * A post whose transaction waits before its commit, on a host with a skewed clock, while other
 * steps run.
 */
export interface LatePostStep {
  readonly kind: 'late'
  readonly author: number
  /** How far the clock of the host is behind. */
  readonly behindMs: number
  readonly waitMs: number
  readonly concurrent: readonly (PollStep | WorkStep)[]
}

/** A poll with one held read, while other steps run. */
export interface SlowPollStep {
  readonly kind: 'slow'
  readonly poll: PollStep
  readonly at: number
  readonly concurrent: readonly (Op | WorkStep)[]
}

export type PollPlanStep = QuickStep | LatePostStep | SlowPollStep

/** A history of four users whose timelines are polled. */
export interface PollPlan {
  readonly edges: readonly (readonly [number, number])[]
  readonly posts: readonly number[]
  readonly steps: readonly PollPlanStep[]
  /** The number of the strategy that is polled, modulo the number of the setting's strategies. */
  readonly strategy: number
  /** The sizes of the first page and of the pages of new posts. */
  readonly sizes: { readonly first: number; readonly last: number }
  /** Whether only posts are written, so that nothing held by a poller changes. */
  readonly isQuiet: boolean
}

const poll: fc.Arbitrary<PollStep> = fc.record({
  kind: fc.constant('poll'),
  // Two readers, so that a history polls each of them often.
  user: fc.constantFrom(0, 0, 1),
})
const work: fc.Arbitrary<WorkStep> = fc.record({
  kind: fc.constant('work'),
  job: fc.nat(30),
  kept: fc.integer({ min: 0, max: 9 }).map((n) => n === 9),
})
const kill: fc.Arbitrary<KillStep> = fc.record({
  kind: fc.constant('kill'),
  job: fc.nat(30),
  at: fc.nat(5),
  effect: fc.constantFrom(...effects),
})
const advance = fc.record({
  kind: fc.constant('advance' as const),
  ms: fc.constantFrom(1, 1_000, commitMsMax + clockSkewMaxMs),
})
const post = anyOp(['post'])
const late: fc.Arbitrary<LatePostStep> = fc.record({
  kind: fc.constant('late'),
  author: fc.nat(3),
  behindMs: fc.constantFrom(0, clockSkewMaxMs),
  // The clock rises by a millisecond with each read.
  waitMs: fc.constantFrom(0, 5_000, commitMsMax - 400),
  concurrent: fc.array(fc.oneof(poll, work), { minLength: 1, maxLength: 4, size: 'max' }),
})
const slow = (op: fc.Arbitrary<Op>): fc.Arbitrary<SlowPollStep> =>
  fc.record({
    kind: fc.constant('slow'),
    poll,
    at: fc.nat(4),
    concurrent: fc.array(fc.oneof(op, work), { minLength: 1, maxLength: 4, size: 'max' }),
  })

const quiet: fc.Arbitrary<PollPlanStep> = fc.oneof(
  { weight: 20, arbitrary: post as fc.Arbitrary<PollPlanStep> },
  { weight: 20, arbitrary: poll },
  { weight: 14, arbitrary: work },
  { weight: 8, arbitrary: advance },
  { weight: 8, arbitrary: late },
  { weight: 8, arbitrary: slow(post) },
  { weight: 3, arbitrary: kill },
)
const loud: fc.Arbitrary<PollPlanStep> = fc.oneof(
  { weight: 30, arbitrary: quiet },
  { weight: 14, arbitrary: anyOp() as fc.Arbitrary<PollPlanStep> },
  { weight: 3, arbitrary: anyOp(['follow', 'unfollow', 'deletePost']) },
  { weight: 3, arbitrary: slow(anyOp()) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire'), user: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rest' }) },
)

/** A delivery that ends during a poll, long after its post. */
const lateDelivery: fc.Arbitrary<PollPlanStep[]> = fc
  .record({ post, poll, at: fc.nat(4) })
  .map(({ post, poll, at }) => [
    post,
    { kind: 'advance', ms: commitMsMax + clockSkewMaxMs },
    { kind: 'slow', poll, at, concurrent: [{ kind: 'work', job: 0, kept: false }] },
  ])

const everyEdge = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].map((b) => [a, b] as const))

const planOf = (isQuiet: boolean): fc.Arbitrary<PollPlan> =>
  fc.record({
    edges: fc.subarray(everyEdge, { minLength: 6 }),
    posts: fc.array(fc.nat(3), { maxLength: 6, size: 'max' }),
    steps: fc
      .array(
        fc.oneof(
          { weight: 9, arbitrary: (isQuiet ? quiet : loud).map((step) => [step]) },
          { weight: 1, arbitrary: lateDelivery },
        ),
        { minLength: 5, maxLength: 30, size: 'max' },
      )
      .map((steps) => steps.flat()),
    strategy: fc.nat(11),
    sizes: fc.record({
      first: fc.integer({ min: 1, max: 6 }),
      last: fc.integer({ min: 1, max: 3 }),
    }),
    isQuiet: fc.constant(isQuiet),
  })

export const anyPollPlan: fc.Arbitrary<PollPlan> = fc.oneof(planOf(true), planOf(false))
