import type { CollectionName, Documents } from '../../db/collections.ts'
import type { Collection } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import { conforms } from '../../db/shape.ts'
import { type ShapedName, shapes } from '../../db/shapes.ts'
import { batches, chunks } from '../../lib/batch.ts'
import type { PostId, PostRef, TimeId, UserId } from '../../lib/ids.ts'
import { pageSizeMax } from '../../lib/page.ts'
import { timelineReactions } from '../../timeline/delivery/job-kinds.ts'
import {
  isBackfilled,
  maintainedIn,
  type Registered,
  type Registration,
} from '../../timeline/registry/registry.ts'
import {
  descriptors,
  type FeedStrategyName,
  type MaterialisedName,
} from '../../timeline/strategies/list.ts'
import { failureOf } from '../inspect.ts'
import type { Check, IntegrityServices, Run } from '../invariant.ts'
import { idRanges } from '../ranges.ts'
import { type Finding, findingOf } from '../report.ts'

const invariant = { name: 'timelines', law: 'L1' } as const

/** The most readers that one command loads, and that are checked concurrently. */
const [readersAtOnce, readersTogether] = [1_000, 4]
/** How often a timeline that differs is compared in total. */
const comparisons = 3
/** The most posts of each kind that a comparison lists, and that a finding names. */
const [postsMax, namedMax] = [200, 5]

/** The findings about the timelines of one reader. */
interface ReaderVerdict {
  readonly findings: readonly Finding[]
  /** Posts that a waiting job will deliver. */
  readonly inFlight: number
  /** The number of compared timelines. */
  readonly timelines: number
  /** Strategies with findings, and whether their timeline only lacks posts. */
  readonly broken: ReadonlyMap<MaterialisedName, 'LACKING' | 'WRONG'>
}

/**
 * Law L1: a stored timeline holds each entry once and in its place, and shows the same posts as
 * FANOUT_ON_READ. Compares every strategy that the database maintains and that covers the reader, a
 * few readers at a time. A missing post is in flight if a waiting job will deliver it, but not if
 * the job is parked. Does not compare a timeline that the read would create, such as a CACHE. Reads
 * pass over entries of deleted posts and of authors that the reader does not follow, so they are no
 * violation. If the run repairs, rebuilds timelines, and checks them again. Walks the timeline
 * twice for each strategy, and up to four times more if one differs.
 */
export const checkTimelines: Check = async (run) => {
  const { report } = run
  for await (const readers of readersOf(run)) {
    const registered = await run.registry.read()
    if (registered.size === 0) return
    for (const few of chunks(readers, readersTogether)) {
      run.signal?.throwIfAborted()
      await Promise.all(few.map((reader) => checkReader(run, reader, registered)))
      report.checked.readers += few.length
    }
  }
}

async function checkReader(run: Run, reader: UserId, registered: Registered): Promise<void> {
  const { report } = run
  try {
    const { findings, broken, ...verdict } = await judgeReader(run, reader, registered)
    report.checked.timelines += verdict.timelines
    report.inFlight += verdict.inFlight
    const isRepaired = run.repair && findings.length > 0
    if (isRepaired) await rebuildReader(run, reader, broken)
    const left = isRepaired ? (await judgeReader(run, reader, registered)).findings : findings
    const isLeft = ({ kind, subject }: Finding) =>
      left.some((one) => one.kind === kind && one.subject === subject)
    for (const finding of findings) report.add(finding, !isLeft(finding))
  } catch (error) {
    report.add({ ...failureOf(invariant, error), subject: reader })
  }
}

/** The ids of readers that have an account, up to 1,000 at a time. Two commands. */
async function* readersOf({
  collections: { user_stats, users },
  readers,
}: Run): AsyncGenerator<UserId[]> {
  const projection = { _id: 1 } as const
  const withAccount = async (ids: readonly unknown[]) => {
    const texts = ids.filter((id) => typeof id === 'string')
    const accounts = await users.find({ _id: { $in: texts } }, { projection }).toArray()
    return accounts.map(({ _id }) => _id as UserId)
  }
  if (readers === 0) return
  if (readers !== 'all') {
    const sample = user_stats.aggregate([{ $sample: { size: readers } }, { $project: projection }])
    yield withAccount((await sample.toArray()).map(({ _id }) => _id))
    return
  }
  for await (const range of idRanges(user_stats as unknown as Collection, readersAtOnce, '')) {
    const stats = await user_stats.find({ _id: range }, { projection }).toArray()
    yield withAccount(stats.map(({ _id }) => _id))
  }
}

