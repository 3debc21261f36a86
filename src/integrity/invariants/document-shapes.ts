import type { Collection, Document } from '../../db/mongo.ts'
import { EJSON } from '../../db/mongo.ts'
import {
  conforms,
  malformed,
  type ShapedName,
  shapedNames,
  shapes,
  wellFormed,
  wrongFields,
} from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { changesOfAccounts, raiseVersions, relationsOf } from '../../db/versions.ts'
import { descriptors } from '../../feed/strategies/list.ts'
import type { UserId } from '../../lib/ids.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import { edgeCollections } from '../pairs.ts'
import { rebuildReader } from './timelines.ts'

const invariant = { name: 'document-shapes', law: 'L3' } as const

/** Which documents are checked: all of the database, or those of some users. */
export type ShapeRange = 'all' | readonly string[]

/** The field with the owner of a document, in the collections that a check of some users reads. */
const owners = {
  ...{ users: '_id', user_stats: '_id', followers: 'user', following: 'user' },
  ...{ follow_events: 'user', restrictions: 'owner', posts: 'author', engagements_by_user: 'user' },
} as const satisfies Partial<Record<ShapedName, string>>

/** The collections of stored timelines, and the path of the reader. */
const timelines = {
  ...{ timed_buckets: '_id.reader', sized_buckets: 'reader', timeline_cache: '_id' },
  ...{ timed_bucket_floors: '_id', sized_bucket_floors: '_id', inbox_floors: '_id' },
  ...{ inbox: '_id.reader', pulled_authors: '_id.reader' },
} as const satisfies Partial<Record<ShapedName, string>>

interface Malformed {
  readonly name: ShapedName
  readonly doc: Document
}

/** The new values of derived fields, by field. Undefined removes the field. */
type Changes = Readonly<Record<string, unknown>>

/** What restores a document. */
type Restoration =
  | { readonly change: Changes }
  | { readonly replacement: Document }
  /** Other repairs derive it again. */
  | 'DELETE'

interface ShapeViolation extends Violation, Malformed {
  readonly restoration: Restoration | undefined
}

const none = () => undefined
const zero = () => 0
/** The derived fields of user data. Without them, the other repairs write them again. */
const derived: Partial<Record<ShapedName, Readonly<Record<string, (doc: Document) => unknown>>>> = {
  users: { settlesAt: none },
  user_stats: { followers: zero, following: zero, posts: zero, guard: none, repairs: none },
  restrictions: { repairs: none },
  posts: {
    ...{ facets: none, counts: none, last: none, levels: none },
    ...{ has_overflow: none, repairs: none, guard: none },
  },
  overflow: {
    count: ({ items }) => items.length,
    first: ({ items: [entry] }) => entry?.place ?? entry?._id,
  },
}

const undecided =
  'No other document says what it was. Correct the document, or delete it. Until then no client sees it.'

/** The part of a finding about missing data while a malformed document may be what is missing. */
export const uncertain = {
  unrepairable:
    'A document with a finding of the kind shape may be what is missing. Correct it first.',
}

/** The users of a run, and the collections in which {@link hasMalformed} found a malformed document, or none. */
interface ShapeAnswers {
  readonly range: ShapeRange
  readonly signal: AbortSignal | undefined
  readonly byName: Map<ShapedName, boolean>
}
const answers = new WeakMap<IntegrityServices, ShapeAnswers>()

/**
 * The services of a run of all users, or of some. What {@link hasMalformed} finds out for one of them holds for the run.
 * @param signal ends the scans of whole collections by the server.
 */
export function servicesOfRun(
  given: IntegrityServices,
  range: ShapeRange,
  signal?: AbortSignal,
): IntegrityServices {
  const services = { ...given }
  answers.set(services, { range, signal, byName: new Map() })
  return services
}

const answersOf = (services: IntegrityServices): ShapeAnswers =>
  answers.get(services) ?? { range: 'all', signal: undefined, byName: new Map() }

/**
 * Whether a collection has a malformed document, of the users of the run if it is not of all. One command by an index of
 * the owner, or one scan by the server in a run of all users.
 * @param services of {@link servicesOfRun}.
 */
