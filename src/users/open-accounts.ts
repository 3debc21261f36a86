import type { Collections, UserDoc } from '../db/collections.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { chunks } from '../lib/batch.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import type { Handles } from './handles.ts'
import type { UserStats } from './stats.ts'
import type { Subject } from './subject.ts'
import { type Subjects, subjectKey } from './subjects.ts'

/** A new account, before it is stored. */
export interface AccountDraft {
  /** An id that no account ever had. */
  readonly account: UserId
  readonly handle: Handle
  readonly subject: Subject
  readonly doc: UserDoc
  /** Under which the result is kept with the account, whatever its `viewer`. */
  readonly idempotencyKey?: IdempotencyKey | undefined
}

/** The account of a subject. */
export interface Opened {
  readonly account: UserId
  /** False if the subject had it before. */
  readonly created: boolean
}

/** What accounts are opened with. */
interface OpeningParts {
  readonly collections: Pick<Collections, 'users'>
  readonly stats: UserStats
  readonly transactions: Pick<Transactions, 'idempotency'>
  readonly handles: Handles
  readonly subjects: Subjects
}

/** Number of accounts that one transaction opens. */
export const accountsPerTransaction = 25

/**
 * Opens accounts. One transaction for each {@link accountsPerTransaction}: the commands of
 * {@link openAccounts} and a commit.
 * @param drafts of distinct subjects and handles. A DomainError is its own result.
 * @returns the result of each, in order. A DomainError refuses this one alone.
 * @throws {DomainError} UNAVAILABLE. Some may be opened then.
 */
export async function openAll(
  parts: OpeningParts & { readonly transactions: Transactions },
  drafts: readonly (AccountDraft | DomainError)[],
): Promise<readonly (Opened | DomainError)[]> {
  const valid = drafts.flatMap((draft) => (draft instanceof DomainError ? [] : [draft]))
  const opened = new Map<AccountDraft, Opened | DomainError>()
  for (const group of chunks(valid, accountsPerTransaction)) {
    try {
      const results = await parts.transactions.run((tx) => openAccounts(tx, parts, group))
      for (const [at, draft] of group.entries()) opened.set(draft, results[at] as Opened)
    } finally {
      for (const { subject } of group) parts.subjects.forget(subject)
    }
  }
  return drafts.map((draft) =>
    draft instanceof DomainError ? draft : (opened.get(draft) as Opened | DomainError),
  )
}

/**
 * Opens accounts in the caller's transaction. A subject that has an account keeps it.
 * @param drafts of distinct subjects and handles.
 * @returns the result of each, in order. A DomainError refuses this one alone: CONFLICT if its
 *   handle belongs to another account, or the deleted account of its subject is still being
 *   removed.
 * Six commands, whatever their number. One more if a subject, and one more if a handle had an
 * account. Three more with idempotency keys.
 */
export async function openAccounts(
  tx: Tx,
  parts: OpeningParts,
  drafts: readonly AccountDraft[],
): Promise<readonly (Opened | DomainError)[]> {
  const owners = await parts.subjects.findOwners(
    tx,
    drafts.map(({ subject }) => subject),
  )
  const results = new Map<AccountDraft, Opened | DomainError>()
  const firsts = await findFirstResults(tx, parts, drafts, owners)
  for (const draft of drafts) {
    const owner = owners.get(subjectKey(draft.subject))
    if (owner instanceof DomainError) results.set(draft, owner)
    else if (owner) results.set(draft, firsts.get(draft) ?? { account: owner, created: false })
  }
  const free = drafts.filter((draft) => !results.has(draft))
  const refusals = free.length === 0 ? new Map() : await parts.handles.findRefusals(tx, free)
  for (const draft of free)
    results.set(draft, refusals.get(draft.handle) ?? { account: draft.account, created: true })
  await store(
    tx,
    parts,
    free.filter(({ handle }) => !refusals.has(handle)),
  )
  return drafts.map((draft) => results.get(draft) as Opened | DomainError)
}

/** The results of drafts that were opened before under the same keys. */
async function findFirstResults(
  tx: Tx,
  { transactions }: OpeningParts,
  drafts: readonly AccountDraft[],
  owners: ReadonlyMap<string, UserId | DomainError>,
): Promise<ReadonlyMap<AccountDraft, Opened | DomainError>> {
  const keyed = drafts.flatMap((draft) => {
    const [owner, key] = [owners.get(subjectKey(draft.subject)), draft.idempotencyKey]
    return typeof owner === 'string' && key
      ? [{ draft, owner, key: { ...key, viewer: owner } }]
      : []
  })
  const saved = await transactions.idempotency.savedResults(
    keyed.map(({ key }) => key),
    tx,
  )
  return new Map(
    keyed.flatMap(({ draft, owner }, at) => {
      const first = saved[at]
      if (!first) return []
      const result = first instanceof DomainError ? first : { account: owner, created: true }
      return [[draft, result] as const]
    }),
  )
}

async function store(
  tx: Tx,
  { collections, handles, subjects, stats, transactions }: OpeningParts,
  drafts: readonly AccountDraft[],
): Promise<void> {
  if (drafts.length === 0) return
  const { idempotency } = transactions
  await subjects.give(tx, drafts)
  await handles.give(tx, drafts)
  await collections.users.insertMany(
    drafts.map(({ doc }) => doc),
    { session: tx.session },
  )
  await stats.open(
    tx,
    drafts.map(({ account }) => account),
  )
  for (const { account, doc } of drafts) idempotency.noteAccount(tx, account, doc.createdAt)
  const saved = drafts.flatMap(({ account, idempotencyKey: key }) =>
    key ? [{ key: { ...key, viewer: account }, result: { id: account } }] : [],
  )
  await idempotency.saveResults(saved, tx)
}
