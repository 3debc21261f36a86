import { fromObjectId } from '../../src/db/object-id.ts'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { storeGraph, storePosts } from '../feeds/bulk-data.ts'
import { runDueJobs } from '../feeds/feeds-database.ts'

const [userCount, followeesEach, postsEach] = [300, 50, 4]

/** The users of the benchmark. Each follows 50 others, and has 50 followers. */
export const users: readonly UserId[] = Array.from(
  { length: userCount },
  (_, at) => `user${at}` as UserId,
)

/** A database, and the global ids of its posts. */
export interface Timelines extends AsyncDisposable {
  readonly database: BenchDatabase
  readonly posts: readonly string[]
}

/** Creates a database of 300 users with four posts each, whose timelines are stored in inboxes. */
export async function openTimelines(log: (line: string) => void): Promise<Timelines> {
  const database = await openBenchDatabase(log, timelineEnv)
  const followersOf = (at: number) =>
    Array.from({ length: followeesEach }, (_, n) => users[(at + 1 + n * 7) % userCount] as UserId)
  const followers = new Map(users.map((user, at) => [user, followersOf(at)]))
  await storeGraph(database, { name: 'overload', users, followers })
  const posts = await storePosts(database, users, postsEach)
  const { services } = database
  await registerStrategies(services, ['INBOX'])
  await services.registrations.rebuild('INBOX')
  await runDueJobs(services)
  return {
    database,
    posts: posts.map(({ _id, author }) =>
      postNodeId({ id: fromObjectId<PostId>(_id), author: author as UserId }),
    ),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** The strategy of the database and of its servers. */
export const timelineEnv = { FEED_MAINTAINED: 'INBOX', FEED_STRATEGY: 'INBOX' }
