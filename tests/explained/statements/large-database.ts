import type { Document } from 'mongodb'
import type { CollectionName, Collections } from '../../../src/db/collections.ts'
import { highestId, lowestId, toObjectId } from '../../../src/db/object-id.ts'
import { engagementKinds } from '../../../src/engagement/kinds.ts'
import { type TimeId, timeIdAt } from '../../../src/lib/ids.ts'
import { feedStrategyNames } from '../../../src/timeline/strategies/list.ts'
import { storedNames } from '../../support/services.ts'

/** Documents in each collection, enough to detect a command that reads all of them. */
export const documentsEach = 4_000
/** Every fourth document belongs to {@link hot}. */
const hotEvery = 4
/** The owner of a quarter of all documents. Many users own the rest. */
export const hot = 'hot'
const startMs = Date.UTC(2026, 0, 1)
const stepMs = 3_600_000

/** The id of the nth document of every collection, and of the nth post. */
export const idAt = (n: number) =>
  toObjectId(timeIdAt<TimeId>(startMs + n * stepMs, n.toString(16).padStart(12, '0')))
/** The ids that belong to {@link hot}. */
export const hotIds = Array.from({ length: documentsEach / hotEvery }, (_, n) => idAt(n * hotEvery))
/** The period of {@link idAt}, with buckets of an hour. */
const periodAt = (n: number) => Math.floor((startMs + n * stepMs) / stepMs)
/** The periods in which {@link hot} has a bucket. */
export const hotPeriods = hotIds.map((_, n) => periodAt(n * hotEvery))
/** The other users in the documents of {@link hot}. */
export const others = hotIds.map((_, n) => otherAt((n + 1) * hotEvery))

function otherAt(n: number): string {
  return `u${n % documentsEach}`
}
const ownerAt = (n: number) =>
  n % hotEvery === 0 ? hot : `u${((n * hotEvery) % documentsEach) + hotEvery}`

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T
const entryAt = (n: number) => ({ post: idAt(n), author: ownerAt(n) })
const entriesFrom = (n: number, count: number) =>
  Array.from({ length: count }, (_, k) => entryAt((n + k * hotEvery) % documentsEach))

const jobKinds = ['post.created', 'post.deleted', 'follow.created', 'follow.ended', 'user.deleted']

function jobAt(n: number): Document {
  const kind = pick(jobKinds, Math.floor(n / hotEvery))
  const pair = { follower: ownerAt(n), followee: otherAt(n) }
  const post = { author: ownerAt(n), post: idAt(n).toHexString() }
  return {
    _id: idAt(n),
    about: kind.startsWith('post') || kind.startsWith('follow') ? ownerAt(n) : hot,
    kind,
    payload: kind.startsWith('post') ? post : kind.startsWith('follow') ? pair : { user: hot },
    state: n % 100 === 0 ? 'PARKED' : 'READY',
    queue: n % 3 === 0 ? 'BULK' : 'QUICK',
    runAt: new Date(n % 2 === 0 ? startMs + n : startMs * 2 + n),
    fence: 0,
    attempts: 0,
  }
}

