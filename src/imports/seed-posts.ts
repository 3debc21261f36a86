import { toObjectId } from '../db/object-id.ts'
import { badInput } from '../errors.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { StatsChange } from '../users/stats.ts'
import { type Checkpoint, Checkpoints, importedId, placesMax } from './checkpoint.ts'
import { EdgeList } from './edge-list.ts'
import type { ImportRun, ImportServices } from './import-graph.ts'
import { withSoFar } from './interrupted.ts'
import { type MadeUpPost, madeUpPosts } from './made-up-posts.ts'
import { type BatchWriter, writePatiently } from './patience.ts'
import { TextFile } from './text-file.ts'
import { smallImportMax, type TimelineUpkeep } from './upkeep.ts'

export interface SeedPostsOptions extends ImportRun {
  /** The edge list whose people post. */
  readonly file: string
  /** Posts for each person in the file on average; at least 1. */
  readonly postsPerUser: number
  /** 0 to 4,294,967,295. The same seed makes the same posts. */
  readonly seed: number
  /** Posts in one transaction. */
  readonly batchSize?: number | undefined
}

/** What seeding has come to. */
export interface SeedPostsResult {
  /** Written by this run: none when it was complete before. */
  readonly written: number
  /** Written by all runs. */
  readonly total: number
}

const batchPosts = 2_000
/** The handles of a file are held in memory, about 100 bytes each. */
const usersMax = 5_000_000

/**
 * Writes `postsPerUser` times as many posts as the file names people, by {@link madeUpPosts}.
 * One transaction a batch writes posts, counters and the checkpoint: a kill at any moment resumes
 * exactly where it was and a repeat changes nothing. Posts of people without an account are left
 * out. Stored timelines come to hold the posts by jobs of the same transaction ({@link TimelineUpkeep}).
 * Cost: six to nine commands per batch of 2,000 posts; one walk through the file and up to 500 MB for
 * 5 million people.
 * @throws {DomainError} BAD_USER_INPUT for a file that cannot be read or is too large, and for
 *   numbers out of bounds; CONFLICT when another process seeds the same; UNAVAILABLE after 150 s
 *   without progress.
 */
export async function seedPosts(
  services: ImportServices,
  options: SeedPostsOptions,
): Promise<SeedPostsResult> {
  const { postsPerUser, seed, now = Date.now } = options
  const file = await TextFile.open(options.file)
  const authors = await handlesIn(new EdgeList(file))
  const total = authors.length * postsPerUser
  if (total > placesMax)
    throw badInput('posts', `would create more than ${placesMax} posts in total`)
  const checkpoints = new Checkpoints(services.collections.imports)
  const key = { kind: 'posts', file, options: { postsPerUser, seed } } as const
  const start = await checkpoints.open(key, { posts: 0 }, now())
  const post = madeUpPosts(authors, total, seed, start.startedAt.getTime())
  return new Seeding({ services, checkpoints, start, post, total, options }).run()
}

/** In the order in which the file first names them. */
async function handlesIn(list: EdgeList): Promise<UserId[]> {
  const handles = new Set<UserId>()
  for await (const { from, to } of list) {
    handles.add(from).add(to)
    if (handles.size > usersMax)
      throw badInput('posts', `the file names more than ${usersMax} users`)
  }
  return [...handles]
}

/** What one run of a seeding works with. */
interface SeedingParts {
  readonly services: ImportServices
  readonly checkpoints: Checkpoints
  readonly start: Checkpoint<'posts'>
  readonly post: (index: number) => MadeUpPost
  /** Posts that all runs write together. */
  readonly total: number
  readonly options: SeedPostsOptions
}

class Seeding implements BatchWriter<number> {
  private checkpoint: Checkpoint<'posts'>

  constructor(private readonly parts: SeedingParts) {
    this.checkpoint = parts.start
  }

  async run(): Promise<SeedPostsResult> {
    try {
      await this.writeAll()
    } catch (error) {
      throw withSoFar(error, this.parts.options.signal, () => this.result())
    }
    return this.result()
  }

  private async writeAll(): Promise<void> {
    const { services, checkpoints, start, total, options } = this.parts
    if (!start.done) await services.transactions.run((tx) => checkpoints.claim(tx, start))
    const { onProgress, batchSize = batchPosts } = options
    while (this.checkpoint.position < total) {
      const { position } = this.checkpoint
      const size = Math.min(batchSize, total - position)
      const indexes = Array.from({ length: size }, (_, at) => position + at)
      await writePatiently(indexes, this, options)
      onProgress?.({ done: this.checkpoint.position, total, written: this.written() })
    }
  }

  private result(): SeedPostsResult {
    return { written: this.written(), total: this.checkpoint.counts.posts }
  }

  async unwritten(indexes: readonly number[]): Promise<readonly number[]> {
    this.checkpoint = await this.parts.checkpoints.reload(this.checkpoint)
    return indexes.filter((index) => index >= this.checkpoint.position)
  }

  async write(indexes: readonly number[]): Promise<void> {
    const { services, checkpoints, post, total } = this.parts
    const { checkpoint } = this
    const size = total <= smallImportMax ? 'SMALL' : 'LARGE'
    const docs = indexes.map((index) => {
      const { author, text, atMs } = post(index)
      const id = importedId<PostId>(checkpoint.id, atMs, index)
      return { _id: toObjectId(id), id, author, text }
    })
    const position = (indexes.at(-1) ?? checkpoint.position) + 1
    this.checkpoint = await services.transactions.run(async (tx) => {
      const live = await services.stats.liveAmong(
        [...new Set(docs.map(({ author }) => author))],
        tx,
      )
      const own = docs.filter(({ author }) => live.has(author))
      if (own.length > 0) {
        await services.stats.change(tx, changesOf(own))
        const posts = own.map(({ id: _, ...doc }) => doc)
        await services.collections.posts.insertMany(posts, { session: tx.session })
        await services.upkeep.leaveJobs(tx, { follows: [], posts: own }, size)
      }
      const posts = checkpoint.counts.posts + own.length
      const done = position >= total
      return checkpoints.move(tx, checkpoint, { position, done, counts: { posts } })
    })
  }

  private written(): number {
    return this.checkpoint.counts.posts - this.parts.start.counts.posts
  }
}

function changesOf(docs: readonly { readonly author: UserId }[]): Map<UserId, StatsChange> {
  const posts = new Map<UserId, number>()
  for (const { author } of docs) posts.set(author, (posts.get(author) ?? 0) + 1)
  return new Map([...posts].map(([author, count]) => [author, { posts: count }]))
}
