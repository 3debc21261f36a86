import fc from 'fast-check'
import { entryContents } from '../../../src/timeline/entries.ts'
import { type Effect, effects } from '../../support/faulty.ts'
import { anyOp, anyPageRead, groupNames, type Op, type PageRead } from './model.ts'

/** Requests a page from one of two processes. */
export interface PageStep extends PageRead {
  /** The strategy's number, modulo the number of the setting's strategies. */
  readonly strategy: number
  readonly by: number
}

/** Requests pages of one strategy to the end. */
export interface WalkStep extends Omit<PageStep, 'kind' | 'after' | 'before'> {
  readonly kind: 'walk'
}

/** Runs one waiting job: the newest, or one of the jobs before it. */
interface WorkStep {
  readonly kind: 'work'
  /** The job's number, counted from the newest. */
  readonly job: number
  readonly by: number
  /** Runs it inline, as the process of the write does. */
  readonly inline: boolean
  /** The worker dies after the job is done and before it is deleted. */
  readonly kept: boolean
}

/** Runs a removed job again. */
interface AgainStep {
  readonly kind: 'again'
  readonly job: number
}

/** Runs a waiting job by two processes at once. */
interface TwiceStep {
  readonly kind: 'twice'
  readonly job: number
}

/** Runs a waiting job until its process dies after a number of writes. */
interface KillStep {
  readonly kind: 'kill'
  readonly job: number
  readonly at: number
  readonly effect: Effect
  readonly inline: boolean
}

interface StrategyStep {
  readonly kind: 'drop' | 'register' | 'rebuild'
  readonly strategy: number
  /** Whether a drop is interrupted. */
  readonly cut: boolean
}

type OtherStep =
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'expire'; readonly user: number }
  | { readonly kind: 'rest'; readonly newestFirst: boolean }

type QuickStep =
  | Op
  | PageStep
  | WalkStep
  | WorkStep
  | AgainStep
  | TwiceStep
  | KillStep
  | StrategyStep
  | OtherStep

/** A page or a job with one held call, while other steps run. */
export interface SlowStep {
  readonly kind: 'slow'
  readonly held: PageStep | WorkStep
  /** The number of the held call. */
  readonly at: number
  /** Whether the cache of the page has expired. */
  readonly expired: boolean
  readonly concurrent: readonly QuickStep[]
}

export type Step = QuickStep | SlowStep

/**
 * A history of four users, two processes and their deliveries. At the end, all timelines are
 * compared.
 */
export interface Plan {
  /** The edges at the start, as pairs of follower and followee. */
  readonly edges: readonly (readonly [number, number])[]
  /** The authors of undelivered posts at the start. */
  readonly posts: readonly number[]
  /**
   * Whether there are more accounts between the four users, so that a back-fill takes several
   * steps.
   */
  readonly crowd: boolean
  /** The configured contents of entries in each of the two processes. */
  readonly entries: readonly [(typeof entryContents)[number], (typeof entryContents)[number]]
  readonly steps: readonly Step[]
  /** The page sizes and the directions of the walks at the end. */
  readonly sizes: readonly number[]
  readonly turn: number
}

const any = fc.nat(30)
const by = fc.nat(1)
const content = fc.constantFrom(...entryContents)
const group = fc.constantFrom(undefined, undefined, ...groupNames)

const page: fc.Arbitrary<PageStep> = fc
  .tuple(anyPageRead, fc.nat(11), by)
  .map(([read, strategy, by]) => ({ ...read, strategy, by }))

const walk: fc.Arbitrary<WalkStep> = fc.record({
  kind: fc.constant('walk'),
  user: fc.nat(3),
  group,
  size: fc.integer({ min: 1, max: 4 }),
  backward: fc.boolean(),
  content: fc.boolean(),
  strategy: fc.nat(11),
  by,
})

const work: fc.Arbitrary<WorkStep> = fc.record({
  kind: fc.constant('work'),
  job: any,
  by,
  inline: fc.boolean(),
  kept: fc.integer({ min: 0, max: 9 }).map((n) => n === 9),
})

const kill: fc.Arbitrary<KillStep> = fc.record({
  kind: fc.constant('kill'),
  job: any,
  at: fc.nat(7),
  effect: fc.constantFrom(...effects),
  inline: fc.boolean(),
})

const strategy: fc.Arbitrary<StrategyStep> = fc.record({
  kind: fc.constantFrom('register', 'register', 'drop', 'rebuild'),
  strategy: fc.nat(11),
  cut: fc.boolean(),
})

const quick: fc.Arbitrary<QuickStep> = fc.oneof(
  { weight: 30, arbitrary: anyOp() as fc.Arbitrary<QuickStep> },
  { weight: 16, arbitrary: anyOp(['post']) },
  { weight: 5, arbitrary: anyOp(['follow']) },
  { weight: 3, arbitrary: anyOp(['unfollow', 'deletePost']) },
  { weight: 22, arbitrary: work },
  { weight: 12, arbitrary: page },
  { weight: 5, arbitrary: walk },
  { weight: 6, arbitrary: kill },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('again'), job: any }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('twice'), job: any }) },
  { weight: 3, arbitrary: strategy },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.nat(2_500) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire'), user: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rest'), newestFirst: fc.boolean() }) },
)

const newest: WorkStep = { kind: 'work', job: 0, by: 0, inline: false, kept: false }
const op = (kind: Op['kind'], a: number, b: number): Op => ({ kind, a, b, groups: [] })

/**
 * Any step may run during a held call. Half of the held pages also meet a new post of the reader,
 * delivered at once.
 */
