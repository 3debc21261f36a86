import type { ApolloCache, ApolloClient, OperationVariables } from '@apollo/client'
import { CombinedGraphQLErrors } from '@apollo/client/errors'
import { useApolloClient } from '@apollo/client/react'
import type { UserProfileFragment } from '@feedline/client'
import * as documents from '@feedline/client'
import {
  type NewAccount,
  type ProfileChanges,
  reportProblem,
  type ShownPost,
} from '@feedline/example-ui'
import { useMemo } from 'react'

/** Variables of a mutation. A repeat with the same clientMutationId takes effect once. */
const inputOf = <Input extends object>(input: Input, id: string = crypto.randomUUID()) => {
  return { input: { ...input, clientMutationId: id } }
}

/** For forms: the `extensions` of the server are the `cause`. */
function throwRefusal(error: unknown): never {
  const [refusal] = CombinedGraphQLErrors.is(error) ? error.errors : []
  throw refusal ? new Error(refusal.message, { cause: refusal.extensions }) : error
}

/** A suggested user has no numbers and no groups. */
type Followee = Pick<UserProfileFragment, 'id' | 'viewerFollows'> & Partial<UserProfileFragment>

interface List {
  readonly edges: readonly { readonly node: { readonly id: string } | null }[]
}

/** The list with an edge on top. Nothing if it holds the node already, as after a repeated mutation. */
const withEdge = <L extends List>(list: L | undefined, edge: L['edges'][number]) =>
  list?.edges.every(({ node }) => node?.id !== edge.node?.id)
    ? { ...list, edges: [edge, ...list.edges] }
    : undefined

/** Removes an object from every list in the cache. */
function drop(cache: ApolloCache, __typename: string, id: string): void {
  cache.evict({ id: cache.identify({ __typename, id }) ?? '' })
  cache.gc()
}

/** The next page with a timeline reads it again. */
const dropTimelines = (cache: ApolloCache) => {
  cache.evict({ id: 'ROOT_QUERY', fieldName: 'timeline' })
}

/** The next page with the list reads it again. */
const dropList = (cache: ApolloCache, __typename: string, id: string, fieldName: string) => {
  cache.evict({ id: cache.identify({ __typename, id }) ?? '', fieldName })
}

/** All that is shown is read again. A block changes every list, and a new account what the viewer sees of it. */
const dropAll = (cache: ApolloCache) => {
  cache.evict({ id: 'ROOT_QUERY' })
}

/** What the viewer does. Likes and follows show at once. A failure takes them back and is reported. */
function createActions(client: ApolloClient) {
  const send = <Data, Variables extends OperationVariables>(
    options: ApolloClient.MutateOptions<Data, Variables>,
  ) => client.mutate(options).catch(reportProblem)

  const createUser = (account: NewAccount, clientMutationId: string) =>
    client
      .mutate({
        mutation: documents.CreateUserDocument,
        variables: inputOf(account, clientMutationId),
        update: dropAll,
      })
      .catch(throwRefusal)

  const updateUser = (changes: ProfileChanges, clientMutationId: string) =>
    client
      .mutate({
        mutation: documents.UpdateUserDocument,
        variables: inputOf(changes, clientMutationId),
      })
      .catch(throwRefusal)

  const isHandleAvailable = async (handle: string) => {
    const query = { query: documents.IsHandleAvailableDocument, variables: { handle } }
    const { data } = await client.query({ ...query, fetchPolicy: 'no-cache' })
    return data?.isHandleAvailable
  }

  const like = ({ id, likeCount, viewerHasLiked }: ShownPost) => {
    const post = {
      __typename: 'Post' as const,
      id,
      likeCount: likeCount + (viewerHasLiked ? -1 : 1),
      viewerHasLiked: !viewerHasLiked,
    }
    return send({
      mutation: viewerHasLiked ? documents.RemoveLikeDocument : documents.AddLikeDocument,
      variables: inputOf({ postId: id }),
      optimisticResponse: { result: { post } },
      update: (cache) => dropList(cache, 'Post', id, 'likes'),
    })
  }

  const follow = (followee: Followee) => {
    const { id, viewerFollows, followerCount, viewerGroups = [] } = followee
    const viewer = client.readQuery({ query: documents.SessionDocument })?.viewer
    if (!viewer) return
    const user = {
      __typename: 'User' as const,
      id,
      followerCount: (followerCount ?? 0) + (viewerFollows ? -1 : 1),
      viewerFollows: !viewerFollows,
      viewerGroups: viewerFollows ? [] : viewerGroups,
    }
    return send({
      mutation: viewerFollows ? documents.RemoveFollowDocument : documents.AddFollowDocument,
      variables: inputOf({ user: { id } }),
      optimisticResponse: { result: { user, viewer } },
      update: (cache) => {
        dropTimelines(cache)
        dropList(cache, 'User', id, 'followers')
        if (viewer.user) dropList(cache, 'User', viewer.user.id, 'following')
      },
    })
  }

  const block = ({ id, viewerHasBlocked }: UserProfileFragment) =>
    send({
      mutation: viewerHasBlocked ? documents.RemoveBlockDocument : documents.AddBlockDocument,
      variables: inputOf({ user: { id } }),
      update: dropAll,
    })

  const setGroups = ({ id }: UserProfileFragment, groups: readonly string[]) =>
    send({
      mutation: documents.SetFollowGroupsDocument,
      variables: inputOf({ user: { id }, groups: [...groups] }),
      update: dropTimelines,
      refetchQueries: [documents.SessionDocument],
    })

  /** Puts a new post on top of the home timeline, and resolves to its id. */
  const publish = async (text: string, clientMutationId: string) => {
    const { data } = await client.mutate({
      mutation: documents.PublishPostDocument,
      variables: inputOf({ text }, clientMutationId),
      update: (cache, { data }) => {
        if (!data?.createPost) return
        const { timelineEdge, viewer } = data.createPost
        cache.updateQuery({ query: documents.HomeTimelineDocument }, (held) => {
          const timeline = timelineEdge && withEdge(held?.timeline ?? undefined, timelineEdge)
          return timeline && { timeline }
        })
        if (viewer.user) dropList(cache, 'User', viewer.user.id, 'posts')
      },
    })
    return data?.createPost?.timelineEdge?.node?.id
  }

  const deletePost = ({ id }: ShownPost) =>
    send({
      mutation: documents.DeletePostDocument,
      variables: inputOf({ postId: id }),
      update: (cache) => drop(cache, 'Post', id),
    })

  const addComment = (post: ShownPost, text: string, clientMutationId: string) =>
    client.mutate({
      mutation: documents.WriteCommentDocument,
      variables: inputOf({ postId: post.id, text }, clientMutationId),
      update: (cache, { data }) => {
        const edge = data?.addComment?.commentEdge
        const query = { query: documents.PostPageDocument, variables: { id: post.id } }
        cache.updateQuery(query, (held) => {
          const comments = edge && withEdge(held?.post?.comments, edge)
          return held?.post && comments && { post: { ...held.post, comments } }
        })
      },
    })

  const deleteComment = ({ id }: { readonly id: string }) =>
    send({
      mutation: documents.DeleteCommentDocument,
      variables: inputOf({ commentId: id }),
      update: (cache) => drop(cache, 'Comment', id),
    })

  return {
    ...{ createUser, updateUser, isHandleAvailable, like, follow, block, setGroups },
    ...{ publish, deletePost, addComment, deleteComment },
  }
}

export function useActions() {
  const client = useApolloClient()
  return useMemo(() => createActions(client), [client])
}
