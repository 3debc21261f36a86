import type { EntryDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import type { Entry } from './strategies/strategy.ts'

/** The part of a post that a stored entry contains: linking, or embedding. */
export const entryContents = ['id', 'author', 'text'] as const
export type EntryContent = (typeof entryContents)[number]

/** The parts of a post that an entry can contain. */
interface Source {
  readonly id: PostId
  readonly author: UserId
  readonly text?: string | undefined
}

/** The entry of a post, with the configured contents. */
export const toEntry = ({ id, author, text }: Source, contents: EntryContent): Entry => ({
  id,
  ...(contents === 'id' ? {} : { author }),
  ...(contents === 'text' && text !== undefined ? { text } : {}),
})

/** Converts an entry into its stored form. */
export const toEntryDoc = ({ id, author, text }: Entry): EntryDoc => ({
  post: toObjectId(id),
  ...(author === undefined ? {} : { author }),
  ...(text === undefined ? {} : { text }),
})

/** Converts a stored entry. */
export const fromEntryDoc = ({ post, author, text }: EntryDoc): Entry => ({
  id: fromObjectId(post),
  author: (typeof author === 'string' ? author : undefined) as UserId | undefined,
  text: typeof text === 'string' ? text : undefined,
})

/** Whether a range includes a post. */
export const isInRange = (id: PostId, { olderThan, newerThan }: Range): boolean =>
  (olderThan === undefined || id < olderThan) && (newerThan === undefined || id > newerThan)

/**
 * Sorts entries into the order of a range, removes repeats, and cuts them at the limit of the
 * range.
 */
export function sortEntries<E extends Pick<Entry, 'id'>>(
  entries: readonly E[],
  { oldestFirst, limit }: Range,
): E[] {
  const sign = oldestFirst ? 1 : -1
  return [...entries]
    .sort((a, b) => (a.id < b.id ? -sign : a.id > b.id ? sign : 0))
    .filter(({ id }, at, all) => id !== all[at - 1]?.id)
    .slice(0, limit)
}
