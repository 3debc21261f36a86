import type { StrategyDoc } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import type { Follows } from '../../follows/follows.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import { wholeNumber } from '../../lib/variables.ts'
import type { PulledAuthors } from '../celebrities/pulled-authors.ts'
import { sortEntries } from '../entries.ts'
import { defineStrategy } from './descriptor.ts'
import type { FanoutOnRead } from './fanout-on-read.ts'
import type { Floors } from './floors.ts'
import { type Inbox, inbox, inboxRetention } from './inbox.ts'
import { cutAtFloor } from './retention.ts'
import type {
  Candidates,
  Entry,
  MaterialisedStrategy,
  Segment,
  StrategyQuery,
  WholeTimeline,
} from './strategy.ts'

/** The descriptor of HYBRID, which stores entries like INBOX. */
export const hybrid = defineStrategy({
  name: 'HYBRID',
  description: 'Works like INBOX, but reads the posts of authors with many followers on each read.',
  table: {
    post: 'as `INBOX`, unless its author has very many followers',
    page: 'that scan, merged with the celebrities that the reader follows',
    stored: "everything but celebrities' posts",
  },
  collections: { own: ['celebrities', 'pulled_authors'], shared: ['inbox', 'inbox_floors'] },
  settings: {
    ...inboxRetention,
    /** An author with this many followers is read instead of delivered. */
    hybridThreshold: {
      variable: 'HYBRID_THRESHOLD',
      schema: wholeNumber(1, 1e9).default(10_000),
      reason:
        '`HYBRID`: an author with this many followers is read instead of delivered. Changed by `feedline timelines threshold NUMBER`',
      option: {
        name: 'threshold',
        toStored: (followers) => followers,
        toVariable: (followers) => followers,
        howToChange: () => 'run "feedline timelines threshold NUMBER"',
        whenLacking: undefined,
      },
      whenChecked: undefined,
    },
  },
  backfilled: true,
  authors: ({ celebrities }) => celebrities,
  storedForm: inbox.storedForm,
  create: ({ inbox, fanoutOnRead, pulled, follows }) =>
    new Hybrid(inbox, fanoutOnRead, pulled, follows),
})

/**
 * Stores the posts of ordinary authors in the inbox, and reads the posts of authors with very many followers.
 * It shares INBOX's collection. An entry that INBOX stores too is a repeat and changes nothing.
 * Deliveries decide which authors are read. {@link PulledAuthors} notes them with each reader.
 */
export class Hybrid implements MaterialisedStrategy {
  constructor(
    private readonly inbox: Inbox,
    private readonly fanoutOnRead: FanoutOnRead,
    private readonly pulled: PulledAuthors,
    private readonly follows: Follows,
  ) {}

  /**
   * INBOX's command, and one for the reader's notes. If there are notes, one more for the edges to their authors, and
   * one for each 200 of these. No command grows with the number of celebrities in the database.
   */
  async proposeCandidates(query: StrategyQuery): Promise<Candidates> {
    const { reader, range, group, excludedAuthors, registration } = query
    if (!registration) return { entries: [], complete: false }
    // The notes are read last: if the inbox lacked a post when it was read, the note of its author exists already.
    const { entries, floor } = await this.inbox.loadEntries(query)
    const delivered = cutAtFloor(entries, range, floor)
    // FANOUT_ON_READ reads the whole page.
    if (!delivered.complete && range.oldestFirst) return delivered
    const followed = await this.pulled.loadFollowedAuthors(reader, this.follows, group)
    const authors = [...followed].filter((author) => !excludedAuthors.has(author))
    if (authors.length === 0) return delivered
    const theirs = await this.fanoutOnRead.loadPosts(authors, range)
    // Below the floor, these posts alone would make gaps.
    const above = delivered.complete ? theirs : cutAtFloor(theirs, range, floor).entries
    const all = sortEntries([...delivered.entries, ...above], range)
    return { entries: all, complete: delivered.complete }
  }

  get floors(): Floors {
    return this.inbox.floors
  }

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  async deliver(entry: Entry, readers: readonly UserId[]): Promise<void> {
    await this.inbox.deliver(entry, readers)
  }

  async merge(reader: UserId, segment: Segment): Promise<void> {
    await this.inbox.merge(reader, segment)
  }

  async mergeAll(timelines: readonly WholeTimeline[]): Promise<void> {
    await this.inbox.mergeAll(timelines)
  }

  async remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    await this.inbox.remove(readers, posts, registration, tx)
  }

  async deleteReader(reader: UserId): Promise<void> {
    await this.inbox.deleteReader(reader)
  }
}