export async function hasMalformed(
  services: IntegrityServices,
  name: ShapedName,
): Promise<boolean> {
  const { range, byName, signal } = answersOf(services)
  const before = byName.get(name)
  if (before !== undefined) return before
  const owner = range === 'all' ? undefined : ownerOf(name)
  const those = range === 'all' || owner === undefined ? {} : { [owner]: { $in: [...range] } }
  const filter = { ...those, ...malformed(name) }
  const doc = await open(services, name).findOne(filter, { projection: { _id: 1 }, signal })
  byName.set(name, doc !== null)
  return doc !== null
}

/**
 * Law L3: each document has the shape that its code reads (`db/shapes.ts`). The other invariants pass over a document
 * that this one names. The repair removes derived values, restores an edge from the other collection or from its event,
 * and deletes what other repairs derive again. Everything else is reported. One scan of each collection by the server.
 */
export const documentShapes = (
  services: IntegrityServices,
): Invariant<ShapeRange, Malformed, ShapeViolation> => ({
  ...invariant,
  async *scan(range) {
    const { signal } = answersOf(services)
    for (const name of shapedNames) {
      const owner = range === 'all' ? undefined : ownerOf(name)
      if (range !== 'all' && owner === undefined) continue
      const those = owner === undefined ? {} : { [owner]: { $in: [...range] } }
      const filter = { ...those, ...malformed(name) }
      for await (const doc of open(services, name).find(filter, { signal })) {
        yield { name, doc }
      }
    }
  },
  async recheck(some, at) {
    const violations: ShapeViolation[] = []
    for (const { name, doc } of some) {
      const found = await open(services, name).findOne(
        { _id: doc._id, ...malformed(name) },
        name in timelines ? {} : { ...at },
      )
      if (!found) continue
      const restoration = await restorationOf(services, { name, doc: found }, at)
      const finding = findingOf(invariant, {
        ...{ kind: 'shape', subject: subjectOf({ name, doc: found }) },
        ...{ expected: 'the documented types', found: describe(name, found) },
        ...(restoration ? {} : { unrepairable: undecided }),
      })
      violations.push({ name, doc: found, restoration, finding })
    }
    return { violations }
  },
  async repair(tx, violations) {
    for (const one of violations) await restore(services, tx, one)
  },
})

const ownerOf = (name: ShapedName): string | undefined => (owners as Record<string, string>)[name]

/** Any collection. */
const open = ({ collections }: IntegrityServices, name: ShapedName) =>
  collections[name] as unknown as Collection<Document>

const subjectOf = ({ name, doc: { _id } }: Malformed): string => {
  const id = typeof _id === 'string' ? _id : EJSON.stringify(_id)
  return `${name} ${id.slice(0, 100)}`
}

/** The fields that are wrong, with the beginnings of their values. */
function describe(name: ShapedName, doc: Document): string {
  const fields = wrongFields(name, doc).map((field) => {
    const value = field in doc ? EJSON.stringify(doc[field] ?? null) : 'none'
    return `${field} ${value.slice(0, 60)}`
  })
  return fields.join(', ') || 'entries without a text'
}

async function restorationOf(
  services: IntegrityServices,
  { name, doc }: Malformed,
  at: Tx,
): Promise<Restoration | undefined> {
  if (name in timelines || name === 'engagements_by_user') return 'DELETE'
  if (name === 'followers' || name === 'following') {
    const replacement = await edgeFor(services, name, doc, at)
    return replacement && { replacement }
  }
  const own = derived[name] ?? {}
  const wrong = wrongFields(name, doc)
  const isDerived = wrong.length > 0 && wrong.every((field) => field in own)
  if (!isDerived) return undefined
  const change = Object.fromEntries(wrong.map((field) => [field, own[field]?.(doc)]))
  return conforms(shapes[name], changed(doc, change)) ? { change } : undefined
}

const changed = (doc: Document, change: Changes): Document =>
  Object.fromEntries(
    Object.entries({ ...doc, ...change }).filter(([, value]) => value !== undefined),
  )

