import { raiseTimelines } from '../../db/versions.ts'
import { timelineReactions } from '../../feed/delivery/job-kinds.ts'
import { isBackfilled, type Registered } from '../../feed/registry/registry.ts'
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

export const timelinesId = { name: 'timelines', law: 'L1' } as const

/** How often a timeline that differs is compared in total. */
const comparisons = 3
/** The most posts that a finding names. */
const namedMax = 5

/** The findings about the timelines of one reader, and the strategies to repair. */
export interface ReaderVerdict {
  readonly findings: readonly Finding[]
  /** Posts that a waiting job will deliver. */
  readonly inFlight: number
  /** The number of compared timelines. */
  readonly timelines: number
  /** Strategies whose timeline of this reader only lacks posts. */
  readonly lacking: readonly MaterialisedName[]
  /** Strategies whose timeline of this reader shows extra posts, or another order. */
  readonly wrong: readonly MaterialisedName[]
}

/**
 * Law L1: a stored timeline shows the same posts as FANOUT_ON_READ. Compares every strategy that the database maintains
 * and that covers the reader. A missing post is in flight if a waiting job will deliver it, but not if the job is
 * parked. Does not compare a timeline that the read would create, such as a CACHE. Walks the timeline once for each
 * strategy, and up to twice more if one differs.
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
    // Reads the jobs before the next comparison, which then shows the posts of all jobs that are already done.
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
 * Rebuilds the timelines of a reader. First deletes the timelines that are wrong, and every cache, which the next read
 * fills. Then back-fills the missing posts. Keeps concurrent deliveries.
 */
export async function rebuildReader(
  { collections, strategies, backfill }: IntegrityServices,
  reader: UserId,
  lacking: readonly MaterialisedName[],
  wrong: readonly MaterialisedName[],
): Promise<void> {
  const names = [...lacking, ...wrong]
  const dropped = names.filter((name) => wrong.includes(name) || !descriptors[name].backfilled)
  for (const name of new Set(dropped)) await strategies[name].deleteReader(reader)
  await raiseTimelines(collections, [reader])
  if (names.some((name) => descriptors[name].backfilled)) {
    await backfill.refillReader(reader, new AbortController().signal)
  }
}

/** The strategies whose stored timeline of the reader can be compared. At most one command for each strategy. */
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

/** The posts of waiting jobs and of parked jobs. */
interface Jobs {
  readonly waiting: ReadonlySet<string>
  readonly parked: ReadonlySet<string>
}

const deliveries = timelineReactions['post.created']
const edgeJobs = [timelineReactions['follow.created'], timelineReactions['follow.ended']]

/** Finds the jobs that deliver these posts. One command on the outbox for 200 posts. */
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
          // The job of an unfollow delivers the posts again if the edge exists again.
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

/**
 * The differences that two comparisons share. Misplaced posts need no second comparison: writes cannot reorder a walk.
 */
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
      return findingOf(timelinesId, { kind, subject: `${reader} ${strategy}`, expected, found })
    })
}

function listed(posts: readonly PostRef[]): string {
  const named = posts.slice(0, namedMax).map(({ id }) => id)
  const count = posts.length < postsMax ? `${posts.length}` : `${postsMax} or more`
  return `${count}: ${named.join(', ')}${posts.length > namedMax ? ', …' : ''}`
}
