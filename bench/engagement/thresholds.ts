import type { Db } from 'mongodb'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type BenchDatabase, openBenchDatabase } from '../database.ts'
import { runClosedLoop } from '../load.ts'
import type { BenchOptions } from '../options.ts'
import { createAccounts, createPosts, userAt } from './feedline.ts'

const sizes = [0, 100, 1_000, 10_000]
const pageSize = 50

/**
 * Measures the cost of embedded lists in the storage engine: likes of posts with more and more
 * embedded likes. Then reads pages of 50 such posts without their likes.
 */
export async function benchmarkThresholds(options: BenchOptions) {
  const rows: Record<string, number>[] = []
  for (const size of sizes) {
    options.log(`posts with ${size} likes each`)
    const env = { OVERFLOW_THRESHOLD: '10000' }
    await using database = await openBenchDatabase(() => {}, env)
    rows.push({ likes: size, ...(await measureSize(database, size, options.ms)) })
  }
  const [first = {}] = rows
  const names = Object.keys(first)
  options.print(`| ${names.join(' | ')} |\n|${names.map(() => '---').join('|')}|`)
  for (const row of rows) {
    options.print(
      `| ${names.map((name) => (row[name] ?? Number.NaN).toLocaleString('en')).join(' | ')} |`,
    )
  }
  return rows
}

async function measureSize({ db, services }: BenchDatabase, size: number, ms: number) {
  await createAccounts(services, 1_000)
  const posts = await createPostsWithLikes(services, size)
  const { size: documentBytes } = (await db.command({ collStats: 'posts' })) as { size: number }
  const before = await readEngineStatus(db)
  const likes = await runClosedLoop(8, ms, async (client, at) => {
    const post = posts[at % posts.length] as PostRef
    await services.engagements.add('likes', userAt(client), post)
    await services.engagements.remove('likes', userAt(client), post)
  })
  const writes = Math.max(1, likes.perSecond * (ms / 1000) * 2)
  const after = await readEngineStatus(db)
  const page = await runClosedLoop(8, ms, () => services.posts.byRefs(posts))
  return {
    'KB a post': Math.round(documentBytes / pageSize / 102.4) / 10,
    'likes and unlikes/s': Math.round(likes.perSecond * 2),
    'journal bytes a write': Math.round((after.journal - before.journal) / writes),
    'pages of 50/s': Math.round(page.perSecond),
  }
}

/**
 * Creates posts with `size` embedded likes. The likes are of accounts that the load does not use.
 */
async function createPostsWithLikes(services: Services, size: number): Promise<PostRef[]> {
  const posts = await createPosts(services, pageSize)
  for (const { id } of posts) {
    const likes = Array.from({ length: size }, (_, at) => ({
      _id: toObjectId(id),
      n: at + 1,
      actor: userAt(1_000_000 + at),
    }))
    await services.collections.posts.updateOne(
      { _id: toObjectId(id) },
      { $set: { likes, counts: { likes: size }, sequences: { likes: size } } },
    )
  }
  return posts
}

async function readEngineStatus(db: Db): Promise<{ journal: number }> {
  const status = await db.admin().command({ serverStatus: 1 })
  return { journal: Number(status.wiredTiger.log['log bytes written']) }
}