const slow: fc.Arbitrary<SlowStep> = fc
  .record({
    held: fc.oneof<fc.Arbitrary<SlowStep['held']>[]>(page, work),
    at: fc.nat(6),
    expired: fc.boolean(),
    own: fc.boolean(),
    author: fc.option(fc.nat(3), { nil: undefined }),
    concurrent: fc.array(quick, { minLength: 1, maxLength: 4, size: 'max' }),
  })
  .map(({ held, at, expired, own, author, concurrent }) => {
    const posted = (by: number) => [op('post', by, 0), newest, ...concurrent]
    if (held.kind === 'page' && own) {
      const newestPage = { ...held, after: undefined, before: undefined }
      return { kind: 'slow', held: newestPage, at, expired: true, concurrent: posted(held.user) }
    }
    return { kind: 'slow', held, at, expired, concurrent: author ? posted(author) : concurrent }
  })

/**
 * A reader has a cache. Authors post more than it holds, and the last post is not delivered. Some
 * steps may be missing.
 */
const staleCache: fc.Arbitrary<Step[]> = fc
  .record({
    users: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 2 }),
    walk,
    left: fc.array(fc.nat(13), { maxLength: 1 }),
  })
  .map(({ users: [author = 0, user = 1], walk, left }) => {
    const own = { ...walk, user, group: undefined }
    const delivered = Array.from({ length: 4 }, () => [op('post', author, 0), newest]).flat()
    const steps = [
      op('follow', user, author),
      newest,
      own,
      ...delivered,
      op('post', author, 0),
      own,
    ]
    return steps.filter((_, at) => !left.includes(at))
  })

const ownPages: WalkStep = {
  kind: 'walk',
  user: 1,
  group: undefined,
  size: 1,
  backward: false,
  content: true,
  strategy: 1,
  by: 0,
}

/** Posts are delivered to followers, and their author deletes the account. */
export const accountDeletion: Plan = {
  edges: [1, 2].map((follower) => [follower, 0] as const),
  ...{ posts: [0, 0], crowd: false, entries: ['id', 'text'] },
  steps: [{ kind: 'rest', newestFirst: false }, ownPages, op('deleteUser', 0, 1)],
  ...{ sizes: [2], turn: 0 },
}

const nothing = { edges: [], posts: [], crowd: false, entries: ['id', 'text'] } as const
const firstPage: PageStep = {
  ...{ kind: 'page', user: 1, group: undefined, size: 5, backward: false, content: true },
  ...{ after: undefined, before: undefined, strategy: 1, by: 0 },
}

/**
 * A post of a reader is delivered while the reader's first page creates the cache: one history for
 * each call of the page.
 */
export const deliveriesDuringBuild: readonly Plan[] = Array.from({ length: 9 }, (_, at) => ({
  ...nothing,
  steps: [
    {
      ...{ kind: 'slow', held: firstPage, at, expired: true },
      concurrent: [op('post', 1, 0), newest],
    },
  ],
  ...{ sizes: [2], turn: 0 },
}))

/** More posts than a cache holds are delivered to it, and one of them is deleted. */
export const deletionFromFullCache: Plan = {
  ...nothing,
  steps: [
    ownPages,
    ...Array.from({ length: 5 }, () => [op('post', 1, 0), newest]).flat(),
    op('deletePost', 0, 3),
  ],
  ...{ sizes: [2], turn: 0 },
}

/** A page that reaches below the end of a cache is read while a post waits for its delivery. */
export const pageBelowCache: Plan = {
  ...{ ...nothing, posts: [1, 1, 1, 1, 1, 1] },
  steps: [{ kind: 'rest', newestFirst: false }, ownPages, op('post', 1, 0), firstPage],
  ...{ sizes: [2], turn: 0 },
}

/**
 * A process has read a timeline before another process raises the floor and removes the old
 * entries.
 */
export const staleFloor: Plan = {
  edges: [[1, 0]],
  ...{ posts: [0, 0], crowd: false, entries: ['id', 'text'] },
  steps: [
    { kind: 'rest', newestFirst: false },
    { ...ownPages, by: 1 },
    { kind: 'advance', ms: 3_000 },
    op('post', 0, 0),
    newest,
    newest,
    { ...ownPages, by: 1 },
  ],
  ...{ sizes: [2], turn: 0 },
}

/**
 * A delivery writes after the drop of its strategy, and the account of the author is removed before
 * the next registration.
 */
export const lateDelivery: Plan = {
  edges: [],
  ...{ posts: [0], crowd: false, entries: ['id', 'id'] },
  steps: [
    {
      kind: 'slow',
      held: { kind: 'work', job: 0, by: 0, inline: false, kept: false },
      ...{ at: 1, expired: false },
      concurrent: [op('deleteUser', 0, 0), { kind: 'drop', strategy: 0, cut: false }],
    },
  ],
  ...{ sizes: [1], turn: 0 },
}

export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  edges: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8, size: 'max' }),
  posts: fc.array(fc.nat(3), { maxLength: 8, size: 'max' }),
  crowd: fc.integer({ min: 0, max: 4 }).map((n) => n === 4),
  entries: fc.tuple(content, content),
  steps: fc
    .array(
      fc.oneof(
        { weight: 60, arbitrary: quick.map((step): Step[] => [step]) },
        { weight: 7, arbitrary: slow.map((step): Step[] => [step]) },
        { weight: 2, arbitrary: staleCache },
      ),
      { minLength: 5, maxLength: 40, size: 'max' },
    )
    .map((steps) => steps.flat()),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4, size: 'max' }),
  turn: fc.nat(5),
})
