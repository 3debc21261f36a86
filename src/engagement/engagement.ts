import { writesSettleMs } from '../db/deadline.ts'
import type { GroupCommitBounds } from '../db/group-commit.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import { toObjectId } from '../db/object-id.ts'
import { SharedTransactions } from '../db/shared-transactions.ts'
import type { Transactions } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { chunks } from '../lib/batch.ts'
import type { EngagementId, IdMint, PostRef, UserId } from '../lib/ids.ts'
import { timeIdAt } from '../lib/ids.ts'
import {
  type Content,
  type ContentValidator,
  checkContent,
  resolveMentions,
} from '../posts/content.ts'
import type { Removal } from '../users/deletion.ts'
import type { Handles } from '../users/handles.ts'
import { addAtOnce, canAddAtOnce } from './add-at-once.ts'
import {
  admitByMemory,
  commitEntries,
  type EntryParts,
  type EntryWrite,
  lockPost,
} from './commit-entries.ts'
import { type EngagementKind, entryKey, type KindKeyedBy, kinds } from './kinds.ts'
import type { ListResult, ListWrite, NewEntry } from './list-plan.ts'
import { postKey } from './list-store.ts'
import { type Engagement, type EngagementReader, toEngagement } from './reader.ts'

/** What a write did, and the entry it was about; undefined when there was none. */
export interface EngagementChange {
  readonly changed: boolean
  readonly entry?: Engagement | undefined
  /** Set if an earlier request made the write. */
  readonly isRepeat?: boolean | undefined
}

/** The same, of a write that leaves an entry in the list. */
export interface AddedEngagement extends EngagementChange {
  readonly entry: Engagement
}

/** What an add may go with. */
export interface AddOptions {
  /** Of a kind with text; not stored for other kinds. */
  readonly text?: string | undefined
  readonly idempotencyKey?: IdempotencyKey | undefined
}

/** An entry of a kind whose entries are identified by their ids. */
export interface EntryRef {
  readonly kind: KindKeyedBy<'_id'>
  readonly post: PostRef
  readonly id: EngagementId
}

/** What engagements work with. */
export interface EngagementsParts extends EntryParts {
  readonly transactions: Transactions
  readonly reader: EngagementReader
  readonly handles: Pick<Handles, 'findHolders'>
  readonly validators: readonly ContentValidator[]
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

const bounds: GroupCommitBounds = {
  name: 'engagement',
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 10,
}

/** Number of posts whose writes share a transaction. */
const postsMax = 16

/** Adds and removes engagement, by the rules that are the same for every kind. */
export class Engagements {
  private readonly writes: SharedTransactions<EntryWrite, ListResult>

  constructor(private readonly parts: EngagementsParts) {
    const { transactions, collections, now } = parts
    const admitted = new WeakSet<EntryWrite>()
    this.writes = new SharedTransactions(transactions, {
      bounds,
      keysMax: postsMax,
      now,
      prepare: async (writes) => {
        for (const write of await admitByMemory(parts, writes)) admitted.add(write)
      },
      apply: (tx, writes, repairs) =>
        !repairs && canAddAtOnce(parts, writes, admitted)
          ? addAtOnce(tx, parts, writes)
          : commitEntries(tx, parts, writes, { admitted, repairs }),
      lock: async (tx, _, [first]) => first && lockPost(tx, collections, first.post),
    })
  }

  /**
   * Adds an entry of the actor. Of a kind whose key is the actor, a user has at most one entry in a
   * list (law L2), and a repeat changes nothing. The text of a kind with text passes the rules of
   * posts. Costs {@link addAtOnce} where memory admits it, otherwise {@link commitEntries}, and one
   * command for a text with mentions.
   * @returns the new entry, or the entry that was already there. A repeat of an earlier request
   *   reads its entry again, with two commands more, and returns none if it was removed.
   * @throws {DomainError} BAD_USER_INPUT for the text; NOT_FOUND without such a post, or when a
   *   block hides it; UNAVAILABLE.
   */
  async add(
    kind: EngagementKind,
    actor: UserId,
    post: PostRef,
    options?: AddOptions & { readonly idempotencyKey?: undefined },
  ): Promise<AddedEngagement>
  async add(
    kind: EngagementKind,
    actor: UserId,
    post: PostRef,
    options: AddOptions,
  ): Promise<EngagementChange>
  async add(
    kind: EngagementKind,
    actor: UserId,
    post: PostRef,
    { text: given = '', idempotencyKey }: AddOptions = {},
  ): Promise<EngagementChange> {
    const checked = await this.checkText(kind, given)
    const content = checked && (await resolveMentions(checked, this.parts.handles))
    const own = content && { text: content.text, facets: content.facets ?? [] }
    const add: NewEntry = { _id: toObjectId(this.parts.mint.next<EngagementId>()), actor, ...own }
    const added = await this.write(post, { kind, add }, idempotencyKey)
    if (!added.entry || !added.isRepeat) return added
    const key = entryKey(kind, actor, added.entry.id)
    const [entry] = await this.parts.reader.entries([kind], [post], [key])
    return { changed: added.changed, entry, isRepeat: true }
  }

