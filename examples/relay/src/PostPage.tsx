import { Comments, NotFound, navigate, PostCard, reportProblem } from '@feedline/example-ui'
import { graphql, readInlineData, usePaginationFragment } from 'react-relay'
import type { PostPage_comment$key } from './__generated__/PostPage_comment.graphql'
import type { PostPage_comments$key } from './__generated__/PostPage_comments.graphql'
import type { PostPageAddCommentMutation } from './__generated__/PostPageAddCommentMutation.graphql'
import type { PostPageCommentsQuery } from './__generated__/PostPageCommentsQuery.graphql'
import type { PostPageDeleteCommentMutation } from './__generated__/PostPageDeleteCommentMutation.graphql'
import type { PostPageQuery } from './__generated__/PostPageQuery.graphql'
import { usePageData } from './boundary'
import { useAction } from './environment'
import { readPost, usePostActions } from './Post'

const readComment = (ref: PostPage_comment$key) =>
  readInlineData(
    graphql`
      fragment PostPage_comment on Comment @inline {
        id text createdAt viewerCanDelete
        facets { start end kind url user { handle } }
        user { handle name avatarUrl }
      }
    `,
    ref,
  )

export function PostPage({ id }: { id: string }) {
  const { onLike, onDelete } = usePostActions()
  const { post } = usePageData<PostPageQuery>(
    graphql`
      query PostPageQuery($id: ID!) {
        post(id: $id) { ...Post_post ...PostPage_comments @arguments(first: 20) }
      }
    `,
    { id },
  )
  if (!post) return <NotFound what="post" />
  return (
    <>
      <PostCard
        post={readPost(post)}
        onLike={onLike}
        onDelete={async (deleted) => (await onDelete(deleted)) && navigate('/')}
      />
      <CommentList postRef={post} />
    </>
  )
}

function CommentList({ postRef }: { postRef: PostPage_comments$key }) {
  const { data, loadNext, hasNext } = usePaginationFragment<
    PostPageCommentsQuery,
    PostPage_comments$key
  >(
    graphql`
      fragment PostPage_comments on Post
      @argumentDefinitions(first: { type: "Int" }, after: { type: "String" })
      @refetchable(queryName: "PostPageCommentsQuery") {
        id
        comments(first: $first, after: $after) @connection(key: "PostPage_comments") {
          __id
          edges { node { ...PostPage_comment } }
        }
      }
    `,
    postRef,
  )
  const add = useAction<PostPageAddCommentMutation>(graphql`
    mutation PostPageAddCommentMutation($input: AddCommentInput!, $connections: [ID!]!) {
      addComment(input: $input) {
        commentEdge @prependEdge(connections: $connections) {
          cursor
          node { ...PostPage_comment }
        }
        post { id commentCount }
      }
    }
  `)
  const remove = useAction<PostPageDeleteCommentMutation>(graphql`
    mutation PostPageDeleteCommentMutation($input: DeleteCommentInput!, $connections: [ID!]!) {
      deleteComment(input: $input) {
        deletedCommentId @deleteEdge(connections: $connections)
        post { id commentCount }
      }
    }
  `)
  const { id: postId, comments } = data
  const connections = [comments.__id]
  const onComplete = (error: Error | null) => error && reportProblem(error)
  return (
    <Comments
      comments={comments.edges.flatMap(({ node }) => (node ? readComment(node) : []))}
      onMore={hasNext ? () => loadNext(20, { onComplete }) : undefined}
      onAdd={(text, clientMutationId) => add({ postId, text, clientMutationId }, { connections })}
      onDelete={({ id }) => void remove({ commentId: id }, { connections }).catch(reportProblem)}
    />
  )
}
