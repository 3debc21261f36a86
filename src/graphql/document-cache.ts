import type { DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'

/** The most bytes of all documents in memory. */
const bytesMax = 16 * 1024 ** 2

/** What a token takes with its links, its nodes and their locations, at most. */
const tokenBytes = 600

/** The valid documents that clients sent last, by their texts' hashes, with a bound in bytes. */
export class DocumentCache {
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: bytesMax,
    sizeCalculation: sizeOf,
  })
  private readonly countRead: (isHit: boolean) => void

  constructor() {
    this.countRead = measureCache('documents', () => this.documents.calculatedSize).countRead
  }

  find(hash: string): DocumentNode | undefined {
    const document = this.documents.get(hash)
    this.countRead(document !== undefined)
    return document
  }

  keep(hash: string, document: DocumentNode): void {
    this.documents.set(hash, document)
  }
}

/**
 * The bytes of a document in memory: its nodes, and what their locations keep, which are its text and its tokens.
 * Comments and white space are in no node.
 */
function sizeOf(document: DocumentNode): number {
  let bytes = 2 * (document.loc?.source.body.length ?? 0)
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    bytes += tokenBytes
  }
  return bytes
}
