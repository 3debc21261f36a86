import { singleBatch } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { repeatsIn } from '../db/errors.ts'
import type { Follows } from '../follows/follows.ts'
import type { UserId } from '../lib/ids.ts'

const removedAtOnce = 1_000

/**
 * Which authors' posts a reader's inbox may lack: HYBRID reads them with each page. A note is written ahead of the
 * first post that is left out. It stays when the reader unfollows, or when posts are delivered again: a page looks up
 * whom of them the reader follows, so a note that is no longer needed costs a key and can hide nothing.
 */
export class PulledAuthors {
  constructor(private readonly notes: Collections['pulled_authors']) {}

  /** Notes each of `authors` with each of `readers`, of a batch's size together. A repeat changes nothing. One command, none without any. */
  async add(readers: readonly UserId[], authors: readonly UserId[]): Promise<void> {
    const docs = readers.flatMap((reader) => authors.map((author) => ({ _id: { reader, author } })))
    if (docs.length > 0) await this.notes.insertMany(docs, { ordered: false }).catch(repeatsIn)
  }

  /**
   * The noted authors whom the reader follows, in the group when named, and the reader if noted. One command whose
   * cost grows with the reader's own notes alone; one more where there are any.
   */
  async followedBy(
    reader: UserId,
    follows: Follows,
    group: string | undefined,
  ): Promise<Set<UserId>> {
    const found = await this.notes
      .find(
        { _id: notesOf(reader) },
        { ...singleBatch, projection: { _id: 0, author: '$_id.author' } },
      )
      .toArray()
    const authors = (found as unknown as { author: UserId }[]).map(({ author }) => author)
    const others = authors.filter((author) => author !== reader)
    const followed =
      others.length > 0 ? await follows.followeesAmong(reader, others, group) : new Set<UserId>()
    if (group === undefined && others.length < authors.length) followed.add(reader)
    return followed
  }

  /** Removes a user's notes, and those of the user with others. Two commands for 1,000 of these. */
  async forget(user: UserId): Promise<void> {
    await this.notes.deleteMany({ _id: notesOf(user) })
    for (;;) {
      const found = await this.notes
        .find({ '_id.author': user }, { ...singleBatch, projection: { _id: 1 } })
        .limit(removedAtOnce)
        .toArray()
      if (found.length === 0) return
      // Each by its own key: MongoDB 6.0 finds no bounds for `$in` over the keys of a clustered collection.
      const deletions = found.map(({ _id }) => ({ deleteOne: { filter: { _id } } }))
      await this.notes.bulkWrite(deletions, { ordered: false })
    }
  }
}

/** The keys of a reader's notes: handles lie between the empty text and the first character behind them. */
const notesOf = (reader: UserId) => ({
  $gte: { reader, author: '' },
  $lt: { reader, author: '\uffff' },
})
