import { randomBytes } from 'node:crypto'
import type { BulkWriteResult } from 'mongodb'
import { chunks } from '../lib/batch.ts'
import { requestTimeout } from './client.ts'
import type { Collections } from './collections.ts'
import { type Deployment, isOn, loadDeployment, type Mechanism } from './deployment.ts'
import { findAtOnce } from './find-at-once.ts'
import { shareReads } from './shared-reads.ts'
import type { Transactions, Tx } from './transaction.ts'

/**
 * What a version is about:
 * - `relations:` the follows, groups, mutes and blocks of a reader;
 * - `timeline:` the stored timelines of a reader;
 * - `account:` the account of an author, its profile, and which of its posts were deleted;
 * - `accounts:` all accounts of a group of authors. While it is unchanged, none of them needs to be read;
 * - `registrations` of strategies.
 */
export type Subject =
  | `relations:${string}`
  | `timeline:${string}`
  | `account:${string}`
  | `accounts:${number}`
  | 'registrations'

/** The versions of subjects. A subject without a version is absent. */
export type SeenVersions = ReadonlyMap<Subject, string>

/** How long a version lasts from its creation, in milliseconds. Its next version has a new value. */
const lifetimeMs = 86_400_000

/** Number of versions that one command writes, and that one command reads. */
const [writesMax, readsMax] = [1_000, 4_000]

/** When a new version expires. */
const fromNow = { $add: ['$$NOW', lifetimeMs] }
const expiresAt = { $ifNull: ['$expiresAt', fromNow] }

/** Number of times that the version of a timeline is raised. Then it is taken away, until an answer is kept again. */
const raisesMax = 8

/** How long missing marks are not read again, in milliseconds. */
const marksAgeMsMax = 10_000

/** A deployment, and when it was read. */
type Marks = Deployment & { readonly readMs: number }

/** A value that no version had before, also if a failover reverts a version. */
export const newValue = (): string => randomBytes(12).toString('base64')

/**
 * Gives subjects new versions in the transaction that changes what they are about. Also creates missing ones: otherwise
 * an answer that is read before the commit could be kept under a version that is created meantime. So the creation of a
 * version by a page, and this transaction, wait for each other or collide. One command for each 1,000 subjects, none
 * without subjects.
 */
export async function raiseVersions(
  { versions }: Pick<Collections, 'versions'>,
  subjects: readonly Subject[],
  tx: Tx,
): Promise<void> {
  const update = [{ $set: { value: newValue(), expiresAt } }]
  for (const some of chunks([...new Set(subjects)], writesMax)) {
    const operations = some.map((_id) => ({
      updateOne: { filter: { _id }, update, upsert: true },
    }))
    await versions.bulkWrite(operations, { session: tx.session, ordered: false })
  }
}

/**
 * Outdates what is kept of readers' stored timelines: gives those that have a version a new one, or takes it away. Call it
 * after the timelines were written, before their job ends. The page that creates a version reads the timeline later.
 * One command for each 1,000 readers.
 */
export async function outdateTimelines(
  { versions }: Pick<Collections, 'versions'>,
  readers: readonly string[],
): Promise<void> {
  const isLast = { $gte: ['$raises', raisesMax] }
  const update = [
    { $set: { raises: { $add: [{ $ifNull: ['$raises', 0] }, 1] } } },
    {
      $set: {
        value: { $cond: [isLast, '$$REMOVE', newValue()] },
        expiresAt: { $cond: [isLast, '$$NOW', '$expiresAt'] },
      },
    },
  ]
  for (const some of chunks([...new Set(timelinesOf(readers))], writesMax))
    await versions.updateMany({ _id: { $in: [...some] }, value: { $exists: true } }, update)
}

/** The subjects of users. */
export const relationsOf = (readers: Iterable<string>): Subject[] =>
  Array.from(readers, (reader) => `relations:${reader}` as const)
export const timelinesOf = (readers: Iterable<string>): Subject[] =>
  Array.from(readers, (reader) => `timeline:${reader}` as const)
export const accountsOf = (users: Iterable<string>): Subject[] =>
  Array.from(users, (user) => `account:${user}` as const)

/**
 * Number of groups of accounts. A page reads the versions of nearly all groups, and changes of two accounts of one group
 * collide.
 */
const groupCount = 16

/** The subjects of all groups of accounts. Each deletion of a post or an account raises one of them. */
export const groupsOfAccounts = Array.from(
  { length: groupCount },
  (_, at) => `accounts:${at}` as const,
)

/** The subject of the group of an account's subject. */
export function groupOf(account: Subject): Subject {
  return `accounts:${stripeOf(account, groupCount)}`
}

/** What a change of accounts raises. */
export function changesOfAccounts(users: Iterable<string>): Subject[] {
  const accounts = accountsOf(users)
  return [...accounts, ...new Set(accounts.map(groupOf))]
}

