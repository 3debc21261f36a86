import type { Tx } from '../db/transaction.ts'
import { badInput } from '../errors.ts'
import { groupBy } from '../lib/batch.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import { findFacets } from '../posts/facets.ts'
import { toPostDoc } from '../posts/post.ts'
import { importedId, placesMax } from './checkpoint.ts'
import { EdgeList } from './edge-list.ts'
import {
  type ImportOptions,
  type ImportResult,
  type ImportServices,
  runImport,
  type WrittenBatch,
} from './importer.ts'
import { type SyntheticPost, syntheticPosts } from './synthetic-posts.ts'
import { TextFile } from './text-file.ts'
import { smallImportMax } from './upkeep.ts'

export interface SeedPostsOptions extends ImportOptions {
  /** The edge list whose users post. */
  readonly file: string
  /** The average number of posts per user in the file; at least 1. */
  readonly postsPerUser: number
  /** 0 to 4,294,967,295. The same seed makes the same posts. */
  readonly seed: number
}

export type SeedPostsResult = ImportResult<'posts'>

const batchPosts = 4_000
/** The handles of the file stay in memory, about 100 bytes each. */
const usersMax = 5_000_000

/**
 * Writes `postsPerUser` synthetic posts per user of a file, by {@link runImport}. Skips posts of users without an
 * account.
 * Cost: six to nine commands per batch of 4,000 posts; reads the file once; up to 500 MB for 5 million users.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read, or it or a number is too large; else as
 *   {@link runImport}.
 */
export async function seedPosts(
  services: ImportServices,
  options: SeedPostsOptions,
): Promise<SeedPostsResult> {
  const { postsPerUser, seed } = options
  const file = await TextFile.open(options.file)
  const authors = await handlesIn(new EdgeList(file))
  const total = authors.length * postsPerUser
  if (total > placesMax)
    throw badInput('posts', `would create more than ${placesMax} posts in total`)
  return runImport(services, options, {
    key: { kind: 'posts', file, options: { postsPerUser, seed } },
    source: {
      rows: ({ position, startedAt }) =>
        syntheticPosts({ authors, total, seed, untilMs: startedAt.getTime() }, position),
      positionOf: ({ index }: SyntheticPost) => index + 1,
      lastPosition: total,
      progress: (position) => ({ done: position, total }),
      findings: () => ({}),
    },
    write: (tx, posts, { id }) => writePosts(services, tx, posts, id),
    counters: { posts: 0 },
    progressCounter: 'posts',
    size: total <= smallImportMax ? 'SMALL' : 'LARGE',
    batchSize: batchPosts,
  })
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

async function writePosts(
  { collections, stats }: ImportServices,
  tx: Tx,
  rows: readonly SyntheticPost[],
  importId: string,
): Promise<WrittenBatch<'posts'>> {
  const live = await stats.liveAmong([...new Set(rows.map(({ author }) => author))], tx)
  const posts = rows
    .filter(({ author }) => live.has(author))
    .map(({ index, author, text, atMs }) => {
      return { id: importedId<PostId>(importId, atMs, index), author, text }
    })
  if (posts.length > 0) {
    const byAuthor = groupBy(posts, ({ author }) => author)
    await stats.change(
      tx,
      new Map([...byAuthor].map(([author, own]) => [author, { posts: own.length }])),
    )
    const docs = posts.map(({ text, ...ref }) =>
      toPostDoc(ref, { text, facets: findFacets(text), attachments: [] }),
    )
    await collections.posts.insertMany(docs, { session: tx.session })
  }
  return { counts: { posts: posts.length }, follows: [], posts }
}
