import { type CollectionSpec, specs } from '../../db/collections.ts'
import type { Collection, Document } from '../../db/mongo.ts'
import { EJSON } from '../../db/mongo.ts'
import { conforms } from '../../db/shape.ts'
import {
  malformed,
  type ShapedName,
  shapedNames,
  shapes,
  wellFormed,
  wrongFields,
} from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import type { UserId } from '../../lib/ids.ts'
import { descriptors, materialisedNames } from '../../timeline/strategies/list.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Run, Violation } from '../invariant.ts'
import { edgeCollections } from '../pair-state.ts'
import { findingOf } from '../report.ts'
import { restoreNameDoc, restoreNames } from '../restored-names.ts'
import { rebuildReader } from './timelines.ts'

const invariant = { name: 'document-shapes', law: 'L3' } as const

interface Malformed {
  readonly name: ShapedName
  readonly doc: Document
}

interface ShapeViolation extends Violation, Malformed {
  /**
   * What replaces the document. DELETE: other repairs derive it again. Undefined: nothing says what
   * it was.
   */
  readonly replacement: Document | 'DELETE' | undefined
}

const none = () => undefined
const zero = () => 0
/**
 * The derived fields of user data, and their new values. Without them, the other repairs write them
 * again.
 */
const derivedFields: Partial<
  Record<ShapedName, Readonly<Record<string, (doc: Document) => unknown>>>
> = {
  users: { settlesAt: none },
  user_stats: {
    ...{ followers: zero, following: zero, posts: zero },
    ...{ guard: none, repairs: none, imported: none },
  },
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

/**
 * Law L3: each document has the shape that its code reads (`db/shapes.ts`). The other invariants
 * pass over a document that this one names. The repair removes derived values, restores an edge
 * from the other collection, and deletes what other repairs derive again. Everything else is
 * reported. One scan of each collection by the server.
 */
const documentShapes = (run: Run): Invariant<Malformed, ShapeViolation> => ({
  ...invariant,
  ranges: [{}],
  async *scan() {
    for (const name of shapedNames) {
      const found = open(run, name).find(malformed(name), { signal: run.signal })
      for await (const doc of found) yield { name, doc }
    }
  },
  async check(suspects, at) {
    const violations: ShapeViolation[] = []
    for (const { name, doc: suspect } of suspects) {
      const filter = { _id: suspect._id, ...malformed(name) }
      const doc = await open(run, name).findOne(filter, { ...at })
      if (!doc) continue
      const replacement = await replacementFor(run, { name, doc }, at)
      run.malformed.add(name)
      const finding = findingOf(invariant, {
        ...{ kind: 'shape', subject: subjectOf({ name, doc }), expected: 'the documented types' },
        ...{ found: describe(name, doc), ...(replacement ? {} : { unrepairable: undecided }) },
      })
      violations.push({ name, doc, replacement, finding })
    }
    return { violations }
  },
  async repair(tx, violations) {
    for (const violation of violations) await restore(run, tx, violation)
  },
})

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

/** The strategies whose timelines a collection stores. */
const storing = (name: ShapedName) =>
  materialisedNames.filter((strategy) => descriptors[strategy].collections.includes(name))

/** The fields of an account that the documents of its names also say. */
const namedFields: readonly string[] = ['handle', 'formerHandles', 'subject']

async function replacementFor(
  run: Run,
  { name, doc }: Malformed,
  at: Tx,
): Promise<ShapeViolation['replacement']> {
  const { derived }: CollectionSpec = specs[name]
  if (name === 'handles' || name === 'subjects') return restoreNameDoc(run, name, doc, at)
  if (derived || storing(name).length > 0) return 'DELETE'
  if (name === 'followers' || name === 'following') return edgeFor(run, name, doc, at)
  const own = derivedFields[name] ?? {}
  const wrong = wrongFields(name, doc)
  const isNamed = (field: string) => name === 'users' && namedFields.includes(field)
  if (wrong.length === 0 || !wrong.every((field) => field in own || isNamed(field)))
    return undefined
  const named = wrong.some(isNamed) ? await restoreNames(run, doc, at) : {}
  if (!named) return undefined
  const change = Object.fromEntries(
    wrong.map((field) => [field, isNamed(field) ? named[field] : own[field]?.(doc)]),
  )
  const fields = Object.entries({ ...doc, ...change }).filter(([, value]) => value !== undefined)
  const changed = Object.fromEntries(fields)
  return conforms(shapes[name], changed) ? changed : undefined
}

/** A malformed edge as the other collection has it. One command. */
async function edgeFor(
  { edges }: IntegrityServices,
  name: 'followers' | 'following',
  doc: Document,
  at: Tx,
): Promise<Document | undefined> {
  const { followers, following } = edgeCollections(edges)
  const isFollower = name === 'followers'
  const [other, reverse] = isFollower ? ['follower', 'followee'] : ['followee', 'follower']
  const filter = {
    $or: [{ _id: doc._id }, { user: doc[other], [reverse]: doc.user }],
    ...wellFormed(isFollower ? 'following' : 'followers'),
  }
  const others = isFollower ? following : followers
  const twin: Document | null | undefined = await (following && others)?.findOne(filter as object, {
    ...at,
  })
  if (!twin) return undefined
  const edge = { _id: twin._id, user: twin[reverse], [other]: twin.user, source: twin.source }
  const wrong = new Set(wrongFields(name, doc))
  const agrees = ['user', other].every(
    (field) => wrong.has(field) || (edge as Document)[field] === doc[field],
  )
  const replacement = 'groups' in doc ? { ...edge, groups: doc.groups } : edge
  return agrees && conforms(shapes[name], replacement) ? replacement : undefined
}

async function restore(
  run: Run,
  tx: Tx,
  { name, doc, replacement }: ShapeViolation,
): Promise<void> {
  if (replacement === undefined) return
  if (storing(name).length > 0) return dropTimeline(run, { name, doc })
  const { session } = tx
  // A replacement by one command refuses another shard key.
  await open(run, name).deleteOne({ _id: doc._id }, { session })
  if (replacement === 'DELETE') return
  await open(run, name).insertOne(replacement, { session })
  const { user, follower, followee } = replacement
  const isEdge = name === 'followers' || name === 'following'
  if (isEdge) {
    // So memory learns that their relations have changed.
    await run.stats.lock(tx, [user, follower ?? followee])
  }
}

/**
 * Deletes a document of a stored timeline, and fills the timeline again if its reader has an
 * account.
 */
async function dropTimeline(run: Run, { name, doc }: Malformed): Promise<void> {
  await open(run, name).deleteOne({ _id: doc._id })
  const reader: unknown = doc._id?.reader ?? doc.reader ?? doc._id
  if (typeof reader !== 'string') return
  if ((await run.stats.liveAmong([reader as UserId])).size === 0) return
  const broken = storing(name).map((strategy) => [strategy, 'WRONG'] as const)
  await rebuildReader(run, reader as UserId, new Map(broken))
}

/**
 * Checks {@link documentShapes}, and then which collections still have malformed documents: a scan
 * of each that had one.
 */
export const checkShapes: Check = async (run) => {
  await walk(documentShapes)(run)
  for (const name of run.repair ? run.malformed : []) {
    const options = { projection: { _id: 1 }, signal: run.signal }
    const left = await open(run, name).findOne(malformed(name), options)
    if (!left) run.malformed.delete(name)
  }
}
