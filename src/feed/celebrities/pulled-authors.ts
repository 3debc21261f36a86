import { singleBatch } from '../../db/client.ts'
import type { Collections, PulledAuthorDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import type { Follows } from '../../follows/follows.ts'
import type { UserId } from '../../lib/ids.ts'

/** Number of notes that one command removes. */
const removalBatchSize = 1_000

/**
 * Notes with each reader the authors whose posts the reader's inbox may lack. HYBRID reads these authors with each
 * page. A note exists before the first post is left out. It stays after an unfollow or a demotion. Then it costs one
 * key and changes no page, because a page only reads authors that the reader follows.
 */
export class PulledAuthors {
  constructor(private readonly notes: Collections['pulled_authors']) {}

  /**
   * Notes each author with each reader. A repeat changes nothing. One command, none without notes.
   * @param readers at most 500 with one author.
   */
  async addNotes(readers: readonly UserId[], authors: readonly UserId[]): Promise<void> {
    await this.storeNotes(
      readers.flatMap((reader) => authors.map((author) => ({ reader, author }))),
    )
  }

  /** Stores notes, at most 1,000. A repeat changes nothing. One command, none without notes. */
  async storeNotes(notes: readonly PulledAuthorDoc['_id'][]): Promise<void> {
    const docs = notes.map((_id) => ({ _id }))
    if (docs.length > 0)
      await this.notes.insertMany(docs, { ordered: false }).catch(duplicatePositions)
  }

  /**
   * Loads the noted authors that the reader follows, in `group` if it is given, and the reader if noted.
   * One command that reads the reader's own notes, and one more if there are notes.
   */
  async loadFollowedAuthors(
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

  /**
   * Removes a user's notes, and the notes of the user with other readers.
   * One command, and two for each 1,000 notes with other readers.
   */
  async removeUser(user: UserId): Promise<void> {
    await this.notes.deleteMany({ _id: notesOf(user) })
    for (;;) {
      const found = await this.notes
        .find({ '_id.author': user }, { ...singleBatch, projection: { _id: 1 } })
        .limit(removalBatchSize)
        .toArray()
      if (found.length === 0) return
      // Each by its own key: MongoDB 6.0 finds no bounds for `$in` over the keys of a clustered collection.
      const deletions = found.map(({ _id }) => ({ deleteOne: { filter: { _id } } }))
      await this.notes.bulkWrite(deletions, { ordered: false })
    }
  }
}

/** The keys of a reader's notes. Every handle sorts after '' and before '\uffff'. */
const notesOf = (reader: UserId) => ({
  $gte: { reader, author: '' },
  $lt: { reader, author: '\uffff' },
})
