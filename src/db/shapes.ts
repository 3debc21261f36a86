import type { Document } from 'mongodb'
import { type EngagementKind, engagementKinds, kinds } from '../engagement/kinds.ts'
import type { CollectionName } from './collections.ts'
import { edgeSources, queueNames } from './documents.ts'

/** The BSON types that the shapes use. */
type BsonType =
  | 'objectId'
  | 'string'
  | 'date'
  | 'bool'
  | 'object'
  | 'array'
  | 'int'
  | 'long'
  | 'double'
  | 'null'

/** The shape of a value: the part of JSON Schema that MongoDB's `$jsonSchema` and {@link conforms} both read. */
export interface Shape {
  readonly bsonType?: BsonType | readonly BsonType[]
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly items?: Shape
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  /** Of the fields that `properties` does not name. */
  readonly additionalProperties?: Shape
  readonly anyOf?: readonly Shape[]
}

type Fields = Readonly<Record<string, Shape>>

const id: Shape = { bsonType: 'objectId' }
const text: Shape = { bsonType: 'string' }
const date: Shape = { bsonType: 'date' }
const set: Shape = { enum: [true] }
/** A whole number that a double holds exactly. `$inc` keeps it one. */
const whole: Shape = {
  ...{ bsonType: ['int', 'long', 'double'], multipleOf: 1 },
  ...{ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
}
const count: Shape = { ...whole, minimum: 0 }
const list = (items: Shape): Shape => ({ bsonType: 'array', items })
const object = (required: Fields, optional: Fields = {}): Shape => ({
  bsonType: 'object',
  ...(Object.keys(required).length > 0 ? { required: Object.keys(required) } : {}),
  properties: { ...required, ...optional },
})
const perKind = (shape: Shape): Fields =>
  Object.fromEntries(engagementKinds.map((kind) => [kind, shape]))
const [texted, untexted] = [true, false].map((has) =>
  engagementKinds.filter((kind) => kinds[kind].hasText === has),
) as [EngagementKind[], EngagementKind[]]

const source: Shape = { enum: edgeSources }
const kind: Shape = { enum: engagementKinds }
const facets = list(
  object({ kind: { enum: ['MENTION', 'HASHTAG', 'LINK'] }, start: count, end: count }),
)
const attachments = list(
  object(
    { url: text, kind: { enum: ['IMAGE', 'VIDEO', 'LINK'] } },
    { alt: text, width: count, height: count, blurhash: text },
  ),
)
const untextedEntry = object({ _id: id, actor: text }, { place: id, text, facets })
const textedEntry = object({ _id: id, actor: text, text }, { place: id, facets })
/** The entries of each kind of list. */
export const entryShapes = Object.fromEntries(
  engagementKinds.map((one) => [one, kinds[one].hasText ? textedEntry : untextedEntry]),
) as Readonly<Record<EngagementKind, Shape>>
const items = list(untextedEntry)
const textedItems = list(textedEntry)
const entries = list(object({ post: id }, { author: text, text }))
const options: Shape = { bsonType: 'object', additionalProperties: count }

/**
 * The shapes of stored documents, as `documents.ts` and `timeline-documents.ts` type them. `feedline verify` names each
 * document that has another shape. Reads of a request pass over it. Fields that a later release adds are allowed.
 */
export const shapes = {
  users: object(
    { _id: text, createdAt: date },
    {
      ...{ name: text, bio: text, avatarUrl: text, bannerUrl: text },
      ...{ deletedAt: date, settlesAt: date },
    },
  ),
  user_stats: object(
    { _id: text, followers: whole, following: whole, posts: whole },
    { guard: whole, repairs: whole },
  ),
  followers: object({ _id: id, user: text, follower: text, source }, { groups: list(text) }),
  following: object({ _id: id, user: text, followee: text, source }, { groups: list(text) }),
  follow_events: object(
    {
      ...{ _id: id, user: text, followee: text, source, at: date },
      type: { enum: ['FOLLOWED', 'UNFOLLOWED'] },
    },
    { cause: { enum: ['BLOCK'] } },
  ),
  restrictions: object(
    { _id: id, owner: text, other: text, kind: { enum: ['MUTE', 'BLOCK', 'BLOCKED_BY'] } },
    { repairs: whole },
  ),
  posts: object(
    { _id: id, author: text, text },
    {
      ...{ facets, attachments, ...perKind(items) },
      ...Object.fromEntries(texted.map((kind) => [kind, textedItems])),
      ...{ counts: object({}, perKind(whole)), last: object({}, perKind(id)) },
      ...{ levels: object({}, perKind(whole)), has_overflow: set, repairs: whole, guard: whole },
    },
  ),
  overflow: {
    ...object({ _id: object({ post: id, kind, level: whole }), first: id, count, items }),
    anyOf: [
      { properties: { _id: { properties: { kind: { enum: untexted } } } } },
      { properties: { items: textedItems } },
    ],
  },
  engagements_by_user: object({ _id: id, user: text, kind, post: id, author: text }),
  outbox: object(
    {
      ...{ _id: id, kind: text, payload: { bsonType: 'object' }, runAt: date },
      ...{ state: { enum: ['READY', 'PARKED'] }, queue: { enum: queueNames } },
      ...{ fence: whole, attempts: whole },
    },
    { about: { bsonType: ['string', 'null'] }, leased: text, error: text, traceparent: text },
  ),
  timed_buckets: object({ _id: object({ reader: text, period: whole }), entries }, { over: set }),
  sized_buckets: object(
    { _id: id, reader: text, count, newest: id, oldest: id, entries },
    { open: set },
  ),
  timeline_cache: object(
    { _id: text, epoch: id, entries, floor: id, expiresAt: date },
    { building: id },
  ),
  inbox: object({ _id: object({ reader: text, post: id }) }, { author: text, text }),
  strategies: object(
    { _id: text, epoch: id, covered: text, complete: { bsonType: 'bool' }, options },
    {
      ...{ dropping: set, floor: id, celebrities: id },
      readers: object({ done: whole, total: whole }),
      split: object({
        epoch: id,
        ranges: list(object({ after: text, covered: text }, { upTo: text, done: set })),
      }),
    },
  ),
  celebrities: object({ _id: text, readFrom: id }),
} as const satisfies Partial<Record<CollectionName, Shape>>

/** The collections whose documents have a checked shape. */
export type ShapedName = keyof typeof shapes
export const shapedNames = Object.keys(shapes) as ShapedName[]

/** A filter that matches the documents of another shape. */
export const malformed = (name: ShapedName): Document => ({ $nor: [{ $jsonSchema: shapes[name] }] })

/** A filter that matches the documents of the right shape. */
export const wellFormed = (name: ShapedName): Document => ({ $jsonSchema: shapes[name] })

/**
 * Whether a value that the driver read has a shape, as MongoDB's `$jsonSchema` would say. Pure, and linear in the size of
 * the value.
 */
export function conforms(shape: Shape, value: unknown): boolean {
  const { bsonType, required = [], properties, additionalProperties, items: each, anyOf } = shape
  if (shape.enum && !shape.enum.includes(value)) return false
  if (anyOf && !anyOf.some((one) => conforms(one, value))) return false
  const type = typeOf(value)
  if (
    bsonType &&
    !(typeof bsonType === 'string'
      ? type === bsonType
      : (bsonType as readonly string[]).includes(type))
  )
    return false
  if (typeof value === 'number' && !isInBounds(shape, value)) return false
  if (each && Array.isArray(value) && !value.every((one) => conforms(each, one))) return false
  if (type !== 'object') return true
  return (
    required.every((field) => field in (value as object)) &&
    Object.entries(value as object).every(([name, field]) => {
      const expected = properties?.[name] ?? additionalProperties
      return !expected || conforms(expected, field)
    })
  )
}

/** Whether the given fields of a document have their shapes, if they are there and were read. */
export const fieldsConform = (name: ShapedName, doc: object): boolean =>
  conforms({ bsonType: 'object', properties: (shapes[name] as Shape).properties ?? {} }, doc)

/** The top-level fields of a document that are absent or of another shape. */
export const wrongFields = (name: ShapedName, doc: object): string[] => {
  const { properties = {}, required = [] } = shapes[name] as Shape
  const fields = doc as Readonly<Record<string, unknown>>
  return Object.entries(properties).flatMap(([field, shape]) => {
    const isRight = field in fields ? conforms(shape, fields[field]) : !required.includes(field)
    return isRight ? [] : [field]
  })
}

const isInBounds = ({ minimum, maximum, multipleOf }: Shape, value: number): boolean =>
  (multipleOf === undefined || Number.isInteger(value)) &&
  (minimum === undefined || value >= minimum) &&
  (maximum === undefined || value <= maximum)

/** The BSON type of a value that the driver read, as far as shapes know it. */
function typeOf(value: unknown): BsonType | 'other' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof Date) return 'date'
  if (value instanceof RegExp) return 'other'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number') return 'double'
  if (typeof value !== 'object') return 'other'
  const { _bsontype: type } = value as { readonly _bsontype?: unknown }
  if (type === undefined) return 'object'
  return type === 'ObjectId' ? 'objectId' : 'other'
}
