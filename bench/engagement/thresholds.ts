import type { Db } from 'mongodb'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type BenchDatabase, openBench } from '../database.ts'
import { drive } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { makePosts, openAccounts, userAt } from './ours.ts'

const sizes = [0, 100, 1_000, 10_000]
const pageSize = 50

/**
 * What embedded arrays cost the storage engine: posts that hold so many likes themselves, and what a like, and a page of
 * 50 such posts without their likes, then cost.
 */
export async function thresholds(options: BenchOptions) {
  const rows: Record<string, number>[] = []
  for (const size of sizes) {
    options.say(`posts with ${size} likes each`)
    const env = { LIKES_THRESHOLD: '10000' }
    await using database = await openBench(() => {}, env)
    rows.push({ likes: size, ...(await measure(database, size, options.ms)) })
  }
  const [first = {}] = rows
  const names = Object.keys(first)
  options.show(`| ${names.join(' | ')} |\n|${names.map(() => '---').join('|')}|`)
  for (const row of rows) {
    options.show(
      `| ${names.map((name) => (row[name] ?? Number.NaN).toLocaleString('en')).join(' | ')} |`,
    )
  }
  return rows
}

async function measure({ db, services }: BenchDatabase, size: number, ms: number) {
  await openAccounts(services, 1_000)
  const posts = await fullPosts(services, size)
  const { size: documentBytes } = (await db.command({ collStats: 'posts' })) as { size: number }
  const before = await engine(db)
  const likes = await drive(8, ms, async (client, at) => {
    const post = posts[at % posts.length] as PostRef
    await services.engagements.add('likes', userAt(client), post)
    await services.engagements.remove('likes', userAt(client), post)
  })
  const writes = Math.max(1, likes.perSecond * (ms / 1000) * 2)
  const after = await engine(db)
  const page = await drive(8, ms, () => services.posts.byRefs(posts))
  return {
    'KB a post': Math.round(documentBytes / pageSize / 102.4) / 10,
    'likes and unlikes/s': Math.round(likes.perSecond * 2),
    'journal bytes a write': Math.round((after.journal - before.journal) / writes),
    'pages of 50/s': Math.round(page.perSecond),
  }
}

/** Posts whose arrays hold `size` likes of people who do nothing else. */
async function fullPosts(services: Services, size: number): Promise<PostRef[]> {
  const posts = await makePosts(services, pageSize)
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

async function engine(db: Db): Promise<{ journal: number }> {
  const status = await db.admin().command({ serverStatus: 1 })
  return { journal: Number(status.wiredTiger.log['log bytes written']) }
}
