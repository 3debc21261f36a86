import { z } from 'zod'
import type { StrategyDoc } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import type { Follows } from '../../follows/follows.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import { inOrder } from '../entries.ts'
import type { PulledAuthors } from '../pulled-authors.ts'
import { defineStrategy } from './descriptor.ts'
import { FanoutOnRead } from './fanout-on-read.ts'
import { Inbox, inbox } from './inbox.ts'
import type { Ask, Candidates, Entry, MaterialisedStrategy, Stretch } from './strategy.ts'

/** The descriptor of HYBRID, which stores as INBOX does. */
export const hybrid = defineStrategy({
  name: 'HYBRID',
  description: 'Works like INBOX, but reads the posts of authors with many followers on each read.',
  table: {
    post: 'as `INBOX`, unless its author has very many followers',
    page: 'that scan, merged with the celebrities that the reader follows',
    stored: "everything but celebrities' posts",
  },
  collections: { own: ['celebrities', 'pulled_authors'], shared: ['inbox'] },
  settings: {
    /** An author with this many followers is read instead of delivered. */
    hybridThreshold: {
      variable: 'HYBRID_THRESHOLD',
      schema: z.coerce.number().int().min(1).max(1e9).default(10_000),
      option: {
        name: 'threshold',
        toStored: (followers) => followers,
        toVariable: (followers) => followers,
        howToChange: () => 'run "feedline timelines threshold NUMBER"',
      },
      whenChecked: undefined,
    },
  },
  backfilled: true,
  authors: ({ celebrities }) => celebrities,
  storedForm: inbox.storedForm,
  create: ({ collections, follows, posts, pulled }) =>
    new Hybrid(new Inbox(collections.inbox), new FanoutOnRead(follows, posts), pulled, follows),
})

/**
 * The inbox for ordinary authors; those with very many followers are read instead of delivered, and merged in.
 * It stores in INBOX's collection: what INBOX delivered as well is a repeat and changes nothing. Deliveries decide which
 * authors are delivered, and note with each reader those who are not ({@link PulledAuthors}).
 */
export class Hybrid implements MaterialisedStrategy {
  constructor(
    private readonly inbox: Inbox,
    private readonly read: FanoutOnRead,
    private readonly pulled: PulledAuthors,
    private readonly follows: Follows,
  ) {}

  /**
   * INBOX's command, and one for the reader's notes. Where the reader follows noted authors, one more for whom, and one
   * for 200 of them. No command grows with the celebrities of the database.
   */
  async candidates(ask: Ask): Promise<Candidates> {
    const { reader, range, group, refused, registration } = ask
    if (!registration) return { entries: [], complete: false }
    // The notes come last: an author whose post was left out of the inbox as it was read has the note already.
    const delivered = await this.inbox.candidates(ask)
    const followed = await this.pulled.followedBy(reader, this.follows, group)
    const authors = [...followed].filter((author) => !refused.has(author))
    if (authors.length === 0) return delivered
    const theirs = await this.read.newest(authors, range)
    return { entries: inOrder([...delivered.entries, ...theirs], range), complete: true }
  }

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  async deliver(entry: Entry, readers: readonly UserId[]): Promise<void> {
    await this.inbox.deliver(entry, readers)
  }

  async merge(reader: UserId, stretch: Stretch): Promise<void> {
    await this.inbox.merge(reader, stretch)
  }

  async forget(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    await this.inbox.forget(readers, posts, registration, tx)
  }

  async forgetReader(reader: UserId): Promise<void> {
    await this.inbox.forgetReader(reader)
  }
}
