import type { ListReader, WalkedList } from './lists.ts'
import { isTextOf, type World } from './operations.ts'

/** A list of a user that must have what was acknowledged to the user. */
export interface OwnList {
  readonly name: 'posts' | 'follows' | 'likes'
  /** The field of `User`. */
  readonly list: string
  readonly required: readonly string[]
  readonly read: () => Promise<WalkedList>
  readonly idsOf: (list: WalkedList) => string[]
  /** What the list must not have twice, in addition to its ids. */
  readonly uniqueIn?: (list: WalkedList) => string[]
}

export const idsOf = ({ items }: WalkedList): string[] => items.map(({ id }) => id)

/** The lists of a user with acknowledged items. */
export function ownListsOf(
  { people, journal, runId }: World,
  lists: ListReader,
  user: number,
): OwnList[] {
  const handle = people.handleOf(user)
  const all: readonly OwnList[] = [
    {
      ...{ name: 'posts', list: 'posts', required: journal.posts.get(user) ?? [], idsOf },
      read: () => lists.readPosts(user, handle),
      // A post that was created twice has two ids and one text.
      uniqueIn: ({ items }) =>
        items.flatMap(({ text = '' }) => (isTextOf(runId, text) ? [text] : [])),
    },
    {
      ...{ name: 'follows', list: 'following' },
      required: [...(journal.follows.get(user) ?? [])].map((each) => people.handleOf(each)),
      read: () => lists.readFollowing(user, handle),
      idsOf: ({ items }) => items.map(({ handle: followee = '' }) => followee),
    },
    {
      ...{ name: 'likes', list: 'likedPosts', required: [...(journal.likes.get(user) ?? [])] },
      read: () => lists.readLikedPosts(user, handle),
      idsOf,
    },
  ]
  return all.filter(({ required }) => required.length > 0)
}
