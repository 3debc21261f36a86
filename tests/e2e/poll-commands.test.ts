import * as operations from '@feedline/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt } from '../../src/lib/ids.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { entryReads } from '../support/page-commands.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_MAINTAINED: feedStrategyNames.join() })
const hourMs = 3_600_000
const waiting = 'read outbox'

/** The commands that read stored places. */
const placesOf = (strategy: FeedStrategyName): string[] => {
  if (strategy === 'FANOUT_ON_READ') return []
  return [entryReads[strategy]]
}

async function send(as: string, query: string) {
  const { result, commands } = await recorded(app.database.client, () => app.send({ as, query }))
  expect(result.errors).toEqual([])
  expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
  const { requested } = result.extensions.cost
  expect(commands.length * 20, 'the cost bounds the commands').toBeLessThanOrEqual(requested)
  return { data: result.data, labels: labelsOf(commands) }
}

describe.each(feedStrategyNames)('a poll of %s', (strategy) => {
  const name = strategy.toLowerCase()
  const [reader, author] = [handle(`reader_${name}`), handle(`author_${name}`)]
  const isStored = strategy !== 'FANOUT_ON_READ'
  const marks = isStored ? [waiting] : []
  /** The facts of posts and authors are in memory. */
  const whole = [...marks, ...placesOf(strategy)].sort()
  let since: string

  const poll = (fields: string) =>
    send(reader, `{ timelineNews(since: "${since}", strategy: ${strategy}) { ${fields} } }`)

  beforeAll(async () => {
    await openAccounts(app.services, [reader, author])
    // Older than the watermark.
    const posts = Array.from({ length: 5 }, (_, n) => ({
      _id: toObjectId(timeIdAt<PostId>(Date.now() - hourMs, `${n}`.padStart(12, '0'))),
      ...{ author, text: `${n}` },
    }))
    await app.services.collections.posts.insertMany(posts)
    await app.ask(reader, operations.FollowUserDocument, { input: { user: { handle: author } } })
    await app.rest()
  })

  test('a page with a pollCursor costs one command more, none with FANOUT_ON_READ', async () => {
    const page = (more: string) =>
      `{ timeline(strategy: ${strategy}) { ${more} edges { cursor } } }`
    // The first page of a cache creates it.
    for (let times = 0; times < 2; times++) await send(reader, page(''))
    const { data, labels } = await send(reader, page('pending pollCursor'))
    expect(data.timeline.edges).toHaveLength(5)
    expect(labels).toEqual(whole)
    since = data.timeline.pollCursor
  })

  test('a poll with nothing new reads no post, and with changed it costs a page of ids', async () => {
    const { data, labels } = await poll('count hasMore authors { handle } pollCursor')
    noteFact(`poll of ${strategy}, nothing new: ${labels.join(', ')}`)
    expect(labels).toEqual(whole)
    expect(data.timelineNews).toMatchObject({ count: 0, hasMore: false, authors: [] })
    const held = await poll('count changed')
    expect(held.labels).toEqual(whole)
    expect(held.data.timelineNews).toEqual({ count: 0, changed: false })
  })

  test('a poll with news costs a page of ids, also with the handles of the authors', async () => {
    await app.ask(author, operations.CreatePostDocument, { input: { text: 'new' } })
    const fields = 'count hasMore authors { handle viewerFollows } changed pollCursor'
    // The first poll of a process with this post reads it.
    await poll('count')
    const { data, labels } = await poll(fields)
    noteFact(`poll of ${strategy}, with news: ${labels.join(', ')}`)
    expect(labels).toEqual(whole)
    const authors = [{ handle: author, viewerFollows: true }]
    const news = { count: 1, hasMore: false, authors, changed: false }
    expect(data.timelineNews).toMatchObject(news)
  })
})
