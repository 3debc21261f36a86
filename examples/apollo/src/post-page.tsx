import { useQuery } from '@apollo/client/react'
import { PostPageDocument } from '@feedline/client'
import { Comments, navigate, nodesOf, PostCard, Problem } from '@feedline/example-ui'
import { useActions } from './actions'
import { usePages } from './pages'

/** A post with its comments. */
export function PostPage({ id }: { id: string }) {
  const result = useQuery(PostPageDocument, { variables: { id } })
  const post = result.data?.post
  const { like, deletePost, addComment, deleteComment } = useActions()
  const { error, hasMore, onMore } = usePages(result, post?.comments.pageInfo)
  if (error) return <Problem error={error} onRetry={onMore} />
  if (!post) return <p className="end">{result.loading ? 'Loading…' : 'There is no such post'}</p>
  return (
    <>
      <PostCard
        post={post}
        onLike={like}
        onDelete={(deleted) => deletePost(deleted).then(() => navigate('/'))}
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