/** A malformed edge, as its other document or the event that began it has it. At most three commands. */
async function edgeFor(
  { collections: { follow_events }, edges }: IntegrityServices,
  name: 'followers' | 'following',
  doc: Document,
  at: Tx,
): Promise<Document | undefined> {
  const { followers, following } = edgeCollections(edges)
  const [own, others] = name === 'followers' ? [followers, following] : [following, followers]
  if (!own) return undefined
  const other = name === 'followers' ? 'follower' : 'followee'
  const reverse = name === 'followers' ? 'followee' : 'follower'
  const same = { $or: [{ _id: doc._id }, { user: doc[other], [reverse]: doc.user }] }
  const twin: Document | undefined | null = await others?.findOne(
    { ...same, ...wellFormed(name === 'followers' ? 'following' : 'followers') } as object,
    { ...at },
  )
  const begin = { _id: doc._id, type: 'FOLLOWED' as const, ...wellFormed('follow_events') }
  const begun = twin ? undefined : await follow_events.findOne(begin, { ...at })
  const later = begun && {
    ...{ user: begun.user, followee: begun.followee },
    _id: { $gt: begun._id },
  }
  // The user has ended the follow, or begun it again.
  const event = later && (await follow_events.findOne(later, { ...at })) ? undefined : begun
  const edge: Document | null | undefined = twin
    ? { _id: twin._id, user: twin[reverse], [other]: twin.user, source: twin.source }
    : event && name === 'followers'
      ? { _id: event._id, user: event.followee, follower: event.user, source: event.source }
      : event && {
          _id: event._id,
          user: event.user,
          followee: event.followee,
          source: event.source,
        }
  if (!edge) return undefined
  const wrong = new Set(wrongFields(name, doc))
  const agrees = ['user', other].every((field) => wrong.has(field) || edge[field] === doc[field])
  const replacement = 'groups' in doc ? { ...edge, groups: doc.groups } : edge
  return agrees && conforms(shapes[name], replacement) ? replacement : undefined
}

async function restore(
  services: IntegrityServices,
  tx: Tx,
  { name, doc, restoration }: ShapeViolation,
): Promise<void> {
  const { collections } = services
  const { session } = tx
  const collection = open(services, name)
  if (restoration === undefined) return
  if (restoration === 'DELETE') {
    if (name in timelines) return dropTimeline(services, name as keyof typeof timelines, doc)
    await collection.deleteOne({ _id: doc._id }, { session })
  } else if ('replacement' in restoration) {
    const edge = restoration.replacement
    // Its shard key may change, which a replacement refuses.
    await collection.deleteOne({ _id: doc._id }, { session })
    await collection.insertOne(edge, { session })
    const users = [edge.user, edge.follower ?? edge.followee]
    await raiseVersions(collections, relationsOf(users), tx)
  } else {
    await collection.replaceOne({ _id: doc._id }, changed(doc, restoration.change), { session })
    const user = name === 'user_stats' ? doc._id : doc.author
    if (typeof user === 'string') {
      await raiseVersions(collections, changesOfAccounts([user as UserId]), tx)
    }
  }
}

/** Deletes a document of a stored timeline, and fills the timeline again if its reader has an account. */
async function dropTimeline(
  services: IntegrityServices,
  name: keyof typeof timelines,
  doc: Document,
): Promise<void> {
  const { stats, registry } = services
  const reader: unknown = timelines[name].split('.').reduce<unknown>((at, field) => {
    return (at as Document | null | undefined)?.[field]
  }, doc)
  const isLive =
    typeof reader === 'string' && (await stats.liveAmong([reader as UserId])).size === 1
  await open(services, name).deleteOne({ _id: doc._id })
  if (!isLive) return
  const storing = [...(await registry.read()).values()].flatMap(({ _id }) => {
    const { own, shared } = descriptors[_id].collections
    return [...own, ...shared].includes(name) ? [_id] : []
  })
  await rebuildReader(services, reader as UserId, [], storing)
}
