import type { UserId } from '../../src/lib/ids.ts'
import { postText } from '../feeds/bulk-data.ts'
import {
  addVisiblePost,
  type Expected,
  measure,
  type ReadResult,
  sendFor,
  sendOnce,
  type Visit,
} from './measure.ts'
import { isPostAt, pickAt, shuffle } from './plan.ts'
import { type HttpRequest, readPage } from './side.ts'

/** What is measured together. `--rows` names rows and groups. */
export const rowGroups = ['visits', 'pages', 'polls', 'mixes', 'posts', 'likes'] as const
export type RowGroup = (typeof rowGroups)[number]

/** The request of a row with a number. */
type RequestAt = (visit: Visit, at: number) => HttpRequest

/** A row of the benchmark: the same load for each side. */
export interface Row {
  readonly title: string
  readonly group: RowGroup
  /** What the rate of the default strategy over the rival's must at least be. */
  readonly least?: number
  /** Request number `at`. Each round sends other ones, and a warm-up others again. */
  readonly request?: RequestAt
  measure(visit: Visit): Promise<ReadResult>
}

/** The different requests of all rounds together. */
const [requestsOfRow, fewestRequests] = [4_000, 60]
/** Posts to large audiences, of all rounds together. */
const [largePosts, fewestLargePosts] = [480, 16]
const [warmUpRequests, fewestWarmUp] = [400, 20]
const firstPages = 100
/** How often a small audience asks for a page after a post of the hub. */
const [burstsOfRound, fewestBursts] = [6, 1]

const changed: Expected = { answer: '"changed":true' }

const shareOf = ({ sizeOf, rounds }: Visit, standard: number, smallest: number) =>
  Math.ceil(sizeOf(standard, smallest) / rounds)

/** The requests of this round. */
function requestsOf(
  visit: Visit,
  request: RequestAt,
  [standard, smallest] = [requestsOfRow, fewestRequests],
): HttpRequest[] {
  const share = shareOf(visit, standard, smallest)
  return Array.from({ length: share }, (_, at) => request(visit, visit.round * share + at))
}

/** A row whose requests are different ones, sent to the server that has been running. */
const eachOf = (request: RequestAt, expected?: Expected) => ({
  request,
  measure: (visit: Visit) => measure(visit, [requestsOf(visit, request)], expected),
})

/** Each row picks other readers and authors at random. The same in each run, and for each side. */
const seeds = { page: 1, mix: 2, mixOfTwo: 3, empty: 4, post: 5, largePost: 6 } as const

const pageAt =
  (seed: number): RequestAt =>
  ({ side, audience }, at) =>
    side.requests.page(pickAt(audience.readers, at, seed))

const postAt =
  (seed: number): RequestAt =>
  ({ side, audience }, at) =>
    side.requests.post(pickAt(audience.composers, at, seed), textOf(seed, at))

/** Each row has posts of its own. */
const textOf = (seed: number, at: number) => postText(seed * 100_000 + at)

/** Pages of readers and posts of composers, at random. */
export const mixAt =
  (seed: number): RequestAt =>
  (visit, at) =>
    (isPostAt(at, seed) ? postAt(seed) : pageAt(seed))(visit, at)

const largePostAt: RequestAt = ({ side, audience: { speakers } }, at) =>
  side.requests.post(speakers[at % speakers.length] as UserId, textOf(seeds.largePost, at))

/**
 * The readers of a round: those of a new process's first pages, those who warm it up, and those who
 * are measured.
 */
function splitReaders({ audience: { readers }, round }: Visit) {
  const all = shuffle(readers, round)
  const first = Math.min(firstPages, Math.floor(all.length / 4))
  const measured = first + Math.ceil((all.length - first) / 3)
  return {
    first: all.slice(0, first),
    warming: all.slice(first, measured),
    measured: all.slice(measured),
  }
}

const pagesOf = ({ side }: Visit, readers: readonly UserId[]) => readers.map(side.requests.page)

/** Measures pages of a small audience, each after a post of the hub, which all of them follow. */
async function measureChanged(visit: Visit, readers: readonly UserId[], bursts: number) {
  const changeAll = async function* () {
    for (let burst = 0; burst < bursts; burst++) {
      await addVisiblePost(visit)
      yield pagesOf(visit, readers)
    }
  }
  return measure(visit, changeAll())
}

const burstsOf = ({ sizeOf }: Visit) => sizeOf(burstsOfRound, fewestBursts)

/** @throws unless the reader's page has the last post of a row. */
async function verifyPosts(visit: Visit, reader: UserId, author: UserId, text: string) {
  const posts = await readPage(visit.side, reader)
  if (!posts.some((post) => post.text === text && post.author.handle === author))
    throw new Error(`${visit.side.name}: ${reader} does not see the last post of ${author}`)
}

/**
 * The rows in the order of a round and of the report. The first ones are of the process that has
 * just started.
 */
