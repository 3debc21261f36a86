import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import { type EntryContent, entryOf } from './entries.ts'
import type { Entry, Stretch } from './strategies/strategy.ts'

/** Reads posts as the entries that timelines hold of them. */
export class EntryReader {
  constructor(
    private readonly posts: Posts,
    private readonly holds: EntryContent,
  ) {}

  /** Those of `refs` that exist, in their order. One command, covered unless text is embedded. */
  async of(refs: readonly PostRef[]): Promise<Entry[]> {
    if (refs.length === 0) return []
    if (this.holds !== 'text') {
      const there = await this.posts.existing(refs)
      return refs.filter(({ id }) => there.has(id)).map((ref) => entryOf(ref, this.holds))
    }
    const found = await this.posts.byRefs(refs)
    return refs.flatMap(({ id }) => {
      const post = found.get(id)
      return post ? [entryOf(post, this.holds)] : []
    })
  }

  /** Those of some entries whose posts have been deleted. One covered command; it asks all shards where entries hold no author. */
  async deleted(entries: readonly Entry[]): Promise<PostId[]> {
    if (entries.length === 0) return []
    const refs = entries.flatMap(({ id, author }) => (author === undefined ? [] : [{ id, author }]))
    const there =
      refs.length === entries.length
        ? await this.posts.existing(refs)
        : await this.posts.authorsOf(entries.map(({ id }) => id))
    return entries.flatMap(({ id }) => (there.has(id) ? [] : [id]))
  }

  /** What an author posted before `olderThan`, newest first. One covered command; another where text is embedded. */
  async stretch(
    author: UserId,
    olderThan: PostRef['id'] | undefined,
    limit: number,
  ): Promise<Stretch & { readonly last: PostRef['id'] | undefined }> {
    const range = { olderThan, oldestFirst: false, limit }
    return this.stretchOf(await this.posts.refsByAuthors([author], range), olderThan, limit)
  }

  /** Posts that were just read, newest first, as a stretch; fewer than `limit` are the last. */
  async stretchOf(
    refs: readonly PostRef[],
    olderThan: PostRef['id'] | undefined,
    limit: number,
  ): Promise<Stretch & { readonly last: PostRef['id'] | undefined }> {
    const entries =
      this.holds === 'text' ? await this.of(refs) : refs.map((ref) => entryOf(ref, this.holds))
    const [newest, oldest] = [olderThan === undefined, refs.length < limit]
    return { entries, newest, oldest, last: refs.at(-1)?.id }
  }
}
