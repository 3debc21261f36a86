import type { PerKind, PostDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { type CountField, engagementKinds, kinds } from '../engagement/kinds.ts'
import { type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import type { Content } from './content.ts'

/** A post as everyone sees it. */
export interface Post extends PostRef, Content, Readonly<Record<CountField, number>> {
  readonly createdAt: Date
}

/** What is read of a post: never the lists within it, which would make popular posts dear. */
export const contentFields = ['text', 'facets', 'attachments', 'counts'] as const
/** The same as a projection. */
export const contentProjection = {
  author: 1,
  text: 1,
  facets: 1,
  attachments: 1,
  counts: 1,
} as const

/** A post's name, from its document. */
export const toRef = ({ _id, author }: PostDoc): PostRef => ({
  id: fromObjectId(_id),
  author: author as UserId,
})

/** A post that was read with {@link contentProjection}. */
export function toPost(doc: PostDoc): Post {
  const ref = toRef(doc)
  return {
    ...ref,
    text: doc.text,
    ...(doc.facets ? { facets: doc.facets } : {}),
    attachments: doc.attachments ?? [],
    createdAt: timeOf(ref.id),
    ...countsOf(doc.counts),
  }
}

/** A new post in its stored form. */
export const toPostDoc = ({ id, author }: PostRef, content: Content): PostDoc => ({
  _id: toObjectId(id),
  author,
  text: content.text,
  ...(content.facets ? { facets: content.facets } : {}),
  ...(content.attachments.length > 0 ? { attachments: [...content.attachments] } : {}),
})

/** The fields of a post with stored counts. */
export const countsOf = (counts: PerKind = {}) =>
  Object.fromEntries(
    engagementKinds.map((kind) => [kinds[kind].count.field, counts[kind] ?? 0]),
  ) as Record<CountField, number>
