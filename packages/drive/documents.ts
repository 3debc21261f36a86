import { join } from 'node:path'
import { type CollectedDocument, collectDocuments } from '../../src/graphql/collect-documents.ts'
import { root } from '../../src/lib/root.ts'

/** The operations of `schema/operations` that a run sends. */
export const documentNames = [
  'CreateUser',
  'DeleteUser',
  'Viewer',
  'CreatePost',
  'FollowUser',
  'LikePost',
  'HomeTimeline',
  'ProfilePage',
  'Timeline',
  'TimelineNews',
  'TimelinePoll',
  'UserPosts',
  'Following',
  'LikedPosts',
] as const
export type DocumentName = (typeof documentNames)[number]

export type Documents = Readonly<Record<DocumentName, CollectedDocument>>

const folder = join(root, 'schema/operations')

/** Reads the documents. A server that trusts those of `schema/operations` executes them. */
export async function loadDocuments(): Promise<Documents> {
  const collected = new Map((await collectDocuments(folder)).map((found) => [found.name, found]))
  return Object.fromEntries(
    documentNames.map((name) => {
      const document = collected.get(name)
      if (!document) throw new Error(`${folder} has no operation ${name}`)
      return [name, document]
    }),
  ) as Documents
}
