import { createHash } from 'node:crypto'
import type { TestApp } from './app.ts'

/** The hash by which a client names a document. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Lets a server forget all documents that it has stored, by documents that fill its memory. */
export async function forgetDocuments(app: TestApp): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const query = `{ __typename } # ${n} ${'x'.repeat(32_000)}`
    const persistedQuery = { version: 1, sha256Hash: hashOf(query) }
    await app.send({ body: JSON.stringify({ query, extensions: { persistedQuery } }) })
  }
}
