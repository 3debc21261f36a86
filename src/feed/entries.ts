import type { EntryDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import type { Entry } from './strategies/strategy.ts'

/** What an entry of a materialised timeline holds of its post (seed 1: linking, embedding). */
export const entryContents = ['id', 'author', 'text'] as const
export type EntryContent = (typeof entryContents)[number]

/** What an entry is made from. */
interface Source {
  readonly id: PostId
  readonly author: UserId
  readonly text?: string | undefined
}

/** The entry of a post, holding of it what the configuration says (seed 1). */
export const entryOf = ({ id, author, text }: Source, holds: EntryContent): Entry => ({
  id,
  ...(holds === 'id' ? {} : { author }),
  ...(holds === 'text' && text !== undefined ? { text } : {}),
})

/** An entry as arrays of timelines store it. */
export const toEntryDoc = ({ id, author, text }: Entry): EntryDoc => ({
  post: toObjectId(id),
  ...(author === undefined ? {} : { author }),
  ...(text === undefined ? {} : { text }),
})

/** An entry as it was stored. */
export const fromEntryDoc = ({ post, author, text }: EntryDoc): Entry => ({
  id: fromObjectId(post),
  author: author as UserId | undefined,
  text,
})

/** Whether a post lies in a range. */
export const inRange = (id: PostId, { olderThan, newerThan }: Range): boolean =>
  (olderThan === undefined || id < olderThan) && (newerThan === undefined || id > newerThan)

/** Sorts entries into the order of a range, takes out repeats, and cuts them at its limit. */
export function inOrder(entries: readonly Entry[], { oldestFirst, limit }: Range): Entry[] {
  const sign = oldestFirst ? 1 : -1
  return [...entries]
    .sort((a, b) => (a.id < b.id ? -sign : a.id > b.id ? sign : 0))
    .filter(({ id }, at, all) => id !== all[at - 1]?.id)
    .slice(0, limit)
}
