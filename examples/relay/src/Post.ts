import { reportProblem, type ShownPost } from '@feedline/example-ui'
import { ConnectionHandler, graphql, readInlineData } from 'react-relay'
import type { RecordSourceSelectorProxy } from 'relay-runtime'
import type { Post_post$key } from './__generated__/Post_post.graphql'
import type { PostDeleteMutation } from './__generated__/PostDeleteMutation.graphql'
import type { PostLikeMutation } from './__generated__/PostLikeMutation.graphql'
import type { PostUnlikeMutation } from './__generated__/PostUnlikeMutation.graphql'
import { showValues, useAction } from './environment'

type Edges = readonly { readonly node: Post_post$key | null | undefined }[]

/** The posts of a list, without those that were deleted. */
export const readPosts = (edges: Edges = []): ShownPost[] =>
  edges.flatMap(({ node }) => (node ? [readPost(node)] : []))

export const readPost = (ref: Post_post$key): ShownPost =>
  readInlineData(
    graphql`
      fragment Post_post on Post @inline {
        id text createdAt likeCount commentCount viewerHasLiked viewerCanDelete
        author { handle name avatarUrl }
        facets { start end kind url user { handle } }
        attachments { url kind alt width height blurhash }
      }
    `,
    ref,
  )

/** Likes and deletes posts. */
export function usePostActions() {
  const like = useAction<PostLikeMutation>(graphql`
    mutation PostLikeMutation($input: LikePostInput!) {
      likePost(input: $input) { post { id likeCount viewerHasLiked } }
    }
  `)
  const unlike = useAction<PostUnlikeMutation>(graphql`
    mutation PostUnlikeMutation($input: UnlikePostInput!) {
      unlikePost(input: $input) { post { id likeCount viewerHasLiked } }
    }
  `)
  const toggleLike = ({ id, likeCount, viewerHasLiked }: ShownPost) => {
    const change = viewerHasLiked ? unlike : like
    const step = viewerHasLiked ? -1 : 1
    const shown = { likeCount: likeCount + step, viewerHasLiked: !viewerHasLiked }
    // The page of who likes the post reads them again.
    const updater = (store: RecordSourceSelectorProxy) => {
      const post = store.get(id)
      if (post) ConnectionHandler.getConnection(post, 'PeoplePages_likes')?.invalidateRecord()
    }
    return change({ postId: id }, { updater, ...showValues(id, shown) })
  }
  const remove = useAction<PostDeleteMutation>(graphql`
    mutation PostDeleteMutation($input: DeletePostInput!) {
      deletePost(input: $input) {
        deletedPostId @deleteRecord
        viewer { id user { id postCount } }
      }
    }
  `)
  return {
    onLike: (post: ShownPost) => void toggleLike(post).catch(reportProblem),
    onDelete: ({ id }: ShownPost) => remove({ postId: id }).catch(reportProblem),
  }
}