async function judgeReader(
  run: Run,
  reader: UserId,
  registered: Registered,
): Promise<ReaderVerdict> {
  const findings: Finding[] = []
  const broken = new Map<MaterialisedName, 'LACKING' | 'WRONG'>()
  let [inFlight, timelines] = [0, 0]
  for (const registration of maintainedIn(registered)) {
    const flaw = await findFlaw(run, reader, registration)
    if (flaw === undefined) continue
    const [expected, found] = ['each entry once and in its place', flaw]
    const subject = `${reader} ${registration._id}`
    findings.push(findingOf(invariant, { kind: 'stored', subject, expected, found }))
    broken.set(registration._id, 'WRONG')
  }
  for (const registration of registered.values()) {
    if (!isBackfilled(registration, reader)) continue
    if (!(await isComparable(run, reader, registration))) continue
    timelines++
    const verdict = await judgeTimeline(run, reader, registration._id)
    inFlight += verdict.inFlight
    findings.push(...verdict.findings)
    if (verdict.findings.length === 0 || broken.has(registration._id)) continue
    const isLacking = verdict.findings.every(({ kind }) => kind === 'missing')
    broken.set(registration._id, isLacking ? 'LACKING' : 'WRONG')
  }
  return { findings, inFlight, timelines, broken }
}

/**
 * Rebuilds timelines of a reader. First deletes those that are wrong, and every cache, which the
 * next read fills. Then back-fills the missing posts. Keeps concurrent deliveries.
 */
export async function rebuildReader(
  { strategies, backfill }: IntegrityServices,
  reader: UserId,
  broken: ReaderVerdict['broken'],
): Promise<void> {
  for (const [name, what] of broken) {
    if (what === 'WRONG' || !descriptors[name].backfilled) {
      await strategies[name].deleteReader(reader)
    }
  }
  if ([...broken.keys()].some((name) => descriptors[name].backfilled)) {
    await backfill.refillReader(reader, new AbortController().signal)
  }
}

const collectionOf = ({ collections }: IntegrityServices, { _id }: Registration) =>
  collections[descriptors[_id].storedForm.collection] as unknown as Collection

/**
 * The first problem with the stored form of a timeline: an entry is stored twice, is misplaced, or
 * names another author. Two commands for each part of the timeline, as its descriptor defines them.
 */
async function findFlaw(
  run: IntegrityServices,
  reader: UserId,
  registration: Registration,
): Promise<string | undefined> {
  const { storedForm: form } = descriptors[registration._id]
  const documents = collectionOf(run, registration).find<Documents[CollectionName]>(
    form.ofReader(reader),
    { batchSize: 500 },
  )
  const shape = shapes[form.collection as ShapedName]
  for await (const some of batches(documents, form.documentsTogether)) {
    const readable = some.filter((document) => conforms(shape, document))
    if (readable.length < some.length) return 'a document of another shape'
    const posts = new Set<string>()
    const named = new Map<string, string>()
    for (const { post, author } of readable.flatMap((document) => form.entriesIn(document))) {
      const id = post.toHexString()
      if (posts.size === posts.add(id).size) return `${id} twice`
      if (author !== undefined) named.set(id, author)
    }
    const misplaced = readable.flatMap((document) => form.misplacedIn(document, registration) ?? [])
    if (misplaced.length > 0) return misplaced[0]
    const stored = run.collections.posts
      .find(
        { _id: { $in: [...named.keys()].map((id) => toObjectId(id as PostId)) } },
        { projection: { author: 1 } },
      )
      .hint({ _id: 1, author: 1 })
    for await (const { _id, author } of stored) {
      if (named.get(_id.toHexString()) !== author) return `${_id} with another author`
    }
  }
  return undefined
}

/**
 * Whether the stored timeline of a reader can be compared: a read must not create it. One command,
 * or none for strategies whose reads never create a timeline.
 */
async function isComparable(
  run: IntegrityServices,
  reader: UserId,
  registration: Registration,
): Promise<boolean> {
  const { comparable } = descriptors[registration._id].storedForm
  if (comparable === 'always') return true
  const timeline = comparable(reader, registration)
  const projection = { _id: 1 } as const
  return (await collectionOf(run, registration).findOne(timeline, { projection })) !== null
}

/** The differences of a timeline from FANOUT_ON_READ: the newest 200 posts of each kind. */
interface Comparison {
  /** Posts that only FANOUT_ON_READ shows. */
  readonly missing: readonly PostRef[]
  /** Posts that FANOUT_ON_READ does not show. */
  readonly extra: readonly PostRef[]
  /** Posts that are listed after an older post, or twice. */
  readonly misplaced: readonly PostRef[]
}

const differs = ({ missing, extra, misplaced }: Comparison): boolean =>
  missing.length + extra.length + misplaced.length > 0

