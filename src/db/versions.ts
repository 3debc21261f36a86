import { randomBytes } from 'node:crypto'
import { requestTimeout, singleBatch } from './client.ts'
import type { Collections } from './collections.ts'
import { isDuplicateKey } from './errors.ts'
import { shareReads } from './shared-reads.ts'
import type { Tx } from './transaction.ts'

/**
 * What a version is about:
 * - `relations:` the follows, groups, mutes and blocks of a reader;
 * - `timeline:` the stored timelines of a reader;
 * - `account:` the account of an author, its profile, and which of its posts were deleted;
 * - `registrations` of strategies.
 */
export type Subject =
  | `relations:${string}`
  | `timeline:${string}`
  | `account:${string}`
  | 'registrations'

/** The versions of subjects. A subject without a version is absent. */
export type SeenVersions = ReadonlyMap<Subject, string>

/** How long a version may stay without its subject being asked for, in milliseconds. Its next version has a new value. */
const lifetimeMs = 86_400_000

/** Number of versions that one command writes. */
const writesMax = 1_000

/** How long a missing mark is not read again, in milliseconds. */
const markAgeMsMax = 10_000

/** A value that no version had before, also if a failover reverts a version. */
const newValue = (): string => randomBytes(12).toString('base64')

/**
 * Gives subjects new versions, because what they are about has changed. Subjects without a version need none: nothing
 * is kept under it. One command for each 1,000 subjects, none without subjects.
 * @param tx the transaction of the change. Without one, call it after the change, before the change counts as done.
 */
export async function raiseVersions(
  { versions }: Pick<Collections, 'versions'>,
  subjects: Iterable<Subject>,
  tx?: Tx,
): Promise<void> {
  const all = [...new Set(subjects)]
  for (let at = 0; at < all.length; at += writesMax) {
    const some = { _id: { $in: all.slice(at, at + writesMax) } }
    await versions.updateMany(some, { $set: { value: newValue() } }, { ...tx })
  }
}

/** The subjects of users. */
export const relationsOf = (readers: Iterable<string>): Subject[] =>
  Array.from(readers, (reader) => `relations:${reader}` as const)
export const timelinesOf = (readers: Iterable<string>): Subject[] =>
  Array.from(readers, (reader) => `timeline:${reader}` as const)
export const accountsOf = (users: Iterable<string>): Subject[] =>
  Array.from(users, (user) => `account:${user}` as const)

/** The versions that values are kept under. Concurrent requests read them together. */
export class Versions {
  private marked: { readonly is: boolean; readonly readMs: number } | undefined
  private readonly readShared = shareReads<Subject, SeenVersions>('versions', (subjects) =>
    this.read([...new Set(subjects)]),
  )

  /** @param now the database's clock, in milliseconds since 1970. */
  constructor(
    private readonly collections: Pick<Collections, 'versions' | 'meta'>,
    private readonly now: () => number,
  ) {}

  /** Loads the versions of subjects, and perhaps of others. One command, shared by concurrent requests. */
  async load(subjects: readonly Subject[]): Promise<SeenVersions> {
    return subjects.length === 0 ? new Map() : this.readShared(subjects)
  }

  /** As {@link load}, but creates missing versions. One command more if any is missing. */
  async loadOrCreate(subjects: readonly Subject[]): Promise<SeenVersions> {
    const found = await this.load(subjects)
    const missing = subjects.filter((subject) => !found.has(subject))
    return missing.length === 0 ? found : new Map([...found, ...(await this.create(missing))])
  }

  /**
   * Whether values may be kept under versions: not while processes may run that write none, nor on a sharded cluster,
   * where a transaction can be visible on one shard before another. Up to two commands, every 10 s until it is true.
   */
  async areComplete(): Promise<boolean> {
    const { marked } = this
    if (marked && (marked.is || performance.now() - marked.readMs < markAgeMsMax)) return marked.is
    const is = await this.readMark()
    this.marked = { is, readMs: performance.now() }
    return is
  }

  /** Deletes the versions of a deleted user. One command. */
  async remove(user: string): Promise<void> {
    const own = [...relationsOf([user]), ...timelinesOf([user]), ...accountsOf([user])]
    await this.collections.versions.deleteMany({ _id: { $in: own } })
  }

  private async readMark(): Promise<boolean> {
    const { meta } = this.collections
    const hello = await meta.db.command({ hello: 1, ...requestTimeout })
    if (hello.msg === 'isdbgrid') return false
    return (await meta.findOne({ _id: versionsMark }, requestTimeout)) !== null
  }

  private async read(subjects: readonly Subject[]): Promise<SeenVersions> {
    const found = await this.collections.versions
      .find({ _id: { $in: subjects as Subject[] } }, { ...singleBatch, projection: { value: 1 } })
      .toArray()
    return new Map(found.map(({ _id, value }) => [_id as Subject, value]))
  }

  /** Creates versions. @returns those that this call created: another process may have created some since. */
  private async create(subjects: readonly Subject[]): Promise<SeenVersions> {
    const [value, expiresAt] = [newValue(), new Date(this.now() + lifetimeMs)]
    const operations = subjects.map((_id) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: { value, expiresAt } }, upsert: true },
    }))
    try {
      const { upsertedIds } = await this.collections.versions.bulkWrite(operations, {
        ...requestTimeout,
        ordered: false,
      })
      return new Map(Object.values(upsertedIds).map((subject) => [subject as Subject, value]))
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      return new Map()
    }
  }
}

/** The document of `meta` that says that all processes write versions. */
export const versionsMark = 'versions'
