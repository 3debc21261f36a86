import type { AnyBulkWriteOperation } from 'mongodb'
import { connect } from '../../../src/db/client.ts'
import {
  type InboxDoc,
  openCollections,
  type PostDoc,
  type UserStatsDoc,
} from '../../../src/db/collections.ts'
import { toObjectId } from '../../../src/db/object-id.ts'
import { IdMint, type PostId } from '../../../src/lib/ids.ts'
import { handleRequests } from '../../child-process.ts'
import { runClosedLoop } from '../../load.ts'
import type { BareGroupedJob, BareGroupedResult } from '../bare-grouped.ts'

// The smallest MongoDB program with Feedline's promise for a post: it is stored with its counter and all its entries, or
// not at all, and a post of an account that does not exist is refused. Concurrent posts share transactions.

/** Posts of a transaction, and transactions at a time. */
const [postsMax, inFlightMax] = [16, 4]

interface Waiting {
  readonly author: string
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

handleRequests(async ({ uri, name, authors, clients, ms }: BareGroupedJob) => {
  const client = await connect(uri, 'serving', { maxPoolSize: inFlightMax })
  const collections = openCollections(client.db(name))
  const mint = new IdMint(Date.now)
  const waiting: Waiting[] = []
  let inFlight = 0

  /** Five commands for all posts, whatever their number. */
  const write = (posts: readonly Waiting[]) =>
    client.withSession((session) =>
      session.withTransaction(async () => {
        const counts = new Map<string, number>()
        for (const { author } of posts) counts.set(author, (counts.get(author) ?? 0) + 1)
        const updates = [...counts].map(([_id, added]) => ({
          updateOne: { filter: { _id }, update: { $inc: { posts: added } } },
        }))
        const counted = await collections.user_stats.bulkWrite(
          ...([updates as AnyBulkWriteOperation<UserStatsDoc>[], { session }] as const),
        )
        if (counted.matchedCount < counts.size) throw new Error('an author has no account')
        const docs = posts.map(
          ({ author, text }): PostDoc => ({
            ...{ _id: toObjectId(mint.next<PostId>()), author, text },
          }),
        )
        await collections.posts.insertMany(docs, { session })
        const audience = await collections.followers
          .find({ user: { $in: [...counts.keys()] } }, { session, batchSize: 20_000 })
          .project<{ user: string; follower: string }>({ _id: 0, user: 1, follower: 1 })
          .toArray()
        const entries = docs.flatMap(({ _id: post, author, text }): InboxDoc[] => {
          const followers = audience.filter(({ user }) => user === author)
          const readers = [author, ...followers.map(({ follower }) => follower)]
          return readers.map((reader) => ({ _id: { reader, post }, author, text: text ?? '' }))
        })
        await collections.inbox.insertMany(entries, { session, ordered: false })
      }),
    )

  const begin = () => {
    while (inFlight < inFlightMax && waiting.length > 0) {
      const posts = waiting.splice(0, postsMax)
      inFlight++
      void settle(posts).finally(() => {
        inFlight--
        begin()
      })
    }
  }
  /** Never throws. */
  const settle = async (posts: readonly Waiting[]) => {
    try {
      await write(posts)
      for (const { resolve } of posts) resolve()
    } catch (error) {
      for (const { reject } of posts) reject(error)
    }
  }
  const createPost = (author: string, text: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ author, text, resolve, reject })
      begin()
    })

  let count = 0
  const before = process.cpuUsage()
  const load = await runClosedLoop(clients, ms, async (_, at) => {
    await createPost(authors[at % authors.length] ?? '', `Post ${at}: ${postText}`)
    count++
  })
  const { user, system } = process.cpuUsage(before)
  await client.close()
  return { ...load, count, cpuUs: user + system } satisfies BareGroupedResult
})

const postText = 'as long as messages usually are here, so about eighty characters each.'