async function judgeTimeline(run: Run, reader: UserId, strategy: MaterialisedName) {
  let comparison = await compare(run.feed, reader, strategy)
  let jobs: Jobs = { waiting: new Set(), parked: new Set() }
  for (let n = 2; n <= comparisons && differs(comparison); n++) {
    // Reads the jobs before the next comparison, which then shows the posts of all jobs that are
    // already done.
    jobs = await jobsFor(run, reader, comparison.missing)
    comparison = both(comparison, await compare(run.feed, reader, strategy))
  }
  const { missing, extra, misplaced } = comparison
  const lost = missing.filter(({ id }) => !jobs.waiting.has(id))
  const parked = lost.filter(({ id }) => jobs.parked.has(id)).length
  const rows = [
    ['missing', lost, 'all that FANOUT_ON_READ shows'],
    ['extra', extra, 'nothing that FANOUT_ON_READ does not show'],
    ['order', misplaced, 'newest first, each once'],
  ] as const
  const findings = rows.flatMap(([kind, posts, expected]) => {
    if (posts.length === 0) return []
    const why = kind === 'missing' && parked > 0 ? `; the jobs of ${parked} are parked` : ''
    const found = `${kind} ${listed(posts)}${why}`
    return [findingOf(invariant, { kind, subject: `${reader} ${strategy}`, expected, found })]
  })
  return { findings, inFlight: missing.length - lost.length }
}

function listed(posts: readonly PostRef[]): string {
  const named = posts.slice(0, namedMax).map(({ id }) => id)
  const count = posts.length < postsMax ? `${posts.length}` : `${postsMax} or more`
  return `${count}: ${named.join(', ')}${posts.length > namedMax ? ', …' : ''}`
}

/** Reads a reader's timeline to its end, in step with FANOUT_ON_READ. Holds one page of each. */
async function compare(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategy: MaterialisedName,
): Promise<Comparison> {
  const kept = { missing: [] as PostRef[], extra: [] as PostRef[], misplaced: [] as PostRef[] }
  const record = (kind: keyof Comparison, post: PostRef) => {
    if (kept[kind].length < postsMax) kept[kind].push(post)
  }
  const expected = walkTimeline(feed, reader, 'FANOUT_ON_READ')
  const actual = walkTimeline(feed, reader, strategy)
  let last: PostId | undefined
  const nextActual = async () => {
    for (;;) {
      const { done, value } = await actual.next()
      if (done) return undefined
      if (last !== undefined && value.id >= last) record('misplaced', value)
      else {
        last = value.id
        return value
      }
    }
  }
  let shown = await nextActual()
  for await (const post of expected) {
    while (shown && shown.id > post.id) {
      record('extra', shown)
      shown = await nextActual()
    }
    if (shown?.id === post.id) shown = await nextActual()
    else record('missing', post)
  }
  for (; shown; shown = await nextActual()) record('extra', shown)
  return kept
}

/** Reads a timeline page by page. One query of the feed for each page. */
async function* walkTimeline(
  feed: IntegrityServices['feed'],
  reader: UserId,
  strategy: FeedStrategyName,
): AsyncGenerator<PostRef, undefined> {
  for (let after: TimeId | undefined; ; ) {
    const window = { limit: pageSizeMax, backward: false, after }
    const page = await feed.timeline(reader, { strategy, window, projection: 'ref' })
    yield* page.items.map(({ post }) => post)
    const last = page.items.at(-1)?.at
    // Ends a walk whose cursor does not advance. The comparison reports its posts as misplaced.
    if (last === undefined || (after !== undefined && last >= after)) return
    if (!(await page.hasNextPage())) return
    after = last
  }
}

/**
 * The differences that two comparisons share. Misplaced posts need no second comparison: writes
 * cannot reorder a walk.
 */
function both(first: Comparison, second: Comparison): Comparison {
  const shared = (kind: 'missing' | 'extra') => {
    const ids = new Set(first[kind].map(({ id }) => id))
    return second[kind].filter(({ id }) => ids.has(id))
  }
  const misplaced = first.misplaced.length > 0 ? first.misplaced : second.misplaced
  return { missing: shared('missing'), extra: shared('extra'), misplaced }
}

/** The posts of waiting jobs and of parked jobs. */
interface Jobs {
  readonly waiting: ReadonlySet<string>
  readonly parked: ReadonlySet<string>
}

const deliveries = timelineReactions['post.created']
/** The job of an unfollow delivers the posts again if the edge exists again. */
const edgeJobs = [timelineReactions['follow.created'], timelineReactions['follow.ended']]

/** Finds the jobs that deliver these posts. One command on the outbox. */
async function jobsFor(
  { collections: { outbox } }: IntegrityServices,
  reader: UserId,
  posts: readonly PostRef[],
): Promise<Jobs> {
  const jobs = { waiting: new Set<string>(), parked: new Set<string>() }
  const delivered = posts.map(({ id, author }) => ({
    ...{ kind: deliveries, 'payload.author': author, 'payload.post': id },
  }))
  const followed = {
    ...{ kind: { $in: edgeJobs }, 'payload.author': null, 'payload.follower': reader },
    'payload.followee': { $in: [...new Set(posts.map(({ author }) => author))] },
  }
  for await (const { state, payload } of outbox.find({ $or: [...delivered, followed] })) {
    for (const { id, author } of posts) {
      if (payload.post !== id && payload.followee !== author) continue
      jobs[state === 'PARKED' ? 'parked' : 'waiting'].add(id)
    }
  }
  return jobs
}
