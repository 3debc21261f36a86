import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { measureCache } from '../metrics/caches.ts'
import { readDocumentName, readMembers } from './named-documents.ts'

/** The most bytes of all stored documents, and of one. */
const [bytesMax, documentBytesMax] = [8 * 1024 ** 2, 32 * 1024]

/** What an entry takes beside its text. */
const entryBytes = 300

/** The bytes of a document whose storage costs one unit. */
const bytesPerPrice = 10

/**
 * The documents that clients stored by their hashes, in the memory of this process, with a bound in
 * bytes. Apollo stores a document after it has passed all limits. A document over 32 KB is not
 * stored, so its client sends it each time.
 */
export class PersistedDocuments {
  private readonly texts = new LRUCache<string, string>({
    maxSize: bytesMax,
    maxEntrySize: documentBytesMax + entryBytes,
    sizeCalculation: (text) => Buffer.byteLength(text) + entryBytes,
  })
  private readonly countRead: (isHit: boolean) => void

  constructor() {
    this.countRead = measureCache('persisted_documents', () => this.texts.calculatedSize).countRead
  }

  async get(key: string): Promise<string | undefined> {
    const text = this.texts.get(key)
    this.countRead(text !== undefined)
    return text
  }

  async set(key: string, text: string): Promise<void> {
    this.texts.set(key, text)
  }

  async delete(key: string): Promise<boolean> {
    return this.texts.delete(key)
  }

  /** Whether the document of this hash is stored. */
  has(hash: string): boolean {
    return this.texts.has(`${apolloPrefix}${hash}`)
  }

  /** The document of this hash, if it is stored. */
  textOf(hash: string): string | undefined {
    return this.texts.get(`${apolloPrefix}${hash}`)
  }

  /**
   * The cost of storing a document, so that a client cannot remove those of other clients cheaply.
   * 0 if it is stored, or will not be.
   */
  priceOf(hash: string, text: string): number {
    const bytes = Buffer.byteLength(text)
    return bytes > documentBytesMax || this.has(hash) ? 0 : Math.ceil(bytes / bytesPerPrice)
  }
}

/**
 * Matches each URL with a parameter `query`, whose name may be encoded, and few others. A part of
 * the URL belongs to one match at most, so a long URL takes no longer than its length.
 */
const mayHaveQuery = /[?&](?:query=|[^=&?]*%)/

/** Whether a request brings a document that its execution stores. */
export function registersDocument(request: FastifyRequest, persisted: PersistedDocuments): boolean {
  // Most requests by GET have no document, and need not be parsed.
  if (request.method === 'GET' && !mayHaveQuery.test(request.url)) return false
  const name = readDocumentName(readMembers(request))
  return name?.query !== undefined && name.hash !== undefined && !persisted.has(name.hash)
}

/** What Apollo begins each key with. */
const apolloPrefix = 'apq:'