export const rows = {
  first_hundred: {
    title: 'first hundred pages of a process',
    group: 'visits',
    measure: (visit) => {
      const fresh = { ...visit, side: visit.fresh }
      return measure(fresh, [pagesOf(fresh, splitReaders(visit).first)])
    },
  },
  page_first_visit: {
    title: 'page, first visit of the reader',
    group: 'visits',
    least: 0.8,
    measure: async (visit) => {
      const fresh = { ...visit, side: visit.fresh }
      const { warming, measured } = splitReaders(visit)
      await sendOnce(fresh, pagesOf(fresh, warming))
      const others = { ...fresh, audience: { ...visit.audience, readers: warming } }
      await warmUp(others, [pageAt(seeds.page), mixAt(seeds.mix)])
      return measure(fresh, [pagesOf(fresh, measured)])
    },
  },
  page_second_visit: {
    title: 'page, second visit of the reader',
    group: 'visits',
    least: 1,
    measure: (visit) => {
      const fresh = { ...visit, side: visit.fresh }
      return measure(fresh, [pagesOf(fresh, splitReaders(visit).measured)])
    },
  },
  mix_two_processes: {
    title: 'mix, two processes',
    group: 'mixes',
    least: 1.3,
    measure: async (visit) => {
      const { side, fresh } = visit
      const joining = { ...visit, side: fresh }
      // First visits have a row of their own. Here both processes know all readers.
      await sendOnce(joining, pagesOf(joining, visit.audience.readers))
      await warmUp(joining, [mixAt(seeds.mixOfTwo)])
      const both = { ...visit, side: { ...side, servers: [...side.servers, ...fresh.servers] } }
      return measure(both, [requestsOf(both, mixAt(seeds.mixOfTwo))])
    },
  },
  mix: {
    title: 'mix, 6 pages : 1 post',
    group: 'mixes',
    least: 1,
    ...eachOf(mixAt(seeds.mix)),
  },
  page_random_warm: {
    title: 'page of a reader at random',
    group: 'pages',
    least: 1.2,
    ...eachOf(pageAt(seeds.page)),
  },
  page_changed: {
    title: 'page, changed before each request',
    group: 'pages',
    least: 1.2,
    measure: (visit) => measureChanged(visit, shuffle(visit.audience.readers, visit.round), 1),
  },
  page_10_followees: {
    title: 'page, changed, 10 followees',
    group: 'pages',
    measure: (visit) => measureChanged(visit, visit.audience.few, burstsOf(visit)),
  },
  page_1000_followees: {
    title: 'page, changed, 1,000 followees',
    group: 'pages',
    measure: (visit) => measureChanged(visit, visit.audience.many, burstsOf(visit)),
  },
  empty_request: {
    title: '`{ __typename }`',
    group: 'pages',
    least: 0.7,
    ...eachOf(({ side, audience }, at) =>
      side.requests.empty(pickAt(audience.readers, at, seeds.empty)),
    ),
  },
  poll_304: {
    title: 'poll, nothing new',
    group: 'polls',
    least: 2.5,
    measure: async (visit) => {
      const { side, audience } = visit
      const newest = await addVisiblePost(visit)
      const polls = await side.createPolls(shuffle(audience.readers, visit.round), newest)
      const expected = { status: side.pollStatus }
      // A client polls again and again.
      await measure(visit, [polls], expected)
      return measure(visit, [polls, polls], expected)
    },
  },
  poll_one_new: {
    title: 'poll, one new post',
    group: 'polls',
    least: 1.5,
    measure: async (visit) => {
      const newest = await addVisiblePost(visit)
      const readers = shuffle(visit.audience.readers, visit.round)
      const polls = await visit.side.createPolls(readers, newest)
      await addVisiblePost(visit)
      return measure(visit, [polls], { answer: '"count":1' })
    },
  },
  post_40: {
    title: 'post to about 40 followers',
    group: 'posts',
    least: 0.6,
    request: postAt(seeds.post),
    measure: async (visit) => {
      const requests = requestsOf(visit, postAt(seeds.post))
      const result = await measure(visit, [requests])
      const last = (visit.round + 1) * requests.length - 1
      const author = pickAt(visit.audience.composers, last, seeds.post)
      await verifyPosts(visit, author, author, textOf(seeds.post, last))
      return result
    },
  },
  post_2000: {
    title: 'post to 2,000 followers',
    group: 'posts',
    least: 0.6,
    request: largePostAt,
    measure: async (visit) => {
      const { speakers, crowd } = visit.audience
      const requests = requestsOf(visit, largePostAt, [largePosts, fewestLargePosts])
      const result = await measure(visit, [requests])
      const last = (visit.round + 1) * requests.length - 1
      const [author, follower] = [speakers[last % speakers.length], crowd.at(-1)]
      await verifyPosts(visit, follower as UserId, author as UserId, textOf(seeds.largePost, last))
      return result
    },
  },
  like_spread: {
    title: 'like of another post each',
    group: 'likes',
    least: 0.45,
    ...eachOf(({ side, audience: { likers, posts } }, at) => {
      const [liker, post] = [likers[at % likers.length], posts[at % posts.length]]
      if (!liker || !post) throw new Error('the graph has too few readers')
      return side.requests.like(liker, post)
    }, changed),
  },
  follow_spread: {
    title: 'follow of another account each',
    group: 'likes',
    least: 0.4,
    ...eachOf(({ side, audience: { crowd, followees } }, at) => {
      // Each of the crowd follows another one in each turn.
      const turn = Math.floor(at / crowd.length)
      const [follower, followee] = [
        crowd[at % crowd.length],
        followees[(at + turn) % followees.length],
      ]
      if (!follower || !followee) throw new Error('the graph has too few readers')
      return side.requests.follow(follower, followee)
    }, changed),
  },
} as const satisfies Readonly<Record<string, Row>>

export type RowName = keyof typeof rows
export const rowNames = Object.keys(rows) as RowName[]
/** Rows on a process that has just started. */
export const freshGroups: readonly RowGroup[] = ['visits', 'mixes']

/**
 * Loads a side with the requests of rows in turn, so that its code is compiled before it is
 * measured.
 */
export async function warmUp(visit: Visit, warmed: readonly RequestAt[]): Promise<void> {
  // Behind the requests of all rounds.
  const first = visit.sizeOf(requestsOfRow, fewestRequests) + visit.rounds
  for (const request of warmed) {
    const length = visit.sizeOf(warmUpRequests, fewestWarmUp)
    const requests = Array.from({ length }, (_, at) => request(visit, first + at))
    await sendFor(visit.warmUpMs / warmed.length, visit, requests)
  }
}
