import fc from 'fast-check'
import { BSON, type ObjectId } from 'mongodb'
import { expect } from 'vitest'
import { createIdempotencyKey } from '../../../src/db/idempotency.ts'
import { toObjectId } from '../../../src/db/object-id.ts'
import type { EngagementChange } from '../../../src/engagement/engagement.ts'
import { type EngagementKind, engagementKinds } from '../../../src/engagement/kinds.ts'
import { listLimits } from '../../../src/engagement/list-limits.ts'
import { sizeOf } from '../../../src/engagement/list-plan.ts'
import { type EngagementId, type PostRef, timeIdAt, type UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { engagementProblems, type Limits, sameLimits, strays } from '../../support/engagement.ts'
import { handle, openAccounts } from '../../support/services.ts'

/** What the lists of a post hold before a history. `list` is the name of one of them. */
type Given = (list: EngagementKind) => Readonly<Record<string, unknown>>

let entries = 0
/** An id of a year. Each is another one. */
const idOf = (year: number): ObjectId =>
  toObjectId(timeIdAt<EngagementId>(Date.UTC(year, 0), (entries++).toString(16).padStart(12, '0')))
const entry = (actor: unknown, more: object = {}) => ({ _id: idOf(2020), actor, ...more })
const stored = (list: EngagementKind, entries: readonly { readonly _id: ObjectId }[]) => ({
  [list]: entries,
  [`counts.${list}`]: entries.length,
  [`last.${list}`]: entries.at(-1)?._id,
})
/** Nearly fills a post with one text. @param room the bytes that a comment of one letter leaves. */
const nearlyFull =
  (room: number): Given =>
  (list) => {
    const { embeddedBytesMax } = listLimits(sameLimits(twinLimits))[list]
    const next = { _id: idOf(2020), actor: 'user-0', text: 'x', facets: [] }
    const bytes = embeddedBytesMax - sizeOf(next) - room
    const items = (text: string) => [entry('stranger', { text, facets: [] })]
    const missing = bytes - BSON.calculateObjectSize({ items: items('') })
    return stored(list, items('x'.repeat(missing)))
  }
const strangers = (count: number): Given => {
  const all = Array.from({ length: count }, (_, n) => entry(`stranger-${n}`))
  return (list) => stored(list, all)
}

/** Lists at their bounds. Law L2 holds for them. */
const bounds = {
  'nothing is stored': () => ({}),
  'one entry has room': strangers(2),
  'the post is full': strangers(3),
  'the post has room for a text, to the byte': nearlyFull(0),
  'the post has no room for a text, by a byte': nearlyFull(-1),
  'the post has room for some letters': nearlyFull(9),
} as const satisfies Record<string, Given>

const past = idOf(2020)
const future = idOf(2060)
/** Values that no release stores there, by their field: `list` stands for the name of a list. */
const malformed: readonly (readonly [string, unknown])[] = [
  ...[5, [], null, { other: 1 }].map((value) => ['counts', value] as const),
  ...['many', null, Number.NaN, [1]].map((value) => ['counts.list', value] as const),
  ...[{}, null, 'text', [5], [null], [[entry('user-1')]]].map((value) => ['list', value] as const),
  ...[['user-1'], null, 5].map((actor) => ['list', [entry(actor)]] as const),
  ['list', [{ actor: 'user-1' }]],
  ['list', [{ _id: 'text', actor: 'user-1' }]],
  ...['text', null, [], [{ list: past }]].map((value) => ['last', value] as const),
  ...['text', 5, null, new Date(0), future, [past], [null], {}].map(
    (value) => ['last.list', value] as const,
  ),
  ...[5, null, []].map((value) => ['levels', value] as const),
  ...[0, null, 'text', [], [null], {}, 2].map((value) => ['levels.list', value] as const),
  ['author', ['user-0']],
]
const nameOf = (field: string, value: unknown) => `${field} is ${JSON.stringify(value)}`
const withList = (list: EngagementKind, value: unknown): unknown =>
  Array.isArray(value) && value[0] && 'list' in Object(value[0])
    ? [{ [list]: value[0].list }]
    : value

/** What a post holds before a history, by a name. */
const givens: ReadonlyMap<string, Given> = new Map<string, Given>([
  ...Object.entries(bounds),
  ...malformed.map(([field, value]): [string, Given] => [
    nameOf(field, value),
    (list) => ({ [field.replace('list', list)]: withList(list, value) }),
  ]),
])

/** The names of all that a post may hold before a history. */
export const givenNames: readonly string[] = [...givens.keys()]

/** A write to both posts. */
interface TwinWrite {
  readonly verb: 'add' | 'remove'
  readonly kind: EngagementKind
  readonly user: number
  /** The letters of a text. */
  readonly letters: number
  /** How many writes the clock of its process is ahead. */
  readonly ahead: number
  /** OTHER: a process that reads writes to both posts. */
  readonly by: 'OWN' | 'OTHER'
  /** FORGED: the post is said to be another author's. LATE: the write was sent 13 seconds ago. */
  readonly as?: 'FORGED' | 'LATE' | undefined
  /** The number of its clientMutationId. */
  readonly mutation?: number | undefined
}

/** A history of two posts that are equal. */
export interface TwinPlan {
  readonly given: string
  /** The list that `given` is about. */
  readonly list: EngagementKind
  readonly writes: readonly TwinWrite[]
}

const [users, aheadMax] = [4, 6]
/**
 * The limits of lists in processes that play a plan, and of the other process: its variables
 * differ.
 */
export const twinLimits: Limits = { threshold: 3, capacity: 2 }
export const otherLimits: Limits = { threshold: 2, capacity: 1 }

const anyTwinWrite: fc.Arbitrary<TwinWrite> = fc.record({
  verb: fc.oneof(
    { weight: 7, arbitrary: fc.constant('add' as const) },
    { weight: 3, arbitrary: fc.constant('remove' as const) },
  ),
  kind: fc.constantFrom(...engagementKinds),
  user: fc.nat(users - 1),
  letters: fc.integer({ min: 1, max: 12 }),
  ahead: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -aheadMax, max: aheadMax }) },
  ),
  by: fc.oneof(
    { weight: 4, arbitrary: fc.constant('OWN' as const) },
    { weight: 1, arbitrary: fc.constant('OTHER' as const) },
  ),
  as: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('FORGED' as const, 'LATE' as const) },
  ),
  mutation: fc.option(fc.nat(4), { nil: undefined }),
})

