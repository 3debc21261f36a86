import { singleBatch } from '../../db/client.ts'
import type { Collections, EntryDoc, InboxDoc, StrategyDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import { findAtOnce } from '../../db/find-at-once.ts'
import type { GroupCommit } from '../../db/group-commit.ts'
import type { Condition } from '../../db/mongo.ts'
import { highestId, lowestId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { chunks } from '../../lib/batch.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import { combineSmallWrites, smallAudienceMax } from '../delivery/follower-walk.ts'
import { fromEntryDoc, toEntryDoc } from '../entries.ts'
import { defineStrategy, type StoredForm } from './descriptor.ts'
import { cutAtFloor } from './floor.ts'
import type {
  Candidates,
  Entry,
  MaterialisedStrategy,
  Segment,
  StrategyQuery,
  WholeTimeline,
} from './strategy.ts'

/** Number of entries that one command of a back-fill inserts. */
const insertBatchSize = 1_000
/** Number of entries that one command removes. */
const removalBatchSize = 1_000

const storedForm: StoredForm<'inbox'> = {
  collection: 'inbox',
  documentsTogether: 500,
  ofReader: (reader) => ({ _id: keysOf(reader, {}) }),
  comparable: 'always',
  below: (reader, floor) => [
    { $match: { _id: keysOf(reader, { olderThan: floor }) } },
    { $sort: { _id: 1 } },
  ],
  entriesIn: ({ _id: { post }, ...content }) => [{ post, ...content }],
  // The key of an entry is its position.
  misplacedIn: () => undefined,
}

/** The descriptor of INBOX. */
export const inbox = defineStrategy({
  name: 'INBOX',
  description: 'Stores entries when posts are written, as one small document per reader and post.',
  table: {
    post: 'inserted as one small document a reader, in clustered order',
    page: 'one scan in stored order',
    stored: 'everything, or some days, a document an entry',
  },
  collections: ['inbox'],
  settings: {},
  backfilled: true,
  storedForm,
  create: (parts) => new Inbox(parts),
})

/** The parts that {@link Inbox} works with. */
export interface InboxParts {
  readonly collections: Pick<Collections, 'inbox'>
}

/**
 * Fan-out on write with one small document per entry, in a clustered collection. A delivery
 * rewrites no array, and a page is one scan in stored order. The unique `_id` refuses repeats.
 * Every filter is one equal `_id`, or a range of one reader's keys.
 */
export class Inbox implements MaterialisedStrategy {
  private readonly inbox: Collections['inbox']
  private readonly small: GroupCommit<readonly InboxDoc[], undefined>

  constructor({ collections }: InboxParts) {
    this.inbox = collections.inbox
    this.small = combineSmallWrites((docs) => this.insertEntries(docs))
  }

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  /** One command, which reads one document per entry. */
  async proposeCandidates(query: StrategyQuery): Promise<Candidates> {
    const { range, registration } = query
    if (!registration) return { entries: [], complete: false }
    return cutAtFloor(await this.loadEntries(query), range, registration)
  }

  /**
   * Loads the entries of a range. They may include entries below the floor. One command. Whole
   * documents cost MongoDB a third less than a projection of them.
   */
  private async loadEntries({ reader, range }: StrategyQuery): Promise<Entry[]> {
    const documents = await findAtOnce(
      this.inbox,
      { _id: keysOf(reader, range) },
      { sort: { _id: range.oldestFirst ? 1 : -1 }, limit: range.limit },
    )
    return documents.map(({ _id: { post }, ...content }) => fromEntryDoc({ post, ...content }))
  }

  /** One command. Small audiences share it. */
  async deliver(entry: Entry, readers: readonly UserId[]): Promise<void> {
    const docs = toDocs(entry, readers)
    if (readers.length > smallAudienceMax) await this.insertEntries(docs)
    else await this.small.submit('', docs)
  }

  /** One command, none without entries. Few entries share it. */
  async merge(reader: UserId, { entries }: Segment): Promise<void> {
    const docs = entries.flatMap((entry) => toDocs(entry, [reader]))
    if (docs.length > smallAudienceMax) await this.insertEntries(docs)
    else if (docs.length > 0) await this.small.submit('', docs)
  }

  /** One command for each 1,000 entries, one after the other. */
  async mergeAll(timelines: readonly WholeTimeline[]): Promise<void> {
    const contents = new Map<Entry, EntryDoc>()
    const docs = timelines.flatMap(({ reader, entries }) =>
      entries.map((entry): InboxDoc => {
        const known = contents.get(entry) ?? toEntryDoc(entry)
        contents.set(entry, known)
        const { post, ...content } = known
        return { _id: { reader, post }, ...content }
      }),
    )
    for (const some of chunks(docs, insertBatchSize)) await this.insertEntries([...some])
  }

  /**
   * One command for each 1,000 entries. Each entry is deleted by its own key. For `$in` over the
   * keys of a clustered collection, MongoDB 6.0 finds no bounds and would read the inboxes of all
   * readers.
   */
  async remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    _: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    const keys = readers.flatMap((reader) =>
      posts.map((post) => ({ reader, post: toObjectId(post) })),
    )
    for (const batch of chunks(keys, removalBatchSize)) {
      const deletions = batch.map((key) => ({ deleteOne: { filter: { _id: key } } }))
      await this.inbox.bulkWrite(deletions, { ...tx, ordered: false })
    }
  }

  /** Two commands for each 1,000 entries, which read only these entries. */
  async deleteReader(reader: UserId): Promise<void> {
    const all = keysOf(reader, {})
    for (;;) {
      const batch = await this.inbox
        .find({ _id: all }, { ...singleBatch, projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(removalBatchSize)
        .toArray()
      const [first, last] = [batch[0], batch.at(-1)]
      if (!first || !last) break
      await this.inbox.deleteMany({ _id: { $gte: first._id, $lte: last._id } })
    }
  }

  private async insertEntries(docs: InboxDoc[]): Promise<void> {
    if (docs.length === 0) return
    await this.inbox.insertMany(docs, { ordered: false }).catch(duplicatePositions)
  }
}

/** The documents of an entry. */
function toDocs(entry: Entry, readers: readonly UserId[]): InboxDoc[] {
  const { post, ...content } = toEntryDoc(entry)
  return readers.map((reader) => ({ _id: { reader, post }, ...content }))
}

/** The keys of a range of a reader's inbox. */
const keysOf = (
  reader: UserId,
  { olderThan, newerThan }: Pick<Range, 'olderThan' | 'newerThan'>,
): Condition<InboxDoc['_id']> => ({
  [newerThan ? '$gt' : '$gte']: { reader, post: newerThan ? toObjectId(newerThan) : lowestId },
  [olderThan ? '$lt' : '$lte']: { reader, post: olderThan ? toObjectId(olderThan) : highestId },
})
