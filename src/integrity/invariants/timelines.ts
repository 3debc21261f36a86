import { subscriptions } from '../../events.ts'
import { isBackfilled, type Registered } from '../../feed/registry.ts'
import {
  descriptors,
  type FeedStrategyName,
  type MaterialisedName,
} from '../../feed/strategies/list.ts'
import { chunks } from '../../lib/batch.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import { type Comparison, compareTimelines, postsMax } from '../compare-timelines.ts'
import { type Finding, findingOf, type IntegrityServices } from '../invariant.ts'
import { isComparable } from '../stored-entries.ts'

const invariant = { name: 'timelines', law: 'L1' } as const

/** How often a timeline that differs is compared in all. */
const comparisons = 3
/** Posts that a finding names. */
const namedMax = 5

/** What is wrong with the timelines of one reader, and what repairs it. */
export interface ReaderVerdict {
  readonly findings: readonly Finding[]
  /** Posts that a waiting job will deliver. */
  readonly inFlight: number
  /** How many timelines were compared. */
  readonly timelines: number
  /** Strategies whose timeline of this reader lacks posts, and no more than that. */
  readonly lacking: readonly MaterialisedName[]
  /** Strategies whose timeline of this reader shows too many posts, or another order. */
  readonly wrong: readonly MaterialisedName[]
}

/**
 * Law L1: a stored timeline shows the same posts as FANOUT_ON_READ. Compared for every strategy that the database
 * maintains and that covers the reader. Posts that a waiting job will deliver are in flight; parked jobs are no excuse.
 * A timeline that reading would create, such as a CACHE, is not compared. Walks the timeline once for each
 * strategy, and up to twice more where one differs.
 */
export async function compareReader(
  services: IntegrityServices,
  reader: UserId,
  registered: Registered,
): Promise<ReaderVerdict> {
  const strategies = await strategiesFor(services, reader, registered)
  const timelines = strategies.length
  let found = await compareTimelines(services.feed, reader, strategies)
  let jobs: Jobs = { waiting: new Set(), parked: new Set() }
  for (let n = 2; n <= comparisons; n++) {
    const differing = [...found].filter(([, one]) => differs(one))
    if (differing.length === 0)
      return { findings: [], inFlight: 0, timelines, lacking: [], wrong: [] }
    // Before the next comparison: a job that is done by now has delivered before that comparison.
    jobs = await jobsFor(
      services,
      reader,
      differing.flatMap(([, { missing }]) => missing),
    )
    const names = differing.map(([name]) => name)
    const again = await compareTimelines(services.feed, reader, names)
    found = new Map(names.map((name) => [name, both(found.get(name), again.get(name))]))
  }
  const { waiting } = jobs
  const late = [...found].flatMap(([, { missing }]) => missing.filter(({ id }) => waiting.has(id)))
  const verdicts = [...found].map(
    ([name, one]) => [name, findingsOf(reader, name, one, jobs)] as const,
  )
  return {
    findings: verdicts.flatMap(([, findings]) => findings),
    inFlight: late.length,
    timelines,
    lacking: namesOf(verdicts, (kinds) => kinds.every((kind) => kind === 'missing')),
    wrong: namesOf(verdicts, (kinds) => kinds.some((kind) => kind !== 'missing')),
  }
}

function namesOf(
  verdicts: readonly (readonly [FeedStrategyName, readonly Finding[]])[],
  match: (kinds: readonly string[]) => boolean,
): MaterialisedName[] {
  return verdicts.flatMap(([name, findings]) =>
    name !== 'FANOUT_ON_READ' && findings.length > 0 && match(findings.map(({ kind }) => kind))
      ? [name]
      : [],
  )
}

/**
 * Rebuilds the timelines of a reader: fills in what they lack, and drops before what is stored wrongly. A cache is
 * always dropped, and filled on the next read. What is delivered in between is kept.
 */
export async function rebuildReader(
  { strategies, backfill }: IntegrityServices,
  reader: UserId,
  lacking: readonly MaterialisedName[],
  wrong: readonly MaterialisedName[],
): Promise<void> {
  const names = [...lacking, ...wrong]
  const dropped = names.filter((name) => wrong.includes(name) || !descriptors[name].backfilled)
  for (const name of new Set(dropped)) await strategies[name].deleteReader(reader)
  if (names.some((name) => descriptors[name].backfilled)) {
    await backfill.refillReader(reader, new AbortController().signal)
  }
}

