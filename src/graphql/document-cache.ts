import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'

/** The most bytes of all documents in memory. */
const bytesMax = 16 * 1024 ** 2

/** What a token takes with its links, and a node for each byte of its JSON. */
const [tokenBytes, bytesPerJsonByte] = [120, 2]

/** The parsed documents that clients sent last, with a bound in bytes, as Apollo's store of documents. */
export function createDocumentCache() {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: bytesMax,
    sizeCalculation: sizeOf,
  })
  const { countRead } = measureCache('documents', () => documents.calculatedSize)
  return {
    get: async (key: string) => {
      const document = documents.get(key)
      countRead(document !== undefined)
      return document
    },
    set: async (key: string, document: DocumentNode) => void documents.set(key, document),
    delete: async (key: string) => documents.delete(key),
  }
}

/**
 * The bytes of a document in memory: its nodes, and what their locations keep, which are its text and its tokens.
 * Comments and white space are in no node.
 */
function sizeOf(document: DocumentNode): number {
  let bytes = Buffer.byteLength(JSON.stringify(document)) * bytesPerJsonByte
  bytes += 2 * (document.loc?.source.body.length ?? 0)
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    bytes += tokenBytes
  }
  return bytes
}
