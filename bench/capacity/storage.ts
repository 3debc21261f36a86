import type { CollectionName } from '../../src/db/collections.ts'
import type { BenchDatabase } from '../database.ts'

/** What a collection takes, in bytes. */
export interface StoredBytes {
  readonly documents: number
  /** The bytes of the documents, before compression. */
  readonly uncompressed: number
  /** The bytes of the files of the documents, after compression. */
  readonly data: number
  /** The bytes of the files of data and indexes. */
  readonly total: number
}

/** Measures collections after a checkpoint, so that their files hold all documents. Free space in the files counts. */
export async function measureStorage<Name extends CollectionName>(
  { client, db }: BenchDatabase,
  names: readonly Name[],
): Promise<Readonly<Record<Name, StoredBytes>>> {
  await client.db('admin').command({ fsync: 1 })
  const measured = names.map(async (name): Promise<[Name, StoredBytes]> => {
    const [found] = await db
      .collection(name)
      .aggregate<{ storageStats: Record<string, number> }>([{ $collStats: { storageStats: {} } }])
      .toArray()
    const { count = 0, size = 0, storageSize = 0, totalIndexSize = 0 } = found?.storageStats ?? {}
    const total = storageSize + totalIndexSize
    return [name, { documents: count, uncompressed: size, data: storageSize, total }]
  })
  return Object.fromEntries(await Promise.all(measured)) as Record<Name, StoredBytes>
}

/** The bytes on disk of one document with its index entries. 0 for an empty collection. */
export const bytesPerDocument = ({ documents, total }: StoredBytes): number =>
  documents === 0 ? 0 : total / documents
