import { fromObjectId, toObjectId } from '../../db/object-id.ts'
import { timelineReactions } from '../../feed/delivery/job-kinds.ts'
import type { Registration } from '../../feed/registry/registry.ts'
import type { MaterialisedName } from '../../feed/strategies/list.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import { type Finding, findingOf, type IntegrityServices } from '../invariant.ts'
import { storedEntries, storedReaders } from '../stored-entries.ts'

const invariant = { name: 'timeline-entries', law: 'L1' } as const

/** A problem with the stored form of one timeline. */
export interface EntryVerdict {
  readonly finding: Finding
  /** Entries of posts that do not exist. */
  readonly dead: readonly PostId[]
  /** Authors of entries that the reader does not follow. */
  readonly strangers: readonly UserId[]
  /** Whether the timeline must be rebuilt. */
  readonly flawed: boolean
}

/**
 * Law L1: a stored timeline holds each entry once and in its place. Its posts exist, and the reader follows their
 * authors. Reads skip entries of deleted posts and of strangers. Two commands for each document or 500 entries.
 * @param onRead called with the number of entries that were read.
 */
export async function* checkEntries(
  services: IntegrityServices,
  reader: UserId,
  registration: Registration,
  onRead: (entries: number) => void,
): AsyncGenerator<EntryVerdict> {
  const { collections, edges } = services
  const subject = `${reader} ${registration._id}`
  for await (const { posts, authors: named, flaw } of storedEntries(
    services,
    reader,
    registration,
  )) {
    onRead(posts.length)
    const none = { dead: [], strangers: [], flawed: false }
    const authors = await authorsOf(collections, posts)
    const forged = posts.find((id) => {
      const [author, claimed] = [authors.get(id), named.get(id)]
      return author !== undefined && claimed !== undefined && author !== claimed
    })
    const found = flaw ?? (forged && `${forged} with another author`)
    if (found) {
      const expected = 'each entry once and in its place'
      const finding = findingOf(invariant, { kind: 'stored', subject, expected, found })
      yield { ...none, finding, flawed: true }
    }
    const dead = posts.filter((id) => !authors.has(id))
    const others = [...new Set(authors.values())].filter((author) => author !== reader)
    const { collection, owner, other } = edges.following
    const mine = { [owner]: reader, [other]: { $in: others } } as object
    const edgesThere = collection.find(mine, { projection: { _id: 0, [other]: 1 } })
    const followed = new Set((await edgesThere.toArray()).map((doc) => doc[other]))
    const strangers = others.filter((author) => !followed.has(author))
    if (dead.length > 0) {
      const found = `${dead.length} of posts that do not exist: ${dead[0]}`
      yield { ...none, finding: leftover(subject, 'entries of posts that exist', found), dead }
    }
    if (strangers.length > 0) {
      const found = `posts by ${strangers.length} others: ${strangers[0]}`
      yield { ...none, finding: leftover(subject, 'posts by followees', found), strangers }
    }
  }
}

/** A harmless finding: no page shows the entries. */
const leftover = (subject: string, expected: string, found: string): Finding =>
  findingOf(invariant, { kind: 'leftover', subject, expected, found, harmless: true })

async function authorsOf(
  { posts }: IntegrityServices['collections'],
  ids: readonly PostId[],
): Promise<Map<PostId, UserId>> {
  const found = await posts
    .find({ _id: { $in: ids.map(toObjectId) } }, { projection: { author: 1 } })
    .hint({ _id: 1, author: 1 })
    .toArray()
  return new Map(found.map(({ _id, author }) => [fromObjectId(_id), author as UserId]))
}

/**
 * Law L1: each reader with stored entries has an account. Two commands.
 * @param after checks only readers after this handle, up to `upTo`.
 */
export async function strayTimelines(
  services: IntegrityServices,
  name: MaterialisedName,
  after: string,
  upTo: string,
): Promise<readonly { readonly reader: UserId; readonly finding: Finding }[]> {
  const readers = await storedReaders(services, name, after, upTo)
  const accounts = await services.collections.users
    .find({ _id: { $in: readers } }, { projection: { _id: 1 } })
    .toArray()
  const known = new Set(accounts.map(({ _id }) => _id))
  return readers
    .filter((handle) => !known.has(handle))
    .map((reader) => ({
      reader: reader as UserId,
      finding: leftover(`${reader} ${name}`, 'no timeline without an account', 'entries'),
    }))
}

/** The strangers of a verdict whose entries no waiting job removes. One command, none without strangers. */
export async function strangersLeft(
  { collections }: IntegrityServices,
  reader: UserId,
  { strangers }: EntryVerdict,
): Promise<readonly UserId[]> {
  if (strangers.length === 0) return []
  const kind = timelineReactions['follow.ended']
  const about = { 'payload.follower': reader, 'payload.followee': { $in: [...strangers] } }
  const jobs = await collections.outbox.find({ kind, ...about, state: 'READY' }).toArray()
  const waiting = new Set(jobs.map(({ payload }) => payload.followee))
  return strangers.filter((stranger) => !waiting.has(stranger))
}

/**
 * Removes leftovers. The job of an unfollow removes entries of strangers, since it checks whether the edge exists
 * again. One command for entries of deleted posts, one transaction for strangers.
 */
export async function removeLeftovers(
  { strategies, transactions, outbox }: IntegrityServices,
  reader: UserId,
  registration: Registration,
  { dead, strangers }: EntryVerdict,
): Promise<void> {
  if (dead.length > 0) await strategies[registration._id].remove([reader], dead, registration)
  if (strangers.length === 0) return
  const kind = timelineReactions['follow.ended']
  await transactions.run((tx) =>
    outbox.enqueue(
      tx,
      strangers.map((followee) => ({ kind, payload: { follower: reader, followee } })),
    ),
  )
}
