import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { commandPrice, fanOutsOfTimeline, followeesPerPrice } from '../../src/graphql/prices.ts'
import { type EdgeId, IdMint, type PostId, type TimeId, type UserId } from '../../src/lib/ids.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'
import {
  type FeedStrategyName,
  feedStrategyNames,
  isMaterialised,
} from '../../src/timeline/strategies/list.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts } from '../support/services.ts'

const variables = { FEED_MAINTAINED: feedStrategyNames.join() }
const app = useApp(variables)
/** Another process of the same database that keeps nothing, and whose entries have no authors. */
const bare = useApp(
  { ...variables, PAGE_CACHE_MB: '0', TIMELINE_ENTRIES: 'id' },
  undefined,
  app.database,
)
const processes = { kept: app, bare }
const mint = new IdMint(Date.now)
const authors = Array.from({ length: 90 }, (_, n) => handle(`p${n}`))
/** Followees without accounts, so that only a timeline reads them. */
const quiet = Array.from({ length: 700 }, (_, n) => handle(`q${n}`))
const followees = [...quiet, ...authors]
/** A reader for each first read of a strategy. */
const readerOf = (
  strategy: FeedStrategyName,
  field: string,
  group?: string,
  kept: Kept = 'kept',
): UserId => handle(`${kept}_${strategy}_${field}_${group ?? 'all'}`.toLowerCase().slice(0, 30))

const requests = {
  timeline: (args: string) => `{ timeline(${args}, first: 1) { edges { cursor } } }`,
  whole: (args: string) =>
    `{ timeline(${args}, first: 1) { pending pollCursor edges { node { text likeCount viewerHasLiked } } } }`,
  larger: (args: string) => `{ timeline(${args}, first: 100) { edges { cursor } } }`,
  news: (args: string) => `{ timelineNews(since: "${since}", ${args}) { count changed } }`,
}
const fields = Object.keys(requests) as (keyof typeof requests)[]
const groups = [undefined, 'close']
const memories = ['kept', 'bare'] as const
type Kept = (typeof memories)[number]
const since = pollCursors.encode(startingAt(mint.next<PostId>()))

beforeAll(async () => {
  const { collections, edges, registrations } = app.services
  const readers = feedStrategyNames.flatMap((strategy) =>
    fields.flatMap((field) =>
      groups.flatMap((group) => memories.map((kept) => readerOf(strategy, field, group, kept))),
    ),
  )
  await openAccounts(app.services, [...readers, ...authors])
  for (const reader of readers) {
    const own = followees.map((followee) => ({
      id: mint.next<EdgeId>(),
      ...{ follower: reader, followee, source: 'FEEDLINE' as const },
    }))
    await storeEdges(app.services, own, { history: false })
    await edges.following.collection.updateMany({ user: reader }, { $set: { groups: ['close'] } })
  }
  await collections.posts.insertMany(
    authors.map((author) => ({ _id: toObjectId(mint.next<PostId>()), author, text: 'x' })),
  )
  // All but the oldest authors are muted, so that pages are refilled.
  await collections.restrictions.insertMany(
    readers.flatMap((owner) =>
      authors.slice(2).map((other) => ({
        _id: toObjectId(mint.next<TimeId>()),
        ...{ owner, other, kind: 'MUTE' as const },
      })),
    ),
  )
  for (const name of feedStrategyNames) if (isMaterialised(name)) await registrations.rebuild(name)
  await app.rest()
})

describe.each(feedStrategyNames)('the price of %s', (strategy) => {
  test.each(
    share(
      1,
      fields.flatMap((field) =>
        groups.flatMap((group) => memories.map((kept) => ({ field, group, kept }))),
      ),
    ),
  )(
    'bounds the commands of the first read past muted authors: $field, $group, $kept',
    async ({ field, group, kept }) => {
      const inGroup = group === undefined ? '' : `, group: "${group}"`
      const query = requests[field](`strategy: ${strategy}${inGroup}`)
      const { result, commands } = await recorded(app.database.client, () =>
        processes[kept].send({ as: readerOf(strategy, field, group, kept), query }),
      )
      expect(result.errors).toEqual([])
      const { requested } = result.extensions.cost
      const fanOut = Math.floor(followees.length / followeesPerPrice)
      noteFact(
        `${strategy} ${field} ${group ?? ''} ${kept}: ${commands.length} commands at ${requested}`,
      )
      expect(commands.length, labelsOf(commands).join(', ')).toBeLessThanOrEqual(
        requested / commandPrice + fanOut * fanOutsOfTimeline,
      )
    },
  )
})
