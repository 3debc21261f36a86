import { useQuery } from '@apollo/client/react'
import { PostPageDocument } from '@feedline/client'
import {
  Comments,
  Loading,
  NotFound,
  navigate,
  nodesOf,
  PostCard,
  Problem,
} from '@feedline/example-ui'
import { useActions } from './actions'
import { usePages } from './pages'

/** A post with its comments. */
export function PostPage({ id }: { id: string }) {
  const result = useQuery(PostPageDocument, { variables: { id } })
  const post = result.data?.post
  const { like, deletePost, addComment, deleteComment } = useActions()
  const { error, hasMore, onMore } = usePages(result, post?.comments.pageInfo)
  if (error) return <Problem error={error} onRetry={onMore} />
  if (!post) return result.loading ? <Loading /> : <NotFound what="post" />
  return (
    <>
      <PostCard
        post={post}
        onLike={like}
        onDelete={async (deleted) => (await deletePost(deleted)) && navigate('/')}
      />
      <Comments
        comments={nodesOf(post.comments.edges)}
        onMore={hasMore ? onMore : undefined}
        onAdd={(text, clientMutationId) => addComment(post, text, clientMutationId)}
        onDelete={deleteComment}
      />
    </>
  )
}
