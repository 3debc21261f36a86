import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import type { ObjectId } from '../../src/db/mongo.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { storeAccounts } from '../feeds/bulk-data.ts'
import { type BenchOptions, sizeOf } from '../options.ts'

/** The number of followees of each user, and the number of followers of the celebrity per user. */
const [followeeCounts, fansPerUser] = [[40, 10], 10] as const
const batchSize = 5_000
const createdMs = Date.UTC(2024, 0, 1)

interface Edge {
  readonly _id: ObjectId
  readonly follower: string
  readonly followee: string
}

/**
 * Stores a graph of `userCount` users with 40 followees each, and a celebrity. Each user adds ten
 * more accounts that follow only the celebrity. 100,000 users make 5,000,000 edges: 1,000,000 of
 * them lead to the celebrity. Holds one batch in memory. @returns the number of edges.
 */
export async function storeGeneratedGraph(
  { uri, db: { databaseName } }: BenchDatabase,
  options: BenchOptions,
): Promise<number> {
  const { userCount, log } = options
  const followeesPerUser = sizeOf(options, ...followeeCounts)
  if (userCount <= followeesPerUser ** 2)
    throw new Error(`the generated graph needs more than ${followeesPerUser ** 2} users`)
  const client = await connect(uri, 'bulk')
  const db = client.db(databaseName)
  const collections = openCollections(db)
  const { user_stats, followers, following, follow_events } = collections
  const fanCount = userCount * fansPerUser
  const createdAt = new Date(createdMs)
  const writeBatches = async <T>(items: Iterable<T>, write: (batch: T[]) => Promise<unknown>) => {
    let [batch, count]: [T[], number] = [[], 0]
    for (const item of items) {
      batch.push(item)
      if (batch.length < batchSize) continue
      await write(batch)
      count += batch.length
      batch = []
      if (count % 500_000 === 0) log(`stored ${count}`)
    }
    if (batch.length > 0) await write(batch)
  }
  const insertOptions = { ordered: false, writeConcern: { w: 1 } } as const
  await Promise.all(
    [followers, following, follow_events].map((collection) => collection.dropIndexes()),
  )
  await writeBatches(listAccounts(userCount, fanCount, followeesPerUser), async (batch) => {
    const ids = batch.map(({ _id }) => _id as UserId)
    await storeAccounts(collections, ids, createdAt)
    await user_stats.insertMany([...batch], insertOptions)
  })
  await writeBatches(listEdges(userCount, fanCount, followeesPerUser), (batch) =>
    Promise.all([
      followers.insertMany(
        batch.map(({ _id, follower, followee }) => {
          return { _id, user: followee, follower, source: 'IMPORT' as const }
        }),
        insertOptions,
      ),
      following.insertMany(
        batch.map(({ _id, follower, followee }) => {
          return { _id, user: follower, followee, source: 'IMPORT' as const }
        }),
        insertOptions,
      ),
      follow_events.insertMany(
        batch.map(({ _id, follower: user, followee }) => {
          return { ...{ _id, user, followee, type: 'FOLLOWED' as const }, ...history }
        }),
        insertOptions,
      ),
    ]),
  )
  log('building indexes')
  await applyIndexes(db, 'collection')
  await client.close()
  return userCount * followeesPerUser + fanCount
}

const history = { source: 'IMPORT', at: new Date(createdMs) } as const
const userAt = (n: number) => `p${n.toString().padStart(8, '0')}`
const fanAt = (n: number) => `f${n.toString().padStart(8, '0')}`

function* listAccounts(userCount: number, fanCount: number, followeesPerUser: number) {
  yield { _id: 'celebrity', followers: fanCount, following: 0, posts: 0 }
  for (let n = 0; n < userCount; n++) {
    yield { _id: userAt(n), followers: followeesPerUser, following: followeesPerUser, posts: 0 }
  }
  for (let n = 0; n < fanCount; n++) yield { _id: fanAt(n), followers: 0, following: 1, posts: 0 }
}

/**
 * Each user follows the users at the distances 1, 4, 9, … 1,600: so all users have as many
 * followers as followees.
 */
function* listEdges(
  userCount: number,
  fanCount: number,
  followeesPerUser: number,
): Generator<Edge> {
  let at = 0
  const edge = (follower: string, followee: string): Edge => {
    const tail = at.toString(16).padStart(12, '0')
    return { _id: toObjectId(timeIdAt<EdgeId>(createdMs + at++, tail)), follower, followee }
  }
  for (let n = 0; n < userCount; n++) {
    for (let step = 1; step <= followeesPerUser; step++) {
      yield edge(userAt(n), userAt((n + step * step) % userCount))
    }
  }
  for (let n = 0; n < fanCount; n++) yield edge(fanAt(n), 'celebrity')
}
