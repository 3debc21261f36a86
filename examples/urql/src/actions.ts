import * as documents from '@feedline/client'
import { reportProblem, type ShownPost } from '@feedline/example-ui'
import { useMemo } from 'react'
import { type Client, type TypedDocumentNode, useClient } from 'urql'
import { reasonOf } from './client.ts'

type User = documents.UserProfileFragment

/** What the viewer does. The cache shows likes and follows at once, and takes them back after a failure. */
function createActions(client: Client) {
  // #region urql-mutations
  /** Each attempt has its own clientMutationId. The repeats of the network have the same. */
  const mutate = async <Data, Input>(
    document: TypedDocumentNode<Data, { input: Input }>,
    given: Input,
  ): Promise<void> => {
    const input = { ...given, clientMutationId: crypto.randomUUID() }
    const { error } = await client.mutation(document, { input })
    if (error) throw reasonOf(error)
  }
  // #endregion
  const report = (done: Promise<unknown>) => done.catch(reportProblem)
  return {
    createUser: (name: string) => report(mutate(documents.CreateUserDocument, { name })),
    publish: (text: string) => mutate(documents.PublishPostDocument, { text }),
    addComment: (postId: string, text: string) =>
      mutate(documents.WriteCommentDocument, { postId, text }),
    like: ({ id, viewerHasLiked }: ShownPost) =>
      report(
        mutate(viewerHasLiked ? documents.RemoveLikeDocument : documents.AddLikeDocument, {
          postId: id,
        }),
      ),
    follow: ({ id, viewerFollows }: Pick<User, 'id' | 'viewerFollows'>) =>
      report(
        mutate(viewerFollows ? documents.RemoveFollowDocument : documents.AddFollowDocument, {
          user: { id },
        }),
      ),
    block: ({ id, viewerHasBlocked }: User) =>
      report(
        mutate(viewerHasBlocked ? documents.RemoveBlockDocument : documents.AddBlockDocument, {
          user: { id },
        }),
      ),
    setGroups: ({ id }: User, groups: readonly string[]) =>
      report(mutate(documents.SetFollowGroupsDocument, { user: { id }, groups: [...groups] })),
    deletePost: ({ id }: ShownPost) => report(mutate(documents.DeletePostDocument, { postId: id })),
    deleteComment: ({ id }: { readonly id: string }) =>
      report(mutate(documents.DeleteCommentDocument, { commentId: id })),
  }
}

export function useActions() {
  const client = useClient()
  return useMemo(() => createActions(client), [client])
}
