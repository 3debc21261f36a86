import { join } from 'node:path'
import { applyIndexes } from '../../src/db/indexes.ts'
import { bundle } from '../bundle.ts'
import { startChild } from '../child-process.ts'
import { type BenchDatabase, copyCollections } from '../database.ts'
import type { LoadResult } from '../load.ts'
import { connections, readMongodCpuUs } from './feedline-sides.ts'
import type { ReadResult } from './loads.ts'

/** What the program does: posts of these authors in turn, by a number of clients. */
export interface BareGroupedJob {
  readonly uri: string
  readonly name: string
  readonly authors: readonly string[]
  readonly clients: number
  readonly ms: number
}

/** The result, with the processor time of the program in microseconds. */
export interface BareGroupedResult extends LoadResult {
  readonly count: number
  readonly cpuUs: number
}

/** The smallest MongoDB program that creates posts as Feedline promises, in a process of its own, without HTTP. */
export interface BareGrouped extends AsyncDisposable {
  /** Creates posts by sixteen clients. @throws unless each post has its counter and all entries afterwards. */
  measure(ms: number): Promise<ReadResult>
}

/** Opens the program on a copy of the collections that it needs. */
export async function openBareGrouped(
  database: BenchDatabase,
  authors: readonly string[],
): Promise<BareGrouped> {
  const { uri, client } = database
  const db = client.db(`${database.db.databaseName}_bare`)
  await copyCollections(database.db, db.databaseName, ['user_stats', 'followers', 'posts'])
  await applyIndexes(db, 'collection')
  // A copy of a whole collection would not be clustered.
  const into = { db: db.databaseName, coll: 'inbox' }
  await database.db
    .collection('inbox')
    .aggregate([{ $merge: { into } }])
    .toArray()
  const program = join(import.meta.dirname, 'rivals/bare-grouped-process.ts')
  const child = await startChild(await bundle(program))
  const [followers, stats] = [
    db.collection('followers'),
    db.collection<{ _id: string }>('user_stats'),
  ]
  const audience = await followers.countDocuments({ user: { $in: [...authors] } })
  const entriesPerPost = 1 + audience / authors.length
  const countAll = async () => {
    const [sum] = await stats
      .aggregate([{ $group: { _id: null, posts: { $sum: '$posts' } } }])
      .toArray()
    const stored = ['posts', 'inbox'].map((name) => db.collection(name).countDocuments())
    const [posts = 0, entries = 0] = await Promise.all(stored)
    return { counter: Number(sum?.posts), posts, entries }
  }
  return {
    measure: async (ms) => {
      const before = await countAll()
      const databaseBefore = await readMongodCpuUs(database)
      const job: BareGroupedJob = {
        ...{ uri, name: db.databaseName, authors, clients: connections, ms },
      }
      const { count, cpuUs, ...load } = await child.sendRequest<BareGroupedResult>(job)
      const databaseUs = (await readMongodCpuUs(database)) - databaseBefore
      const after = await countAll()
      const isWhole =
        after.posts - before.posts === count &&
        after.counter - before.counter === count &&
        // The authors post in turn, so they have posted equally often but for the last turn.
        Math.abs(after.entries - before.entries - count * entriesPerPost) <
          authors.length * entriesPerPost
      if (!isWhole) throw new Error(`${count} posts changed ${JSON.stringify({ before, after })}`)
      return { ...load, count, bytes: 0, serverUs: cpuUs / count, databaseUs: databaseUs / count }
    },
    [Symbol.asyncDispose]: async () => {
      await child[Symbol.asyncDispose]()
      await db.dropDatabase()
    },
  }
}
