import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt } from '../../src/lib/ids.ts'
import { explained, statementsOf } from '../explained/statements/explain.ts'
import { useFeedFixture } from '../support/feed-fixture.ts'
import { recorded } from '../support/mongo.ts'
import { handle, storeOf } from '../support/services.ts'

/** The number of entries of muted authors, newer than all other entries. */
const hidden = 5_000
const strategies = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'INBOX'] as const

describe.each(strategies)('a page under %s', (name) => {
  const fixture = useFeedFixture(name, 'author', ['FANOUT_ON_READ', name], {
    sizedBucketSize: 50,
    timeBucketDays: 7,
  })
  const startMs = Date.UTC(2026, 0, 1)
  let reader = handle('')
  let wanted: PostId[] = []

  beforeAll(async () => {
    const users = await fixture.people('reader', 'loud', 'louder', 'quiet')
    reader = users.reader
    for (const author of [users.loud, users.louder, users.quiet])
      await fixture.follow(reader, author)
    await fixture.rest()
    wanted = await fixture.stored(users.quiet, 30, { fromMs: startMs - 86_400_000 })
    const muted = Array.from({ length: hidden }, (_, n) => ({
      id: timeIdAt<PostId>(startMs + n * 60_000, n.toString(16).padStart(12, '0')),
      author: n % 2 ? users.loud : users.louder,
    })).reverse()
    const docs = muted.map(({ id, author }) => ({ _id: toObjectId(id), author, text: 'x' }))
    await fixture.collections.posts.insertMany(docs)
    const entries = [...muted, ...wanted.map((id) => ({ id, author: users.quiet }))]
    const store = await storeOf(fixture.services, name)
    await store.merge(reader, { entries, newest: true, oldest: true })
    for (const author of [users.loud, users.louder]) {
      await fixture.services.restrictions.mute(reader, author)
    }
  })

  test('a page examines few entries of muted authors, for any number of them', async () => {
    const { client, db } = fixture.harness.database
    // What a process reads once, and the relations of the reader.
    for (let times = 0; times < 2; times++) await fixture.page(reader, { limit: 20 })
    const { result, commands } = await recorded(client, () => fixture.page(reader, { limit: 20 }))
    expect(result.ids).toEqual(wanted.slice(0, 20))
    expect(commands.length).toBeLessThanOrEqual(15)
    let examined = 0
    for (const statement of commands.flatMap(statementsOf)) {
      examined += (await explained(db, statement)).examined
    }
    expect(examined).toBeLessThan(1_500)
  })

  test('a page comes from the stored timeline if few of its entries are hidden', async () => {
    const { ids, servedBy } = await fixture.page(reader, { limit: 20, after: wanted[0] })
    expect(ids).toEqual(wanted.slice(1, 21))
    expect(servedBy).toBe(name)
  })
})
