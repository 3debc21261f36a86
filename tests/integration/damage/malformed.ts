import {
  Binary,
  type Collection,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'mongodb'
import { type CollectionName, collectionNames } from '../../../src/db/collections.ts'
import { isDuplicateKey } from '../../../src/db/errors.ts'
import { EJSON } from '../../../src/db/mongo.ts'
import type { Services } from '../../../src/services.ts'

/**
 * A value of each BSON type. Undefined: the field is absent. `null` and `undefined` of BSON differ.
 */
export const values: Readonly<Record<string, unknown>> = {
  double: new Double(1.5),
  NaN: new Double(Number.NaN),
  Infinity: new Double(Number.POSITIVE_INFINITY),
  string: 'a string',
  object: { a: 1 },
  array: ['b'],
  binary: new Binary(Buffer.from('binary')),
  'BSON undefined': new MinKey(),
  ObjectId: new ObjectId('a'.repeat(24)),
  bool: false,
  date: new Date(0),
  null: null,
  regex: /a/,
  int: new Int32(-7),
  long: Long.fromString('9007199254740999'),
  decimal: Decimal128.fromString('1.5'),
  minKey: new MinKey(),
  maxKey: new MaxKey(),
  timestamp: Timestamp.fromBits(1, 1),
  missing: undefined,
}

/** A field of a stored document, and the type that it gets. */
export interface MalformedCase {
  readonly collection: CollectionName
  /** The first document with the field. */
  readonly _id: unknown
  readonly path: string
  readonly type: string
}

/** The documents of a database, by collection and by id as text. */
export type Stored = ReadonlyMap<CollectionName, ReadonlyMap<string, Document>>

const open = ({ collections }: Pick<Services, 'collections'>, name: CollectionName) =>
  collections[name] as unknown as Collection<Document>
export const textOf = (value: unknown): string => EJSON.stringify(value ?? null, { relaxed: false })

/** Reads all documents. */
export async function readStored(services: Services): Promise<Stored> {
  const read = async (name: CollectionName) => {
    const docs = await open(services, name).find({}, { promoteValues: false }).toArray()
    return [name, new Map(docs.map((doc) => [textOf(doc._id), doc]))] as const
  }
  return new Map(await Promise.all(collectionNames.map(read)))
}

/**
 * Makes the database what it was. Writes only documents that differ. Again if a job that still ran
 * wrote.
 */
export async function restore(services: Services, stored: Stored, tries = 3): Promise<void> {
  try {
    await restoreOnce(services, stored)
  } catch (error) {
    if (!isDuplicateKey(error) || tries === 1) throw error
    await restore(services, stored, tries - 1)
  }
}

async function restoreOnce(services: Services, stored: Stored): Promise<void> {
  const now = await readStored(services)
  await Promise.all(
    [...stored].map(async ([name, docs]) => {
      const there = now.get(name) ?? new Map()
      const changed = [...docs].filter(([id, doc]) => textOf(there.get(id)) !== textOf(doc))
      const gone = [...there].filter(([id]) => !docs.has(id)).map(([, { _id }]) => _id)
      const ids = [...gone, ...changed.map(([, { _id }]) => _id)]
      for (const _id of ids) await open(services, name).deleteOne({ _id: { $eq: _id } })
      if (changed.length > 0) await open(services, name).insertMany(changed.map(([, doc]) => doc))
    }),
  )
}

/** Every field of every collection, with every type. Of a list, the fields of its first item. */
export function malformedCases(stored: Stored): MalformedCase[] {
  return [...stored].flatMap(([collection, docs]) => {
    const holders = new Map<string, unknown>()
    for (const doc of docs.values()) {
      for (const path of pathsIn(doc)) if (!holders.has(path)) holders.set(path, doc._id)
    }
    return [...holders].flatMap(([path, _id]) =>
      Object.keys(values).map((type) => ({ collection, _id, path, type })),
    )
  })
}

const isPlain = (value: unknown): value is Document =>
  typeof value === 'object' &&
  value !== null &&
  !('_bsontype' in value) &&
  !(value instanceof Date) &&
  !ArrayBuffer.isView(value)

function pathsIn(value: unknown, prefix = ''): string[] {
  const fields = Array.isArray(value)
    ? value.slice(0, 1).map((item, at) => [String(at), item] as const)
    : isPlain(value)
      ? Object.entries(value)
      : []
  return fields.flatMap(([name, field]) => [
    `${prefix}${name}`,
    ...pathsIn(field, `${prefix}${name}.`),
  ])
}

/** The field of a document without the positions in lists, such as `entries.post`. */
export const fieldOf = ({ collection, path }: Pick<MalformedCase, 'collection' | 'path'>): string =>
  `${collection}.${path.replace(/\.\d+/g, '')}`

/**
 * Gives a field of a document another type.
 * @returns the damaged document, or undefined if MongoDB does not store it, or no command can name
 *   it.
 */
export async function damage(
  services: Services,
  stored: Stored,
  { collection, _id, path, type }: MalformedCase,
): Promise<Document | undefined> {
  // The driver cannot send such an id, so no command finds or removes the document again.
  if (type === 'BSON undefined' && path.startsWith('_id.')) return undefined
  const doc = stored.get(collection)?.get(textOf(_id))
  if (!doc) throw new Error(`no document ${textOf(_id)}`)
  const damaged = withField(doc, path.split('.'), values[type]) as Document
  if (!('_id' in damaged)) return undefined
  const documents = open(services, collection)
  await documents.deleteOne({ _id: { $eq: _id } } as Document)
  try {
    await documents.insertOne(damaged, { ignoreUndefined: false })
    if (type === 'BSON undefined') await becomeUndefined(documents, damaged, path)
  } catch {
    await documents.deleteOne({ _id: { $eq: damaged._id } } as Document)
    await documents.insertOne(doc)
    return undefined
  }
  return (await documents.findOne({ _id: { $eq: damaged._id } })) ?? undefined
}

function withField(value: unknown, [name = '', ...rest]: readonly string[], to: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item, at) =>
      String(at) !== name ? item : rest.length > 0 ? withField(item, rest, to) : to,
    )
    return items.filter((item) => item !== undefined)
  }
  const fields = Object.entries(value as Document).flatMap(([field, old]) => {
    const now = field !== name ? old : rest.length > 0 ? withField(old, rest, to) : to
    return now === undefined ? [] : [[field, now] as const]
  })
  return Object.fromEntries(fields)
}

/** The driver writes no BSON undefined, but a function of the server does. */
async function becomeUndefined(documents: Collection<Document>, { _id }: Document, path: string) {
  const body = `function (doc, path) {
    var at = doc
    for (var n = 0; n < path.length - 1; n++) at = at[path[n]]
    at[path[path.length - 1]] = undefined
    return doc
  }`
  const args = ['$$ROOT', path.split('.')]
  await documents
    .aggregate([
      { $match: { _id: { $eq: _id } } },
      { $replaceWith: { $function: { body, args, lang: 'js' } } },
      { $merge: { into: documents.collectionName, whenMatched: 'replace' } },
    ])
    .toArray()
}
