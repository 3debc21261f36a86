import type { CollectionName, Documents } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'
import { fromObjectId } from '../db/object-id.ts'
import { conforms, type ShapedName, shapes } from '../db/shapes.ts'
import type { Registration } from '../feed/registry/registry.ts'
import type { StoredForm } from '../feed/strategies/descriptor.ts'
import { descriptors, type MaterialisedName } from '../feed/strategies/list.ts'
import { batches } from '../lib/batch.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { IntegrityServices } from './invariant.ts'

/** Entries from one part of a stored timeline. */
export interface StoredEntries {
  readonly posts: readonly PostId[]
  /** The authors that entries name, by post. */
  readonly authors: ReadonlyMap<PostId, string>
  /** A problem with the stored form: an entry is stored twice, or is misplaced. */
  readonly flaw: string | undefined
}

/** The most documents in one answer of the server. */
const batchSize = 500

/** Reads all entries that a strategy stores for a reader, in the parts that its descriptor defines. */
export async function* storedEntries(
  { collections }: IntegrityServices,
  reader: UserId,
  registration: Registration,
): AsyncGenerator<StoredEntries> {
  const { storedForm: form } = descriptors[registration._id]
  const documents = collectionOf(collections, form).find<Documents[CollectionName]>(
    form.ofReader(reader),
    { batchSize },
  )
  for await (const some of batches(documents, form.documentsTogether)) {
    const shape = shapes[form.collection as ShapedName]
    const readable = some.filter((document) => conforms(shape, document))
    const flaw = readable.length < some.length ? 'a document of another shape' : undefined
    const entries = readable.flatMap((document) => form.entriesIn(document))
    const posts = entries.map(({ post }) => fromObjectId<PostId>(post))
    const named = entries.flatMap(({ author }, at): [PostId, string][] =>
      author === undefined ? [] : [[posts[at] as PostId, author]],
    )
    const misplaced = readable.flatMap((document) => form.misplacedIn(document, registration) ?? [])
    yield { posts, authors: new Map(named), flaw: flaw ?? repeatIn(posts) ?? misplaced[0] }
  }
}

function repeatIn(posts: readonly PostId[]): string | undefined {
  const seen = new Set<PostId>()
  const again = posts.find((id) => seen.size === seen.add(id).size)
  return again && `${again} twice`
}

/**
 * Whether the stored timeline of a reader can be compared: a read must not create it. One command, or none for
 * strategies whose reads never create a timeline.
 */
export async function isComparable(
  { collections }: IntegrityServices,
  reader: UserId,
  registration: Registration,
): Promise<boolean> {
  const { storedForm: form } = descriptors[registration._id]
  if (form.comparable === 'always') return true
  const projection = { _id: 1 } as const
  const timeline = form.comparable(reader, registration)
  return (await collectionOf(collections, form).findOne(timeline, { projection })) !== null
}

/**
 * The handles from `after` to `upTo` for which a strategy stores entries. One command.
 * @param after an excluded bound.
 */
export async function storedReaders(
  { collections }: IntegrityServices,
  name: MaterialisedName,
  after: string,
  upTo: string,
): Promise<string[]> {
  const { storedForm: form } = descriptors[name]
  const found = collectionOf(collections, form).aggregate<{ _id: string }>([
    { $match: form.ofReaders(after, upTo) },
    { $group: { _id: form.reader } },
  ])
  return (await found.toArray()).map(({ _id }) => _id)
}

const collectionOf = (
  collections: IntegrityServices['collections'],
  { collection }: StoredForm<CollectionName>,
) => collections[collection] as unknown as Collection
