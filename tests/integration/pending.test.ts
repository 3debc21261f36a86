import type { Document } from 'mongodb'
import { ObjectId } from 'mongodb'
import { beforeEach, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { IdMint, type PostId, type TimeId, type UserId } from '../../src/lib/ids.ts'
import type { FeedStrategy } from '../../src/timeline/strategies/strategy.ts'
import { useFeedFixture } from '../support/feed-fixture.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle } from '../support/services.ts'

const fixture = useFeedFixture('INBOX', 'author', ['FANOUT_ON_READ', 'INBOX', 'CACHE'])
const mint = new IdMint(Date.now)

const pending = (reader: UserId, group?: string) =>
  fixture.services.pending.hasPendingPosts(reader, group)

/** Inserts waiting jobs, as writes do. */
async function waiting(kind: string, payloads: readonly Document[], state = 'READY') {
  const jobs = payloads.map((payload) => ({
    _id: toObjectId(mint.next<TimeId>()),
    ...{ kind, payload, state, queue: 'QUICK', runAt: new Date(), fence: 0, attempts: 0 },
  }))
  await fixture.collections.outbox.insertMany(jobs as never[])
}

/** Waiting deliveries of authors without accounts. */
const strangers = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    author: handle(`stranger${n}`),
    post: mint.next<PostId>(),
  }))

beforeEach(() => fixture.collections.outbox.deleteMany({}))

describe('pending', () => {
  test('pending is true for the author and the followers of an undelivered post, also with a parked job, and for no one else', async () => {
    const { author, fan, other } = await fixture.people('author', 'fan', 'other')
    await fixture.follow(fan, author)
    await fixture.rest()
    await fixture.post(author)
    const all = async () => Promise.all([author, fan, other].map((one) => pending(one)))
    expect(await all()).toEqual([true, true, false])
    await fixture.collections.outbox.updateMany({}, { $set: { state: 'PARKED' } })
    expect(await all()).toEqual([true, true, false])
    await fixture.takeJobs()
    expect(await all()).toEqual([false, false, false])
  })

  test('pending is exact while deliveries of up to 2,000 authors wait, and true for every reader beyond that', async () => {
    const { author, fan, other } = await fixture.people('author', 'fan', 'other')
    await fixture.follow(fan, author)
    await fixture.rest()
    await waiting('post.created', strangers(1_999))
    await fixture.post(author)
    expect([await pending(fan), await pending(other)]).toEqual([true, false])
    await waiting('post.created', [{ author: handle('stranger-last'), post: mint.next() }])
    expect([await pending(fan), await pending(other)]).toEqual([true, true])
  })

  test('pending is false while only deliveries of posts wait that the timeline does not show', async () => {
    const { reader, ...authors } = await fixture.people(
      'reader',
      'muted',
      'blocked',
      'gone',
      'quiet',
    )
    const { muted, blocked, gone, quiet } = authors
    const { restrictions, users } = fixture.services
    for (const author of Object.values(authors)) await fixture.follow(reader, author)
    await fixture.rest()
    const posts = new Map<UserId, PostId>()
    for (const author of Object.values(authors)) posts.set(author, await fixture.post(author))
    expect(await pending(reader)).toBe(true)
    await restrictions.mute(reader, muted)
    await restrictions.block(reader, blocked)
    await users.delete(gone)
    expect(await pending(reader)).toBe(true)
    await fixture.remove(quiet, posts.get(quiet) as PostId)
    expect(await pending(reader)).toBe(false)
    await restrictions.unmute(reader, muted)
    expect(await pending(reader)).toBe(true)
  })

  test('pending of a group considers only the members of the group, and not the reader', async () => {
    const { reader, inside, outside } = await fixture.people('reader', 'inside', 'outside')
    for (const author of [inside, outside]) await fixture.follow(reader, author)
    await fixture.services.follows.setGroups(reader, inside, ['close'])
    await fixture.rest()
    for (const author of [outside, reader]) await fixture.post(author)
    expect([await pending(reader), await pending(reader, 'close')]).toEqual([true, false])
    await fixture.post(inside)
    expect(await pending(reader, 'close')).toBe(true)
  })

  test('pending is true during a back-fill until the edge ends or the followee is muted', async () => {
    const { reader, author, other } = await fixture.people('reader', 'author', 'other')
    await fixture.follow(reader, author)
    const all = async () => Promise.all([reader, author, other].map((one) => pending(one)))
    expect(await all()).toEqual([true, false, false])
    await fixture.services.restrictions.mute(reader, author)
    expect(await all()).toEqual([false, false, false])
    await fixture.services.restrictions.unmute(reader, author)
    await fixture.services.follows.unfollow(reader, author)
    expect(await all()).toEqual([false, false, false])
  })

  test('pending costs one command with one key per author, and one more while a delivery to the reader waits', async () => {
    const { author, fan, other } = await fixture.people('author', 'fan', 'other')
    await fixture.follow(fan, author)
    await fixture.rest()
    await fixture.post(author)
    const repeated = strangers(40).flatMap((one) => Array.from({ length: 50 }, () => one))
    await waiting('post.created', repeated)
    const sent = async (reader: UserId) =>
      (await recorded(fixture.harness.database.client, () => pending(reader))).commands
    // From the third read on, the relations of a reader are in memory.
    for (let times = 0; times < 2; times++) for (const reader of [fan, other]) await sent(reader)
    const names = ['aggregate', 'aggregate']
    expect((await sent(fan)).map(({ name }) => name)).toEqual(names)
    const [command, ...more] = await sent(other)
    expect(more).toEqual([])
    const { keys, docs } = await examined(command as RecordedCommand)
    expect(docs).toBe(0)
    expect(keys).toBeLessThan(50)
  })
})