/** The versions that values are kept under. Concurrent requests read them together. */
export class Versions {
  private marks: Marks | undefined
  /** The load of the marks that is under way. */
  private loading: Promise<Marks> | undefined
  private readonly readShared = shareReads<Subject, SeenVersions>(
    'versions',
    (subjects) => this.read([...new Set(subjects)]),
    20,
  )

  constructor(
    private readonly collections: Pick<Collections, 'versions' | 'meta'>,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Loads the versions of subjects, and perhaps of others. One command, shared by concurrent requests, and one more for
   * each 4,000 subjects beyond 4,000.
   */
  async load(subjects: readonly Subject[]): Promise<SeenVersions> {
    return subjects.length === 0 ? new Map() : this.readShared(subjects)
  }

  /** As {@link load}, but creates missing versions: one command more for that of each timeline, two for all others. */
  async loadOrCreate(subjects: readonly Subject[]): Promise<SeenVersions> {
    const found = await this.load(subjects)
    const missing = subjects.filter((subject) => !found.has(subject))
    return missing.length === 0 ? found : new Map([...found, ...(await this.create(missing))])
  }

  /**
   * Whether this deployment has a mechanism: a row of `deployment.ts` says it. Up to two commands, every 10 s while a
   * mark is missing.
   */
  async isOn(mechanism: Mechanism): Promise<boolean> {
    return isOn(mechanism, await this.loadMarks())
  }

  /** Deletes the versions of a deleted user. One command. */
  async remove(user: string): Promise<void> {
    const own = [...relationsOf([user]), ...timelinesOf([user]), ...accountsOf([user])]
    await this.collections.versions.deleteMany({ _id: { $in: own } })
  }

  private async loadMarks(): Promise<Marks> {
    const { marks } = this
    if (marks && (marks.missing.length === 0 || performance.now() - marks.readMs < marksAgeMsMax))
      return marks
    this.loading ??= this.readMarks().finally(() => {
      this.loading = undefined
    })
    return this.loading
  }

  private async readMarks(): Promise<Marks> {
    const deployment = await loadDeployment(this.collections.meta.db, requestTimeout)
    this.marks = { ...deployment, readMs: performance.now() }
    return this.marks
  }

  private async read(subjects: readonly Subject[]): Promise<SeenVersions> {
    const versions = new Map<Subject, string>()
    for (const some of chunks(subjects, readsMax)) {
      const filter = { _id: { $in: [...some] } }
      const options = { projection: { value: 1 } }
      for (const { _id, value } of await findAtOnce(this.collections.versions, filter, options))
        if (value !== undefined) versions.set(_id as Subject, value)
    }
    return versions
  }

  /** Creates versions. @returns none of those that fail. Then the answer is not kept. */
  private async create(subjects: readonly Subject[]): Promise<SeenVersions> {
    const isTimeline = (subject: Subject) => subject.startsWith('timeline:')
    const shared = subjects.filter((subject) => !isTimeline(subject))
    const created = await Promise.all([
      ...subjects.filter(isTimeline).map((subject) => this.createTimeline(subject)),
      ...(shared.length > 0 ? [this.createTogether(shared)] : []),
    ])
    return new Map(created.flatMap((some) => [...some]))
  }

  /** Creates the version of a timeline, unless it has one. No transaction holds it, so nothing delays this command. */
  private async createTimeline(subject: Subject): Promise<SeenVersions> {
    const isThere = { $gt: ['$value', null] }
    const unlessThere = (field: string, value: unknown) => ({ $cond: [isThere, field, value] })
    const fields = {
      value: unlessThere('$value', newValue()),
      raises: unlessThere('$raises', 0),
      expiresAt: unlessThere('$expiresAt', fromNow),
    }
    const version = await this.collections.versions
      .findOneAndUpdate({ _id: subject }, [{ $set: fields }], {
        ...requestTimeout,
        upsert: true,
        returnDocument: 'after',
        projection: { value: 1 },
      })
      // A failure of the database also fails the other commands of the page.
      .catch(() => null)
    return new Map(version?.value === undefined ? [] : [[subject, version.value]])
  }

  /**
   * Creates versions, in a transaction: it ends at once if another transaction has raised one of them. Otherwise MongoDB
   * would wait until that transaction ends, whatever the time limit of the command.
   * @returns those that this call created, none if it fails.
   */
  private async createTogether(subjects: readonly Subject[]): Promise<SeenVersions> {
    const value = newValue()
    const update = [{ $set: { value: { $ifNull: ['$value', value] }, expiresAt } }]
    const operations = subjects.map((_id) => ({
      updateOne: { filter: { _id }, update, upsert: true },
    }))
    const { upsertedIds = {} } = await this.transactions
      .run(
        ({ session }) => this.collections.versions.bulkWrite(operations, { session }),
        undefined,
        (collision) => {
          throw collision
        },
      )
      .catch(() => ({}) as Partial<BulkWriteResult>)
    return new Map(Object.values(upsertedIds).map((subject) => [subject as Subject, value]))
  }
}

/** A number below `count` that depends on the text alone. Documents that all requests read are split by it. */
function stripeOf(text: string, count: number): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) >>> 0
  return hash % count
}