  /**
   * The text of an entry in its stored form. Undefined for a kind without text. @throws
   * {DomainError} BAD_USER_INPUT.
   */
  async checkText(kind: EngagementKind, text: string): Promise<Content | undefined> {
    return kinds[kind].hasText ? checkContent({ text }, this.parts.validators) : undefined
  }

  /**
   * Removes the actor's entry, wherever it is stored. A repeat changes nothing. Costs
   * {@link commitEntries}.
   */
  async remove(
    kind: KindKeyedBy<'actor'>,
    actor: UserId,
    post: PostRef,
    idempotencyKey?: IdempotencyKey,
  ): Promise<EngagementChange> {
    return this.write(post, { kind, remove: actor }, idempotencyKey)
  }

  /**
   * Removes an entry by its id: its actor may, and the post's author. A repeat changes nothing.
   * Costs {@link EngagementReader.entries}, then {@link commitEntries}.
   * @throws {DomainError} FORBIDDEN for any other user; NOT_FOUND without such a post.
   */
  async removeById(
    { kind, post, id }: EntryRef,
    actor: UserId,
    idempotencyKey?: IdempotencyKey,
  ): Promise<EngagementChange> {
    const [entry] = await this.parts.reader.entries([kind], [post], [id])
    if (entry && actor !== entry.actor && actor !== post.author) {
      throw new DomainError(
        'FORBIDDEN',
        `Only the author of the ${kinds[kind].noun} and the author of the post may delete it`,
      )
    }
    return this.write(post, { kind, remove: id }, idempotencyKey)
  }

  /**
   * Takes back what a deleted user did, in bounded batches. A repeat goes on where it ended. While
   * writes of the user may be under way, it leaves the entries that such a write may still store.
   * @throws {DomainError} NOT_FOUND if an entry of another shape is left: its like would stay.
   */
  async purge(user: UserId, { signal, isSettled, onRemoved }: Removal): Promise<void> {
    const { userIndex, now } = this.parts
    const before = isSettled
      ? undefined
      : timeIdAt<EngagementId>(now() - writesSettleMs, '0'.repeat(12))
    for (;;) {
      signal.throwIfAborted()
      const batch = await userIndex.readBatch(user, 200, before)
      if (batch.length === 0) return isSettled ? userIndex.checkNoneMalformed(user) : undefined
      for (const some of chunks(batch, 20)) {
        await Promise.all(
          some.map(async ({ kind, id, post }) => {
            const write = { kind, remove: entryKey(kind, user, id), only: toObjectId(id) }
            await this.write(post, write).catch(unlessGone)
          }),
        )
      }
      await userIndex.remove(batch)
      await onRemoved(batch.length)
    }
  }

  private async write(
    post: PostRef,
    write: ListWrite,
    idempotencyKey?: IdempotencyKey,
  ): Promise<EngagementChange> {
    const result = await this.writes.submit(postKey(post), { post, write, idempotencyKey })
    return toChange(write.kind, post, result)
  }
}

function toChange(
  kind: EngagementKind,
  post: PostRef,
  { changed, entry, isRepeat }: ListResult,
): EngagementChange {
  if (!entry) return { changed, isRepeat }
  // A repeat has no text, which makes no entry malformed.
  const { isMalformed, ...named } = toEngagement(kind, post, entry)
  return {
    changed,
    isRepeat,
    entry: { ...named, ...(isMalformed && !isRepeat && { isMalformed }) },
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof DomainError) || error.code !== 'NOT_FOUND') throw error
}
