import type { PerKind, PostDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { fieldsConform } from '../db/shapes.ts'
import { type CountField, countFields } from '../engagement/kinds.ts'
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

/** A document that was read with {@link contentProjection}. */
export type ContentDoc = Pick<PostDoc, keyof typeof contentProjection | '_id'>

/** A post's name, from its document. */
export const toRef = ({ _id, author }: Pick<PostDoc, '_id' | 'author'>): PostRef => ({
  id: fromObjectId(_id),
  author: author as UserId,
})

/** The post of a document. Undefined if it cannot be shown: its document is malformed. */
export function toPost(doc: ContentDoc): Post | undefined {
  const ref = toRef(doc)
  const { text, attachments } = doc
  const hasNone = attachments === undefined || attachments === null
  if (text === undefined || !fieldsConform('posts', { text, ...(!hasNone && { attachments }) }))
    return undefined
  const facets =
    doc.facets && fieldsConform('posts', { facets: doc.facets }) ? doc.facets : undefined
  return {
    ...ref,
    text,
    ...(facets ? { facets } : {}),
    attachments: attachments ?? [],
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

/** A stored count, as `Int` of GraphQL. One that is malformed counts nothing. */
export const soundCount = (count: unknown): number =>
  typeof count === 'number' && (count | 0) === count ? count : 0

const countRows = [...countFields]

/** The fields of a post with stored counts. */
export function countsOf(counts: PerKind | null = {}): Record<CountField, number> {
  const fields: Partial<Record<CountField, number>> = {}
  for (const [field, kind] of countRows) fields[field] = soundCount(counts?.[kind])
  return fields as Record<CountField, number>
}