/** The nth document of each collection. */
const documentAt: Readonly<Record<CollectionName, ((n: number) => Document) | undefined>> = {
  users: (n) => ({ _id: otherAt(n), name: `name ${n}`, createdAt: new Date(startMs) }),
  handles: (n) => ({ _id: otherAt(n), account: otherAt(n) }),
  subjects: (n) => ({ _id: ` ${otherAt(n)}`, account: otherAt(n) }),
  user_stats: (n) => ({ _id: otherAt(n), followers: 5, following: 5, posts: 5 }),
  followers: (n) => ({
    _id: idAt(n),
    user: ownerAt(n),
    follower: otherAt(n),
    source: 'FEEDLINE',
    groups: ['close'],
  }),
  following: (n) => ({
    _id: idAt(n),
    user: ownerAt(n),
    followee: otherAt(n),
    source: 'FEEDLINE',
    ...(n % 7 === 0 ? { groups: ['close'] } : {}),
  }),
  follow_events: (n) => ({
    _id: idAt(n),
    user: ownerAt(n),
    followee: otherAt(n),
    type: 'FOLLOWED',
    source: 'FEEDLINE',
    at: new Date(startMs),
  }),
  restrictions: (n) => ({
    _id: idAt(n),
    owner: ownerAt(n),
    other: otherAt(n),
    kind: pick(['MUTE', 'BLOCK', 'BLOCKED_BY'], n),
  }),
  posts: (n) => ({
    _id: idAt(n),
    author: ownerAt(n),
    text: `post ${n}`,
    likes: [{ _id: idAt(n), actor: otherAt(n) }],
    counts: { likes: 1 },
  }),
  overflow: (n) => ({
    _id: {
      post: idAt(n - (n % hotEvery)),
      kind: pick(engagementKinds, n),
      level: n % hotEvery,
    },
    first: idAt(n),
    count: 1,
    items: [{ _id: idAt(n), actor: otherAt(n) }],
  }),
  engagements_by_user: (n) => ({
    _id: idAt(n),
    user: ownerAt(n),
    kind: pick(engagementKinds, n),
    post: idAt(n),
    author: otherAt(n),
  }),
  timed_buckets: (n) => ({
    _id: { reader: ownerAt(n), period: periodAt(n) },
    entries: entriesFrom(n, 3),
  }),
  sized_buckets: (n) => ({
    _id: idAt(n),
    reader: ownerAt(n),
    count: 3,
    newest: n + hotEvery < documentsEach ? idAt(n + hotEvery - 1) : highestId,
    oldest: n + hotEvery < documentsEach ? idAt(n) : lowestId,
    entries: [entryAt(n)],
    ...(n + hotEvery < documentsEach ? {} : { open: true }),
  }),
  timeline_cache: (n) => ({
    _id: otherAt(n),
    epoch: idAt(0),
    entries: entriesFrom(n, 20).reverse(),
    floor: lowestId,
    expiresAt: new Date(startMs * 2),
  }),
  inbox: (n) => ({ _id: { reader: ownerAt(n), post: idAt(n) }, author: otherAt(n) }),
  outbox: jobAt,
  idempotency_keys: (n) => ({ _id: `${otherAt(n)} ${n}`, at: new Date(startMs * 2) }),
  imports: (n) => ({ _id: `import ${n}` }),
  rate_limits: (n) => ({
    _id: `client ${n}`,
    cost: 1_000,
    at: new Date(startMs * 2),
    expiresAt: new Date(startMs * 2),
    hasMutations: true,
    hasCost: true,
  }),
  // These do not grow.
  strategies: undefined,
  meta: undefined,
}

/**
 * Fills every growing collection, so that a command that reads all of a collection can be detected.
 */
export async function fill(collections: Collections): Promise<void> {
  for (const [name, at] of Object.entries(documentAt)) {
    if (!at) continue
    const docs = Array.from({ length: documentsEach }, (_, n) => at(n))
    const collection = collections[name as CollectionName]
    await collection.insertMany(docs as never[], { ordered: false })
  }
  const { users, user_stats, timeline_cache, strategies } = collections
  await users.insertOne({ _id: hot, ...storedNames(hot), createdAt: new Date(startMs) })
  await user_stats.insertOne({ _id: hot, followers: 1_000, following: 1_000, posts: 1_000 })
  await timeline_cache.insertOne({
    _id: hot,
    epoch: idAt(0),
    entries: entriesFrom(0, 50).reverse(),
    floor: lowestId,
    expiresAt: new Date(startMs * 2),
  })
  const registered = { epoch: idAt(0), covered: '', complete: true, options: {} }
  await strategies.insertMany(feedStrategyNames.slice(1).map((_id) => ({ _id, ...registered })))
}
