import type { FeedStrategyName } from '../config.ts'
import type { Registered } from '../feed/registry.ts'
import { covers } from '../feed/registry.ts'
import { chunks } from '../lib/batch.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import { type Comparison, compareTimelines, postsMax } from './compare.ts'
import type { Difference, Tally, VerifyServices } from './run.ts'

/** Whose timelines are compared: so many taken at random, or everybody's. */
export type Readers = number | 'all'

/** Readers looked up at a time, and compared at the same time. */
const [readersAtOnce, readersTogether] = [1_000, 4]
/** How often a timeline that differs is compared in all. */
const looks = 3
/** Posts that are named of each sort of difference. */
const namedMax = 5

/**
 * Timelines that are not those of FANOUT_ON_READ (law L1), for every strategy that the database maintains and that
 * covers the reader. What is missing while a job waits that will deliver it is counted as in flight; jobs that were
 * parked are no excuse. A reader without a cache is not looked at under CACHE: looking would make one.
 * @param onProgress told after each batch how many readers have been looked at.
 */
export async function* timelineDifferences(
  services: VerifyServices,
  readers: Readers,
  tally: Tally,
  onProgress: (done: number) => void,
): AsyncGenerator<Difference> {
  for await (const some of readersOf(services, readers)) {
    const registered = await services.registry.read()
    if (registered.size === 0) return
    for (const few of chunks(some, readersTogether)) {
      const found = await Promise.all(
        few.map((reader) => differencesOf(services, reader, registered, tally)),
      )
      tally.checked.readers += few.length
      onProgress(tally.checked.readers)
      yield* found.flat()
    }
  }
}

async function* readersOf(
  { collections: { user_stats } }: VerifyServices,
  readers: Readers,
): AsyncGenerator<UserId[]> {
  if (readers === 0) return
  if (readers !== 'all') {
    const sample = user_stats.aggregate<{ _id: UserId }>([
      { $sample: { size: readers } },
      { $project: { _id: 1 } },
    ])
    yield (await sample.toArray()).map(({ _id }) => _id)
    return
  }
  for (let after = ''; ; ) {
    const found = await user_stats
      .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(readersAtOnce)
      .toArray()
    yield found.map(({ _id }) => _id as UserId)
    const last = found.at(-1)
    if (!last || found.length < readersAtOnce) return
    after = last._id
  }
}

async function differencesOf(
  services: VerifyServices,
  reader: UserId,
  registered: Registered,
  tally: Tally,
): Promise<Difference[]> {
  const strategies = await strategiesFor(services, reader, registered)
  tally.checked.timelines += strategies.length
  let found = await compareTimelines(services.feed, reader, strategies)
  let jobs: Jobs = { waiting: new Set(), parked: new Set() }
  for (let look = 2; look <= looks; look++) {
    const differing = [...found].filter(([, one]) => differs(one))
    if (differing.length === 0) return []
    // Before the next look: what has no job by now has been delivered before that look.
    jobs = await jobsFor(
      services,
      reader,
      differing.flatMap(([, { missing }]) => missing),
    )
    const names = differing.map(([name]) => name)
    const again = await compareTimelines(services.feed, reader, names)
    found = new Map(names.map((name) => [name, both(found.get(name), again.get(name))]))
  }
  return [...found].flatMap(([name, one]) => {
    const waiting = one.missing.filter((post) => jobs.waiting.has(post.id))
    tally.inFlight += waiting.length
    return told(`${reader} ${name}`, one, jobs)
  })
}

async function strategiesFor(
  { collections: { timeline_cache } }: VerifyServices,
  reader: UserId,
  registered: Registered,
): Promise<FeedStrategyName[]> {
  const covering = [...registered.values()].filter((one) => covers(one, reader))
  const cache = covering.find(({ _id }) => _id === 'CACHE')
  const whole = cache && { _id: reader, epoch: cache.epoch, building: { $exists: false } }
  const cached = whole && (await timeline_cache.findOne(whole, { projection: { _id: 1 } }))
  return covering.map(({ _id }) => _id).filter((name) => name !== 'CACHE' || cached)
}

/** The posts for which there is a job that delivers them. */
interface Jobs {
  readonly waiting: ReadonlySet<string>
  readonly parked: ReadonlySet<string>
}

/** One command for 200 posts, over the outbox. */
async function jobsFor(
  { collections: { outbox } }: VerifyServices,
  reader: UserId,
  posts: readonly PostRef[],
): Promise<Jobs> {
  const jobs = { waiting: new Set<string>(), parked: new Set<string>() }
  for (const some of chunks(posts, postsMax)) {
    const authors = [...new Set(some.map(({ author }) => author))]
    const delivered = some.map(({ id, author }) => ({
      kind: 'post.created',
      'payload.author': author,
      'payload.post': id,
    }))
    const found = outbox.find({
      $or: [
        ...delivered,
        {
          // The end of an edge that is back has the posts delivered anew.
          kind: { $in: ['follow.created', 'follow.ended'] },
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

/** What holds of two looks. The order of a walk is its own: traffic cannot disturb it. */
function both(one: Comparison | undefined, other: Comparison | undefined): Comparison {
  const shared = (what: 'missing' | 'extra') => {
    const ids = new Set(one?.[what].map(({ id }) => id))
    return (other?.[what] ?? []).filter(({ id }) => ids.has(id))
  }
  const misplaced = [one, other].find((each) => each?.misplaced.length)?.misplaced ?? []
  return { missing: shared('missing'), extra: shared('extra'), misplaced }
}

function told(
  subject: string,
  { missing, extra, misplaced }: Comparison,
  { waiting, parked }: Jobs,
): Difference[] {
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
    .map(({ kind, posts, expected, more }) => ({
      law: 'L1',
      kind,
      subject,
      expected,
      found: `${kind} ${listed(posts)}${more}`,
    }))
}

function listed(posts: readonly PostRef[]): string {
  const named = posts.slice(0, namedMax).map(({ id }) => id)
  const count = posts.length < postsMax ? `${posts.length}` : `${postsMax} or more`
  return `${count}: ${named.join(', ')}${posts.length > namedMax ? ', …' : ''}`
}