describe('a page', () => {
  /** A reader with more posts than a cache contains, and one more post whose delivery waits. */
  async function scene() {
    const { reader, author } = await fixture.people('reader', 'author')
    await fixture.follow(reader, author)
    await fixture.rest()
    const old = await fixture.stored(author, 8)
    await fixture.page(reader, {}, { strategy: 'CACHE' })
    return { reader, late: await fixture.post(author), old }
  }

  const read = async (reader: UserId, strategy: 'CACHE' | 'INBOX', limit = 20) => {
    const window = { limit, backward: false }
    const asked = { window, projection: 'ref', strategy, pending: true } as const
    const page = await fixture.services.feed.timeline(reader, asked)
    return { ...page, ids: page.items.map(({ post }) => post.id) }
  }

  test('a page reports a pending delivery though only its first part comes from a cache', async () => {
    const { reader, late, old } = await scene()
    const page = await read(reader, 'CACHE')
    expect(page).toMatchObject({ ids: old, servedBy: 'FANOUT_ON_READ', pending: true })
    await fixture.rest()
    expect(await read(reader, 'CACHE')).toMatchObject({ ids: [late, ...old], pending: false })
  })

  test('a page reports a pending delivery that ends right after its candidates were read', async () => {
    const { reader, late } = await scene()
    const { INBOX } = fixture.services.strategies
    const right: FeedStrategy['proposeCandidates'] = INBOX.proposeCandidates.bind(INBOX)
    INBOX.proposeCandidates = async (ask) => {
      const found = await right(ask)
      await fixture.rest()
      return found
    }
    const page = await read(reader, 'INBOX').finally(() => {
      INBOX.proposeCandidates = right
    })
    expect(page.ids).not.toContain(late)
    expect(page.pending).toBe(true)
    expect((await read(reader, 'INBOX')).ids).toContain(late)
  })

  test('a page ends though the registration changes with every read', async () => {
    const { reader, late, old } = await scene()
    const { INBOX } = fixture.services.strategies
    const { strategies } = fixture.collections
    const right: FeedStrategy['proposeCandidates'] = INBOX.proposeCandidates.bind(INBOX)
    let reads = 0
    INBOX.proposeCandidates = async (ask) => {
      reads++
      await strategies.updateOne({ _id: 'INBOX' }, { $set: { epoch: new ObjectId() } })
      return right(ask)
    }
    const page = await read(reader, 'INBOX').finally(() => {
      INBOX.proposeCandidates = right
    })
    expect(reads).toBe(3)
    expect(page).toMatchObject({ ids: [late, ...old], servedBy: 'FANOUT_ON_READ', pending: false })
    expect((await read(reader, 'INBOX')).servedBy).toBe('INBOX')
  })
})

test('whyNotInTimeline reports a waiting delivery in a process that knows no registered strategy', async () => {
  const { reader, author } = await fixture.people('reader', 'author')
  await fixture.follow(reader, author)
  await fixture.rest()
  const post = { id: await fixture.post(author), author }
  const { registry, reasons } = fixture.services
  Object.assign(registry, { latest: new Map() })
  expect(await reasons.explainPost(reader, post)).toMatchObject({ shown: true, pending: true })
  await fixture.rest()
  expect(await reasons.explainPost(reader, post)).toMatchObject({ shown: true, pending: false })
})

/** What the parts of a command examined, as the server explains it. */
async function examined({ command }: RecordedCommand) {
  const { lsid, $db, $clusterTime, $readPreference, readConcern, writeConcern, ...bare } = command
  const { db } = fixture.harness.database
  const plan = await db.command({ explain: bare, verbosity: 'executionStats' })
  const total = { keys: 0, docs: 0 }
  for (const part of [plan.executionStats ?? {}, ...(plan.stages ?? [])]) {
    total.keys += Number(part.totalKeysExamined ?? 0)
    total.docs += Number(part.totalDocsExamined ?? 0)
  }
  return total
}
