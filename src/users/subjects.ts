import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, SubjectDoc } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { measureCache } from '../metrics/caches.ts'
import type { Subject, SubjectIssuer } from './subject.ts'

/** The key of a subject. No issuer has a space. */
export const subjectKey = ({ issuer, sub }: Pick<Subject, 'issuer' | 'sub'>): string =>
  `${issuer} ${sub}`

/** The subject of a key. One without an issuer is of the main issuer. */
export function subjectOfKey(key: string): Subject {
  const at = key.indexOf(' ')
  const issuer = key.slice(0, at)
  return { issuer, sub: key.slice(at + 1), isMain: issuer === '' }
}

/**
 * The texts of `iss` under which accounts of an issuer may be stored, the one of new accounts
 * first. Imports and servers without AUTH_ISSUER store accounts without one, which belong to the
 * main issuer.
 */
const storedTexts = ({ issuer, otherTexts = [], isMain }: SubjectIssuer): readonly string[] => [
  ...new Set([issuer, ...otherTexts, ...(isMain ? [''] : [])]),
]

/** The keys under which the account of a subject may be stored, the one of a new account first. */
export const subjectKeys = (subject: Subject): string[] =>
  storedTexts(subject).map((issuer) => subjectKey({ issuer, sub: subject.sub }))

/** Whether a stored subject is one of an issuer. */
export const isSubjectOf = (subject: Subject, issuer: SubjectIssuer): boolean =>
  storedTexts(issuer).includes(subject.issuer)

/**
 * What stands for a subject without an account where the id of an account is expected. No account
 * has it, and no client can write it as an id.
 */
export const standInOf = (subject: Subject): UserId =>
  `~${createHash('sha256').update(subjectKey(subject)).digest('base64url')}` as UserId

/** Whether an id is of {@link standInOf}. */
export const isStandIn = (id: UserId): boolean => id.startsWith('~')

/** The most bytes of all subjects in memory. */
const bytesMax = 8 * 1024 ** 2

/** How long a removed account keeps its subject, in milliseconds. */
const heldMs = 60_000
/**
 * How long an account is remembered, in milliseconds: with the time of a read, no longer than a
 * deleted account keeps its subject. So no process takes the next account of the subject for the
 * deleted one.
 */
const keptMsMax = heldMs - 15_000

/**
 * How long a new account holds its subject under the other texts of its issuer, in milliseconds:
 * while servers change over.
 */
const otherTextsMs = 3_600_000

/** The account of a subject that is only held. No account has this id. */
const noAccountYet = '~'

/** The parts that {@link Subjects} works with. */
interface SubjectsParts {
  readonly collections: Pick<Collections, 'subjects' | 'users'>
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The accounts of the subjects of tokens. A document belongs to each subject that has one, by its
 * `_id`.
 */
export class Subjects {
  private readonly kept = new LRUCache<string, UserId>({
    maxSize: bytesMax,
    sizeCalculation: (account, key) => 200 + 2 * (key.length + account.length),
    ttl: keptMsMax,
  })
  private readonly cache = measureCache('subjects', () => this.kept.calculatedSize)
  private readonly loadDocs = shareFewKeys('subjects', (keys: readonly string[]) =>
    findAtOnce(this.parts.collections.subjects, { _id: { $in: [...keys] } }),
  )

  constructor(private readonly parts: SubjectsParts) {}

  /**
   * The account of a subject, from memory for some seconds. Undefined without one, which is not
   * remembered. One command, shared by concurrent requests; none from memory.
   */
  async load(subject: Subject): Promise<UserId | undefined> {
    const key = subjectKey(subject)
    const kept = this.kept.get(key)
    this.cache.countRead(kept !== undefined)
    if (kept !== undefined) return kept
    const account = await this.find(subject)
    if (account !== undefined) this.kept.set(key, account)
    return account
  }

  /** As {@link load}, as it is now. Undefined if its document is malformed. */
  async find(subject: Subject): Promise<UserId | undefined> {
    const docs = await this.loadDocs(subjectKeys(subject))
    for (const key of subjectKeys(subject)) {
      const doc = docs.find(({ _id }) => _id === key)
      if (!doc) continue
      // The account of the other key is another one.
      if (!conforms(shapes.subjects, doc)) return undefined
      if (!isFreeLater(doc)) return doc.account as UserId
    }
    return undefined
  }

