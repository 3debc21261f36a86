import { shareReads } from '../db/shared-reads.ts'
import { chunks } from '../lib/batch.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import { type EntryContent, toEntry } from './entries.ts'
import { type Entry, type Segment, segmentSize } from './strategies/strategy.ts'

/** Number of posts whose texts one command reads. */
const textsMax = 1_000
/** Number of posts up to which a check whether they exist shares its command. */
const fewPosts = 200

/** Reads posts as entries of stored timelines. Jobs that begin at the same time share commands. */
export class EntryReader {
  /** The newest posts of authors, one segment of each. */
  private readonly loadNewest: (
    authors: readonly UserId[],
  ) => Promise<ReadonlyMap<string, readonly PostRef[]>>
  private readonly loadExisting: Posts['existing']

  constructor(
    private readonly posts: Posts,
    private readonly contents: EntryContent,
  ) {
    const range = { oldestFirst: false, limit: segmentSize }
    this.loadNewest = shareReads(
      'newest_posts',
      (authors) => posts.byAuthor(false).read([...new Set(authors)], range),
      16,
    )
    this.loadExisting = shareReads('existing_posts', (refs) => posts.existing(refs), 16)
  }

  /** Loads the entries of existing posts with their texts, in the order of `refs`. One command. */
  private async loadEntries(refs: readonly PostRef[]): Promise<Entry[]> {
    if (refs.length === 0) return []
    const found = await this.posts.byRefs(refs)
    return refs.flatMap(({ id }) => {
      const post = found.get(id)
      return post ? [toEntry(post, this.contents)] : []
    })
  }

  /**
   * Makes entries of posts that were just read, without those that are deleted since. One command
   * for each 1,000 posts if entries contain text, otherwise none.
   */
  async toEntries(refs: readonly PostRef[]): Promise<ReadonlyMap<PostId, Entry>> {
    const entries: Entry[] = []
    for (const batch of chunks(refs, textsMax)) {
      entries.push(
        ...(this.contents === 'text'
          ? await this.loadEntries(batch)
          : batch.map((ref) => toEntry(ref, this.contents))),
      )
    }
    return new Map(entries.map((entry) => [entry.id, entry]))
  }

  /**
   * Finds the entries whose posts are deleted. One covered command, which concurrent calls for up
   * to 200 entries share. It asks all shards if entries contain no author.
   */
  async findDeleted(entries: readonly Entry[]): Promise<PostId[]> {
    if (entries.length === 0) return []
    const refs = entries.flatMap(({ id, author }) => (author === undefined ? [] : [{ id, author }]))
    const existing =
      refs.length === entries.length
        ? await (refs.length <= fewPosts ? this.loadExisting(refs) : this.posts.existing(refs))
        : await this.posts.authorsOf(entries.map(({ id }) => id))
    return entries.flatMap(({ id }) => (existing.has(id) ? [] : [id]))
  }

  /**
   * Loads the author's newest posts older than `olderThan`. One covered command, which concurrent
   * calls without `olderThan` share, and one more if entries contain text.
   * @returns also the id of the last post that was read, from which the next segment continues.
   */
  async loadSegment(
    author: UserId,
    olderThan: PostRef['id'] | undefined,
  ): Promise<Segment & { readonly last: PostRef['id'] | undefined }> {
    const range = { olderThan, oldestFirst: false, limit: segmentSize }
    const refs =
      olderThan === undefined
        ? ((await this.loadNewest([author])).get(author) ?? [])
        : await this.posts.refsByAuthors([author], range)
    return this.toSegment(refs, olderThan, segmentSize)
  }

  /**
   * Converts posts that were just read into a segment. One command if entries contain text,
   * otherwise none.
   * @param refs newest first. Fewer than `limit` include the oldest post.
   */
  async toSegment(
    refs: readonly PostRef[],
    olderThan: PostRef['id'] | undefined,
    limit: number,
  ): Promise<Segment & { readonly last: PostRef['id'] | undefined }> {
    const entries =
      this.contents === 'text'
        ? await this.loadEntries(refs)
        : refs.map((ref) => toEntry(ref, this.contents))
    const [newest, oldest] = [olderThan === undefined, refs.length < limit]
    return { entries, newest, oldest, last: refs.at(-1)?.id }
  }
}