export const anyTwinPlan: fc.Arbitrary<TwinPlan> = fc.record({
  given: fc.constantFrom(...givenNames),
  list: fc.constantFrom(...engagementKinds),
  writes: fc.array(anyTwinWrite, { minLength: 4, maxLength: 24, size: 'max' }),
})

/** The clock of a process that plays plans. */
export class TwinClock {
  at = Date.now()
  readonly now = () => this.at
  readonly advance = (ms: number) => {
    this.at += ms
  }
}

/** A process, with its clock. */
export interface TwinProcess {
  readonly services: Services
  readonly clock: TwinClock
}

/** The processes that play a plan. */
export interface TwinProcesses {
  /** Adds entries at once, because it keeps memory. */
  readonly direct: TwinProcess
  /** Keeps no memory, so it reads before it adds. */
  readonly reading: TwinProcess
  readonly other: TwinProcess
}

/** One of two equal posts. */
interface Twin {
  readonly process: TwinProcess
  readonly post: PostRef
  /** The ids of all entries that answers have named. */
  readonly ids: string[]
  readonly comments: EngagementId[]
  readonly answers: unknown[]
}

let [scenes, beganAt] = [0, 0]

/**
 * Applies a history to two equal posts: to one by a process that adds entries at once, to the other
 * by one that reads before. Answers and stored documents are equal, but for the ids. Of ids, the
 * order is equal.
 */