  /** Reads the account of a subject again when it is needed next. Sends no command. */
  forget(subject: Subject): void {
    this.kept.delete(subjectKey(subject))
  }

  /**
   * Which of several subjects can have no new account, as a transaction sees them, by
   * {@link subjectKey}: those with an account, those whose deleted account is still being removed,
   * and those whose document, or that of their account, is malformed or lost. One command. One more
   * if some have an account.
   */
  async findOwners(
    { session }: Tx,
    subjects: readonly Subject[],
  ): Promise<ReadonlyMap<string, UserId | DomainError>> {
    const { collections, now } = this.parts
    const options = { ...requestTimeout, ...singleBatch, session }
    const keys = [...new Set(subjects.flatMap(subjectKeys))]
    const docs = await collections.subjects.find({ _id: { $in: keys } }, options).toArray()
    const accounts = docs.flatMap((doc) =>
      conforms(shapes.subjects, doc) && doc.until === undefined ? (doc.account as UserId) : [],
    )
    const users =
      accounts.length === 0
        ? []
        : await collections.users.find({ _id: { $in: accounts } }, options).toArray()
    const ownerOf = (doc: SubjectDoc): UserId | DomainError | undefined => {
      if (!conforms(shapes.subjects, doc)) return unreadable()
      const { account, until } = doc
      if (until !== undefined) {
        const refusal = account === noAccountYet ? knownOtherwise : stillRemoved
        return until.getTime() > now() ? refusal() : undefined
      }
      const owner = users.find(({ _id }) => _id === account)
      if (!owner) return unreadable()
      return owner.deletedAt ? stillRemoved() : (account as UserId)
    }
    const byKey = new Map(docs.map((doc) => [doc._id, doc]))
    return new Map(
      subjects.flatMap((subject) => {
        const [first, ...others] = subjectKeys(subject).map((key) => byKey.get(key))
        const owning = [first, ...others.filter((doc) => doc?.account !== noAccountYet)]
        const owners = owning.flatMap((doc) => {
          const owner = doc && ownerOf(doc)
          return owner === undefined ? [] : [{ owner, isFree: isFreeLater(doc) }]
        })
        // As {@link find} reads them: the account of another key counts only if the first one
        // becomes free.
        const { owner } = owners.find(({ isFree }) => !isFree) ?? owners[0] ?? {}
        return owner === undefined ? [] : [[subjectKey(subject), owner] as const]
      }),
    )
  }

  /**
   * Gives subjects to new accounts, in the transaction that also stores them in the accounts. For
   * an hour, also holds the other texts of their issuers: a process that knows fewer of them opens
   * no second account. One command.
   */
  async give(
    { session }: Tx,
    pairs: readonly { readonly subject: Subject; readonly account: UserId }[],
  ): Promise<void> {
    const { collections, now } = this.parts
    const held = { account: noAccountYet, until: new Date(now() + otherTextsMs) }
    const writes = pairs.flatMap(({ subject, account }) =>
      subjectKeys(subject).map((_id, at) => ({
        replaceOne: { filter: { _id }, replacement: at === 0 ? { account } : held, upsert: true },
      })),
    )
    await collections.subjects.bulkWrite(writes, { session, ordered: false })
  }

  /**
   * Frees the subject of a removed account, in a minute: until now, any process may have remembered
   * the account. A repeat changes nothing. One command.
   */
  async release(account: UserId, key: string): Promise<void> {
    const { collections, now } = this.parts
    const until = new Date(now() + heldMs)
    const held = { _id: key, account, until: { $exists: false } }
    await collections.subjects.updateOne(held, { $set: { until } }, requestTimeout)
  }
}

/** Whether a well-formed document only keeps a subject from new accounts for a time. */
const isFreeLater = (doc: SubjectDoc | undefined): boolean =>
  doc !== undefined && conforms(shapes.subjects, doc) && doc.until !== undefined

const unreadable = () =>
  new DomainError(
    'CONFLICT',
    'What is stored of your account cannot be read. The operator of the server finds it with "feedline verify".',
  )

const stillRemoved = () =>
  new DomainError('CONFLICT', 'Your deleted account is still being removed. Try again later.')

const knownOtherwise = () =>
  new DomainError(
    'CONFLICT',
    'The account of this subject was opened with another "iss", which this server does not know. Its operator can set AUTH_ISSUER or AUTH_FORMER_ISSUERS.',
  )
