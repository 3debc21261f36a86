import type { Document } from 'mongodb'
import { beforeEach, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import {
  clockSkewMaxMs,
  IdMint,
  neighbour,
  type PostId,
  type TimeId,
  timeIdAt,
  timeOf,
  type UserId,
} from '../../src/lib/ids.ts'
import { commitMsMax, deliveryMsMax, Watermarks } from '../../src/timeline/pages/watermark.ts'
import { useFeedFixture } from '../support/feed-fixture.ts'
import { recorded } from '../support/mongo.ts'
import { handle } from '../support/services.ts'

const fixture = useFeedFixture('INBOX', 'author')
const nowMs = Date.UTC(2030, 0, 1)
const mint = new IdMint(Date.now)
const postAt = (agoMs: number) => timeIdAt<PostId>(nowMs - agoMs, '000000000001')

/** The watermark of a reader, and how long before now it is, in milliseconds. */
async function load(
  reader: UserId,
  strategy: 'INBOX' | 'FANOUT_ON_READ' = 'INBOX',
  group?: string,
) {
  const watermarks = new Watermarks(fixture.services.pending, () => nowMs)
  const { result, commands } = await recorded(fixture.harness.database.client, () =>
    watermarks.load(reader, strategy, group),
  )
  const { watermark } = result
  return { watermark, agoMs: nowMs - timeOf(neighbour(watermark, 1)).getTime(), commands }
}

/** Inserts waiting deliveries, as posts do. */
async function waiting(payloads: readonly Document[], state = 'READY') {
  const jobs = payloads.map((payload) => ({
    _id: toObjectId(mint.next<TimeId>()),
    ...{ kind: 'post.created', payload, state, queue: 'QUICK', runAt: new Date(), fence: 0 },
    attempts: 0,
  }))
  await fixture.collections.outbox.insertMany(jobs as never[])
}

beforeEach(() => fixture.collections.outbox.deleteMany({}))

describe('the watermark', () => {
  test('it is below every post that a transaction of a host within the skew may still commit', async () => {
    const { reader } = await fixture.people('reader')
    // What a process reads once.
    await load(reader)
    const bound = commitMsMax + clockSkewMaxMs
    expect(bound).toBe(11_500)
    expect(await load(reader)).toMatchObject({ agoMs: bound, commands: [{}] })
    expect(await load(reader, 'FANOUT_ON_READ')).toMatchObject({ agoMs: bound, commands: [] })
  })

  test('it is right below the first undelivered post of an author that the reader sees, in two commands', async () => {
    const { reader, author, second, stranger, muted } = await fixture.people(
      ...(['reader', 'author', 'second', 'stranger', 'muted'] as const),
    )
    for (const followee of [author, second, muted]) await fixture.follow(reader, followee)
    await fixture.services.restrictions.mute(reader, muted)
    await fixture.rest()
    await waiting([
      { author, post: postAt(20_000) },
      { author, post: postAt(30_000) },
      { author: second, post: postAt(25_000) },
      { author: stranger, post: postAt(40_000) },
      { author: muted, post: postAt(50_000) },
    ])
    // From the third read on, the relations and the accounts are in memory.
    for (let times = 0; times < 2; times++) await load(reader)
    const found = await load(reader)
    expect(found.watermark).toBe(neighbour(postAt(30_000), -1))
    expect(found.commands).toHaveLength(2)
    expect((await load(reader, 'FANOUT_ON_READ')).agoMs).toBe(11_500)
    expect((await load(stranger)).watermark).toBe(neighbour(postAt(40_000), -1))
    expect((await load(reader, 'INBOX', 'close')).agoMs).toBe(11_500)
    await fixture.services.follows.setGroups(reader, second, ['close'])
    expect((await load(reader, 'INBOX', 'close')).watermark).toBe(neighbour(postAt(25_000), -1))
  })

  test('a fresh undelivered post does not raise it', async () => {
    const { reader } = await fixture.people('reader')
    await waiting([{ author: reader, post: postAt(10) }])
    expect((await load(reader)).agoMs).toBe(11_500)
  })

  test('a parked delivery holds it back for ten minutes and not for ever', async () => {
    const { reader } = await fixture.people('reader')
    await waiting([{ author: reader, post: postAt(deliveryMsMax - 1) }], 'PARKED')
    expect((await load(reader)).watermark).toBe(neighbour(postAt(deliveryMsMax - 1), -1))
    await fixture.collections.outbox.deleteMany({})
    await waiting([{ author: reader, post: postAt(deliveryMsMax + 1) }], 'PARKED')
    expect((await load(reader)).agoMs).toBe(11_500)
  })

  test('it is ten minutes old while deliveries of more than 2,000 authors wait', async () => {
    const { reader } = await fixture.people('reader')
    await waiting(
      Array.from({ length: 2_001 }, (_, n) => ({ author: handle(`s${n}`), post: postAt(20_000) })),
    )
    expect(await load(reader)).toMatchObject({ agoMs: deliveryMsMax })
  })
})
