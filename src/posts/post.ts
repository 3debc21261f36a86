import { type PerKind, type PostDoc, type PostFacts, postFactFields } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { fieldsConform } from '../db/shapes.ts'
import { type CountField, countFields } from '../engagement/kinds.ts'
import { type Fact, factOf, namesOf, shapesOf, valuesOf } from '../entities/leaves.ts'
import { type PostLeaves, postLeaves, postParts } from '../entities/post.ts'
import { type PostRef, timeOf, type UserId } from '../lib/ids.ts'
import type { Content } from './content.ts'

/** A post as everyone sees it. */
export interface Post extends PostFacts, Content, Readonly<Record<CountField, number>> {
  readonly createdAt: Date
}

/** What rules know of a post beyond its name. */
const furtherFacts = postFactFields.filter((name) => name !== '_id' && name !== 'author')
const factRows = Object.entries<PostLeaves[string]>(postLeaves).flatMap(([name, { type, fact }]) =>
  fact ? [[name, { type, ...fact } as Fact] as const] : [],
)
const requiredNames = Object.keys(shapesOf(postLeaves).required)

/** What is read of a post: never the lists within it, which would make popular posts dear. */
export const contentFields = [...namesOf(postLeaves), ...namesOf(postParts), 'counts'] as const
const projectionOf = (fields: readonly (keyof PostDoc)[]): Readonly<Record<string, 1>> =>
  Object.fromEntries(['author', ...fields].map((name) => [name, 1]))
/** The same as a projection. */
export const contentProjection = projectionOf(contentFields)
/** {@link postFactFields} as a projection. */
export const factsProjection = projectionOf(furtherFacts)

type FactsDoc = Pick<PostDoc, (typeof postFactFields)[number]>
/** A document that was read with {@link contentProjection}. */
export type ContentDoc = FactsDoc & Pick<PostDoc, (typeof contentFields)[number]>

/** A post's name, from its document. */
export const toRef = ({ _id, author }: Pick<PostDoc, '_id' | 'author'>): PostRef => ({
  id: fromObjectId(_id),
  author: author as UserId,
})

/** What rules know of the post of a document that was read with {@link factsProjection}. */
export const factsOf = (doc: FactsDoc): PostFacts =>
  Object.assign(
    toRef(doc),
    ...factRows.map(([name, row]) => ({
      [name]: factOf(row, (doc as Readonly<Record<string, unknown>>)[name]),
    })),
  )

/**
 * What rules know of a post that another read has proven to exist. Undefined if they know more than
 * its name: then the post must be read.
 */
export const provenPost = (post: PostRef): PostFacts | undefined =>
  furtherFacts.length === 0 ? (post as PostFacts) : undefined

/** The post of a document. Undefined if it cannot be shown: its document is malformed. */
export function toPost(doc: ContentDoc): Post | undefined {
  const facts = factsOf(doc)
  const leaves = valuesOf(postLeaves, doc)
  const { attachments } = doc
  const checked =
    attachments === undefined || attachments === null ? leaves : { ...leaves, attachments }
  if (!requiredNames.every((name) => name in leaves) || !fieldsConform('posts', checked))
    return undefined
  const facets =
    doc.facets && fieldsConform('posts', { facets: doc.facets }) ? doc.facets : undefined
  return {
    ...facts,
    ...leaves,
    ...(facets ? { facets } : {}),
    attachments: attachments ?? [],
    createdAt: timeOf(facts.id),
    ...countsOf(doc.counts),
  }
}

/** A new post in its stored form. */
export const toPostDoc = ({ id, author }: PostRef, content: Content): PostDoc => ({
  _id: toObjectId(id),
  author,
  ...valuesOf(postLeaves, content),
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