/** The strategies whose stored timeline of the reader can be compared. One command for each that reading may create. */
async function strategiesFor(
  services: IntegrityServices,
  reader: UserId,
  registered: Registered,
): Promise<FeedStrategyName[]> {
  const covering = [...registered.values()].filter((one) => isBackfilled(one, reader))
  const names: FeedStrategyName[] = []
  for (const one of covering) if (await isComparable(services, reader, one)) names.push(one._id)
  return names
}

/** The posts that a job will deliver, or would if it were not parked. */
interface Jobs {
  readonly waiting: ReadonlySet<string>
  readonly parked: ReadonlySet<string>
}

const deliveries = subscriptions['post.created'].timelines
const edgeJobs = [
  subscriptions['follow.created'].timelines,
  subscriptions['follow.ended'].timelines,
]

/** One command for 200 posts, over the outbox. */
async function jobsFor(
  { collections: { outbox } }: IntegrityServices,
  reader: UserId,
  posts: readonly PostRef[],
): Promise<Jobs> {
  const jobs = { waiting: new Set<string>(), parked: new Set<string>() }
  for (const some of chunks(posts, postsMax)) {
    const authors = [...new Set(some.map(({ author }) => author))]
    const delivered = some.map(({ id, author }) => ({
      kind: deliveries,
      'payload.author': author,
      'payload.post': id,
    }))
    const found = outbox.find({
      $or: [
        ...delivered,
        {
          // The end of an edge that stands again has the posts delivered again.
          kind: { $in: edgeJobs },
          'payload.author': null,
          'payload.follower': reader,
          'payload.followee': { $in: authors },
        },
      ],
    })
    for await (const { state, payload } of found) {
      const about = some.filter(
        ({ id, author }) => payload.post === id || payload.followee === author,
      )
      for (const { id } of about) (state === 'PARKED' ? jobs.parked : jobs.waiting).add(id)
    }
  }
  return jobs
}

const differs = ({ missing, extra, misplaced }: Comparison): boolean =>
  missing.length + extra.length + misplaced.length > 0

/** What two comparisons agree about. The order of a walk needs no second one: traffic cannot disturb it. */
function both(one: Comparison | undefined, other: Comparison | undefined): Comparison {
  const shared = (what: 'missing' | 'extra') => {
    const ids = new Set(one?.[what].map(({ id }) => id))
    return (other?.[what] ?? []).filter(({ id }) => ids.has(id))
  }
  const misplaced = [one, other].find((each) => each?.misplaced.length)?.misplaced ?? []
  return { missing: shared('missing'), extra: shared('extra'), misplaced }
}

function findingsOf(
  reader: UserId,
  strategy: FeedStrategyName,
  { missing, extra, misplaced }: Comparison,
  { waiting, parked }: Jobs,
): Finding[] {
  const lost = missing.filter(({ id }) => !waiting.has(id))
  const given = lost.filter(({ id }) => parked.has(id))
  const why = given.length > 0 ? `; the jobs of ${given.length} are parked` : ''
  const sorts = [
    { kind: 'missing', posts: lost, expected: 'all that FANOUT_ON_READ shows', more: why },
    {
      kind: 'extra',
      posts: extra,
      expected: 'nothing that FANOUT_ON_READ does not show',
      more: '',
    },
    { kind: 'order', posts: misplaced, expected: 'newest first, each once', more: '' },
  ]
  return sorts
    .filter(({ posts }) => posts.length > 0)
    .map(({ kind, posts, expected, more }) => {
      const found = `${kind} ${listed(posts)}${more}`
      return findingOf(invariant, { kind, subject: `${reader} ${strategy}`, expected, found })
    })
}

function listed(posts: readonly PostRef[]): string {
  const named = posts.slice(0, namedMax).map(({ id }) => id)
  const count = posts.length < postsMax ? `${posts.length}` : `${postsMax} or more`
  return `${count}: ${named.join(', ')}${posts.length > namedMax ? ', …' : ''}`
}