export async function playTwins(processes: TwinProcesses, plan: TwinPlan): Promise<void> {
  const { other, direct, reading } = processes
  const scene = `twins${scenes++}-`
  const people = Array.from({ length: users }, (_, n) => handle(`${scene}user-${n}`))
  const [author] = people as [UserId]
  await openAccounts(other.services, people)
  // No clock goes back between histories, however fast they are, and no write is late, however slow
  // the machine is.
  beganAt = Math.max(Date.now() + 600_000, beganAt + 10_000)
  other.clock.at = beganAt
  const twin = async (process: TwinProcess): Promise<Twin> => {
    const { id } = await other.services.posts.create(author, { text: 'twin' })
    const given = inScene(givens.get(plan.given)?.(plan.list) ?? {}, scene)
    const { posts } = other.services.collections
    if (Object.keys(given as object).length > 0)
      await posts.updateOne({ _id: toObjectId(id) }, { $set: given as object })
    return { process, post: { id, author }, ids: [], comments: [], answers: [] }
  }
  const twins = [await twin(direct), await twin(reading)] as const
  for (const [at, write] of plan.writes.entries()) {
    const [one, two] = [await apply(twins[0], write, at), await apply(twins[1], write, at)]
    expect(one, `answer ${at}, ${plan.given}`).toEqual(two)
  }
  const [one, two] = [await contentOf(twins[0], scene), await contentOf(twins[1], scene)]
  expect(one, plan.given).toEqual(two)
  if (!(plan.given in bounds)) return
  const posts = twins.map(({ post }) => post)
  const problems = await engagementProblems(other.services, twinLimits, posts)
  // No user has an entry of the beginning.
  expect(problems.filter((problem) => !problem.includes(' is not in the log'))).toEqual([])
  expect(await strays(other.services, posts)).toEqual([])

  async function apply(of: Twin, { verb, kind, by, as, ...write }: TwinWrite, at: number) {
    const { services, clock } = by === 'OWN' ? of.process : other
    // No two writes of a post have the same time, so ids have one order.
    clock.at =
      as === 'LATE' ? Date.now() - 13_000 : beganAt + (at + write.ahead + aheadMax) * 64 + at
    const actor = people[write.user % users] as UserId
    const post = as === 'FORGED' ? { ...of.post, author: people[1] as UserId } : of.post
    const { engagements } = services
    const text = 'x'.repeat(write.letters)
    const clientMutationId =
      write.mutation === undefined ? undefined : `${of.post.id} ${write.mutation}`
    const input = { clientMutationId, kind, text, as }
    const idempotencyKey = createIdempotencyKey(actor, verb, input)
    const writing = async (): Promise<EngagementChange> => {
      if (verb === 'add') return engagements.add(kind, actor, post, { text, idempotencyKey })
      if (kind !== 'comments') return engagements.remove(kind, actor, post, idempotencyKey)
      const id = of.comments[write.letters % Math.max(1, of.comments.length)]
      return id
        ? engagements.removeById({ kind, post, id }, actor, idempotencyKey)
        : { changed: false }
    }
    try {
      const { changed, entry, isRepeat } = await writing()
      if (entry) of.ids.push(entry.id)
      if (entry && kind === 'comments' && verb === 'add') of.comments.push(entry.id)
      of.answers.push({ changed, entry: entry?.id })
      return { changed, isRepeat, actor: entry?.actor, text: entry?.text }
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code === undefined) throw error
      return { code, message }
    }
  }

  /** What is stored of a post, and the answers, with places in the order of ids instead of ids. */
  async function contentOf({ post, ids, answers }: Twin, prefix: string) {
    const { posts, overflow, engagements_by_user } = other.services.collections
    const _id = toObjectId(post.id)
    const [stored] = await posts.find({ _id }).project({ _id: 0, guard: 0 }).toArray()
    const levels = await overflow.find({ '_id.post': _id }).sort({ '_id.level': 1 }).toArray()
    const rows = await engagements_by_user.find({ post: _id }).sort({ _id: 1 }).toArray()
    // Whatever else stands there counts no levels.
    const counted = Object.entries(stored?.levels ?? {})
      .filter(([, count]) => count !== null)
      .sort()
    // It says what the levels say, once a list of the post has been read.
    if (!(plan.given in bounds)) delete stored?.has_overflow
    const content = { stored: { ...stored, levels: counted }, levels, rows, answers }
    const all = new Set(ids)
    const collect = (_: string, value: unknown) => {
      if (typeof value === 'string' && /^[0-9a-f]{24}$/.test(value)) all.add(value)
      return value
    }
    const text = JSON.stringify(content, collect)
    const order = new Map(
      [...all]
        .filter((id) => id !== post.id)
        .sort()
        .map((id, at) => [id, at]),
    )
    return JSON.parse(text.replaceAll(prefix, ''), (_, value) =>
      value === post.id ? 'the post' : (order.get(value) ?? value),
    )
  }
}

/** Gives the users of a value the names that they have in a scene. */
const inScene = (value: unknown, scene: string): unknown => {
  if (typeof value === 'string' && value.startsWith('user-')) return scene + value
  if (Array.isArray(value)) return value.map((item) => inScene(item, scene))
  if (typeof value !== 'object' || value === null || '_bsontype' in value || value instanceof Date)
    return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, inScene(item, scene)]),
  )
}
