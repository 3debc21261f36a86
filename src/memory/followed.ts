import type { Document } from '../db/mongo.ts'

/** One collection that memory follows, and which of its changes are reported. */
export interface Followed {
  /** Its name in the database. */
  readonly collection: string
  /**
   * The fields whose update is reported, as names of the top level. Each has one value that is
   * written as a whole: a write to a path into it is not reported. 'all': every update is reported,
   * also of paths.
   */
  readonly updates: readonly string[] | 'all'
  /** Whether inserts are reported. Replacements and deletions always are. */
  readonly inserts: boolean
  /**
   * The fields of an inserted or replaced document that its change carries, of the top level. At
   * most 30 kB a document.
   */
  readonly carries: readonly string[]
}

/** A change of one followed document. */
export interface Change {
  readonly collection: string
  readonly operation: 'insert' | 'update' | 'replace' | 'delete'
  /** The document's `_id`. */
  readonly key: unknown
  /** Of an insert or a replacement: the fields that some row of {@link Followed} carries. */
  readonly document?: Document
  /**
   * Of an update: the names of the fields of the top level that it set, removed or shortened. May
   * repeat a name.
   */
  readonly fields?: readonly string[]
}

/** What the process keeps in memory. */
export interface Follower {
  /** Applies one change. Called in the order of the changes. What it throws drops everything. */
  apply(change: Change): void
  /** Forgets everything: memory may have missed a change. */
  drop(): void
}

/** Operations after which nothing is known about a collection, whichever it is. */
const upheavals = ['drop', 'rename', 'dropDatabase', 'invalidate'] as const

/** An event of the stream, as its pipeline shapes it. */
export interface StreamEvent {
  readonly operationType: Change['operation'] | (typeof upheavals)[number]
  readonly ns: { readonly coll: string }
  readonly documentKey: { readonly _id: unknown }
  readonly fullDocument?: Document
  readonly fields?: readonly string[]
}

/**
 * The stages after `$changeStream` which select and shape the events that `rows` ask for. The
 * server selects in its oplog: an update of other fields costs it about 4 µs, a reported event 11.
 */
export function eventStages(rows: readonly Followed[]): Document[] {
  return [
    { $match: { $or: [{ operationType: { $in: upheavals } }, ...rows.flatMap(conditions)] } },
    { $project: shape(rows) },
  ]
}

function conditions({ collection, updates, inserts }: Followed): Document[] {
  const whole = ['replace', 'delete', ...(inserts ? ['insert'] : [])]
  if (updates === 'all') return [eventsOf(collection, [...whole, 'update'])]
  if (updates.length === 0) return [eventsOf(collection, whole)]
  const isSet = updates.map((field) => ({
    [`updateDescription.updatedFields.${field}`]: { $exists: true },
  }))
  const isRemoved = { 'updateDescription.removedFields': { $in: updates } }
  return [
    eventsOf(collection, whole),
    { ...eventsOf(collection, ['update']), $or: [...isSet, isRemoved] },
  ]
}

const eventsOf = (collection: string, operations: readonly string[]): Document => ({
  'ns.coll': collection,
  operationType: { $in: operations },
})

function shape(rows: readonly Followed[]): Document {
  const carried = new Set(rows.flatMap(({ carries }) => carries))
  return {
    operationType: 1,
    'ns.coll': 1,
    'documentKey._id': 1,
    ...Object.fromEntries([...carried].map((field) => [`fullDocument.${field}`, 1])),
    fields: { $cond: [{ $eq: ['$operationType', 'update'] }, writtenPaths, '$$REMOVE'] },
  }
}

const writtenPaths = {
  $concatArrays: [
    namesOf({ $objectToArray: '$updateDescription.updatedFields' }, 'k'),
    '$updateDescription.removedFields',
    namesOf('$updateDescription.truncatedArrays', 'field'),
  ],
}

function namesOf(list: Document | string, field: string): Document {
  return { $map: { input: list, in: `$$this.${field}` } }
}

/** @throws {Error} if the event leaves nothing known about a collection. */
export function changeOf(event: StreamEvent): Change {
  const { operationType: operation, ns, documentKey, fullDocument, fields } = event
  if (isUpheaval(operation)) throw new Error(`the database has an event ${operation}`)
  return {
    collection: ns.coll,
    operation,
    key: documentKey._id,
    ...(fullDocument ? { document: fullDocument } : {}),
    ...(fields ? { fields: fields.map(topLevel) } : {}),
  }
}

const isUpheaval = (operation: string): operation is (typeof upheavals)[number] =>
  (upheavals as readonly string[]).includes(operation)

function topLevel(path: string): string {
  const end = path.indexOf('.')
  return end < 0 ? path : path.slice(0, end)
}
