import type { Collection, Document, MongoClient } from '../../src/db/mongo.ts'
import type { Services } from '../../src/services.ts'
import { newId } from './verify.ts'

/** All documents of a database, by collection. */
export type Documents = ReadonlyMap<string, readonly Document[]>
const collectionsOf = ({ collections }: Services) =>
  Object.entries(collections) as unknown as [string, Collection][]

export async function kept(services: Services): Promise<Documents> {
  const docs = collectionsOf(services).map(
    async ([name, one]) => [name, await one.find().toArray()] as const,
  )
  return new Map(await Promise.all(docs))
}

/** Makes a database hold these, and nothing else. */
export async function putBack(services: Services, documents: Documents): Promise<void> {
  // A registration of its own: what is known of another play counts for nothing.
  const anew = { epoch: newId() }
  const put = async ([name, one]: [string, Collection]) => {
    await one.deleteMany({})
    const docs = documents.get(name) ?? []
    if (docs.length === 0) return
    await one.insertMany(docs.map((doc) => ('epoch' in doc ? { ...doc, ...anew } : doc)))
  }
  await Promise.all(collectionsOf(services).map(put))
}

/** What nobody deletes once the processes have met. */
export async function postsAndEdges({
  collections: { posts, followers },
}: Services): Promise<string[]> {
  const [written, edges] = [await posts.find().toArray(), await followers.find().toArray()]
  return [
    ...written.map(({ _id, author }) => `${author}’s post ${_id.toHexString()}`),
    ...edges.map(({ user, follower }) => `${follower} follows ${user}`),
  ]
}

/** Tells when a write of this client first meets a transaction that is open, until disposed of. */
export function firstConflict(client: MongoClient) {
  let look = (_: { failure: unknown }) => {}
  const met = new Promise<void>((resolve) => {
    look = ({ failure }) => (failure as { code?: number }).code === 112 && resolve()
  })
  client.on('commandFailed', look)
  return { met, [Symbol.asyncDispose]: async () => void client.off('commandFailed', look) }
}
