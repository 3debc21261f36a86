import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { cacheBytes, cacheReads } from '../metrics/caches.ts'

/** The most bytes of all documents, as JSON. */
const bytesMax = 8 * 1024 ** 2

const hits = cacheReads.labels('documents', 'hit')
const misses = cacheReads.labels('documents', 'miss')

/** The parsed documents that clients sent last, with a bound in bytes, as Apollo's store of documents. */
export function createDocumentCache() {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: bytesMax,
    sizeCalculation: (document) => Buffer.byteLength(JSON.stringify(document)),
  })
  cacheBytes.readFrom(async () => [
    { labels: { cache: 'documents' }, value: documents.calculatedSize },
  ])
  return {
    get: async (key: string) => {
      const document = documents.get(key)
      ;(document ? hits : misses).inc()
      return document
    },
    set: async (key: string, document: DocumentNode) => void documents.set(key, document),
    delete: async (key: string) => documents.delete(key),
  }
}
