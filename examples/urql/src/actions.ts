import * as documents from '@feedline/client'
import {
  type NewAccount,
  type ProfileChanges,
  reportProblem,
  type ShownPost,
} from '@feedline/example-ui'
import { useMemo } from 'react'
import { type Client, type TypedDocumentNode, useClient } from 'urql'
import { ask, reasonOf } from './client'

type User = documents.UserProfileFragment

/** What the viewer does. The cache shows likes and follows at once, and takes them back after a failure. */
function createActions(client: Client) {
  /** Each attempt has its own clientMutationId, unless the input has one. The repeats of the network have the same. */
  const send = async <Data, Input>(
    document: TypedDocumentNode<Data, { input: Input }>,
    given: Input,
  ): Promise<Data | undefined> => {
    const input = { clientMutationId: crypto.randomUUID(), ...given }
    const { data, error } = await client.mutation(document, { input })
    if (error) throw reasonOf(error)
    return data
  }
  /** Reports a failure, because the page has no place for it. */
  const attempt = <Data, Input>(
    document: TypedDocumentNode<Data, { input: Input }>,
    input: Input,
  ): Promise<unknown> => send(document, input).catch(reportProblem)

  return {
    createUser: (account: NewAccount, clientMutationId: string) =>
      send(documents.CreateUserDocument, { ...account, clientMutationId }),
    updateUser: (changes: ProfileChanges, clientMutationId: string) =>
      send(documents.UpdateUserDocument, { ...changes, clientMutationId }),
    isHandleAvailable: async (handle: string) =>
      (await ask(client, documents.IsHandleAvailableDocument, { handle }))?.isHandleAvailable,
    /** Resolves to the id of the post. */
    publish: async (text: string, clientMutationId: string) => {
      const data = await send(documents.PublishPostDocument, { text, clientMutationId })
      return data?.createPost?.timelineEdge?.node?.id
    },
    addComment: (postId: string, text: string, clientMutationId: string) =>
      send(documents.WriteCommentDocument, { postId, text, clientMutationId }),
    like: ({ id: postId, viewerHasLiked }: ShownPost) => {
      const document = viewerHasLiked ? documents.RemoveLikeDocument : documents.AddLikeDocument
      return attempt(document, { postId })
    },
    follow: ({ id, viewerFollows }: Pick<User, 'id' | 'viewerFollows'>) => {
      const document = viewerFollows ? documents.RemoveFollowDocument : documents.AddFollowDocument
      return attempt(document, { user: { id } })
    },
    block: ({ id, viewerHasBlocked }: User) => {
      const document = viewerHasBlocked ? documents.RemoveBlockDocument : documents.AddBlockDocument
      return attempt(document, { user: { id } })
    },
    setGroups: ({ id }: User, groups: readonly string[]) =>
      attempt(documents.SetFollowGroupsDocument, { user: { id }, groups: [...groups] }),
    deletePost: ({ id }: ShownPost) => attempt(documents.DeletePostDocument, { postId: id }),
    deleteComment: ({ id }: { readonly id: string }) =>
      attempt(documents.DeleteCommentDocument, { commentId: id }),
  }
}

export function useActions() {
  const client = useClient()
  return useMemo(() => createActions(client), [client])
}
