import type { CollectionName } from '../../src/db/collections.ts'
import type { BenchDatabase } from '../database.ts'

/** What a collection takes, in bytes. */
export interface StoredBytes {
  readonly documents: number
  /** The bytes of the documents, before compression. */
  readonly uncompressed: number
  /** The bytes of the documents in their file, after compression. */
  readonly data: number
  /** The bytes of data and indexes in their files. */
  readonly total: number
}

interface StorageStats {
  readonly count: number
  readonly size: number
  readonly storageSize: number
  readonly freeStorageSize: number
  readonly totalIndexSize: number
  readonly indexDetails: Readonly<Record<string, { readonly 'block-manager': BlockManager }>>
}

interface BlockManager {
  readonly 'file bytes available for reuse': number
}

/** What stores an account, and what stores an edge. */
export const accountCollections = ['users', 'handles', 'subjects', 'user_stats'] as const
export const edgeCollections = ['followers', 'following', 'follow_events'] as const

/**
 * Measures collections after a checkpoint, so that their files hold all documents. Free space in
 * the files does not count: the next documents take it, and how much there is depends on the time
 * of the last checkpoints.
 */
export async function measureStorage<Name extends CollectionName>(
  { client, db }: BenchDatabase,
  names: readonly Name[],
): Promise<Readonly<Record<Name, StoredBytes>>> {
  await client.db('admin').command({ fsync: 1 })
  const measured = names.map(async (name): Promise<[Name, StoredBytes]> => {
    const [found] = await db
      .collection(name)
      .aggregate<{ storageStats: StorageStats }>([{ $collStats: { storageStats: {} } }])
      .toArray()
    if (!found) return [name, { documents: 0, uncompressed: 0, data: 0, total: 0 }]
    const { count, size, storageSize, freeStorageSize, totalIndexSize, indexDetails } =
      found.storageStats
    const freeInIndexes = Object.values(indexDetails).reduce(
      (sum, one) => sum + one['block-manager']['file bytes available for reuse'],
      0,
    )
    const data = storageSize - freeStorageSize
    const total = data + totalIndexSize - freeInIndexes
    return [name, { documents: count, uncompressed: size, data, total }]
  })
  return Object.fromEntries(await Promise.all(measured)) as Record<Name, StoredBytes>
}

/** The bytes on disk of one document with its index entries. 0 for an empty collection. */
export const bytesPerDocument = ({ documents, total }: StoredBytes): number =>
  documents === 0 ? 0 : total / documents
