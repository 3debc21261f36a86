import type { Collection, Document, MongoClient } from '../../../src/db/mongo.ts'
import type { Services } from '../../../src/services.ts'
import { newId } from '../../support/verify.ts'

/** All documents of a database, by collection. */
export type Documents = ReadonlyMap<string, readonly Document[]>
const collectionsOf = ({ collections }: Services) =>
  Object.entries(collections) as unknown as [string, Collection][]

export async function readAll(services: Services): Promise<Documents> {
  const docs = collectionsOf(services).map(
    async ([name, one]) => [name, await one.find().toArray()] as const,
  )
  return new Map(await Promise.all(docs))
}

/** Replaces all documents of a database. */
export async function restore(services: Services, documents: Documents): Promise<void> {
  // A new epoch, so that the processes ignore what they know of the registration of an earlier
  // race.
  const fresh = { epoch: newId() }
  const renewed = (doc: Document) => ('epoch' in doc ? { ...doc, ...fresh } : doc)
  const put = async ([name, one]: [string, Collection]) => {
    await one.deleteMany({})
    const docs = documents.get(name) ?? []
    if (docs.length === 0) return
    await one.insertMany(docs.map(renewed))
  }
  await Promise.all(collectionsOf(services).map(put))
}

/** The posts and edges of a database, as text. No step deletes them after the held call. */
export async function postsAndEdges({
  collections: { posts, followers },
}: Services): Promise<string[]> {
  const [written, edges] = [await posts.find().toArray(), await followers.find().toArray()]
  return [
    ...written.map(({ _id, author }) => `${author}’s post ${_id.toHexString()}`),
    ...edges.map(({ user, follower }) => `${follower} follows ${user}`),
  ]
}

/**
 * Detects the first write of this client that conflicts with an open transaction, until its
 * disposal.
 */
export function firstConflict(client: MongoClient) {
  let onFailure = (_: { failure: unknown }) => {}
  const met = new Promise<void>((resolve) => {
    onFailure = ({ failure }) => (failure as { code?: number }).code === 112 && resolve()
  })
  client.on('commandFailed', onFailure)
  return { met, [Symbol.asyncDispose]: async () => void client.off('commandFailed', onFailure) }
}
