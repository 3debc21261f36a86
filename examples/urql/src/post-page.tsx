import { PostPageDocument } from '@feedline/client'
import { Comments, navigate, nodesOf, PostCard, Problem } from '@feedline/example-ui'
import { useActions } from './actions'
import { first, useList } from './list'

/** A post with its comments. */
export function PostPage({ id }: { id: string }) {
  const { data, pages } = useList(
    PostPageDocument,
    { id, first },
    (answer) => answer.post?.comments.pageInfo,
  )
  const post = data?.post
  const { like, deletePost, addComment, deleteComment } = useActions()
  if (pages.error) return <Problem error={pages.error} onRetry={pages.onMore} />
  if (!post) return <p className="end">{pages.isLoading ? 'Loading…' : 'There is no such post'}</p>
  return (
    <>
      <PostCard
        post={post}
        onLike={like}
        onDelete={(deleted) => deletePost(deleted).then(() => navigate('/'))}
      />
      <Comments
        comments={nodesOf(post.comments.edges)}
        onMore={pages.hasMore ? pages.onMore : undefined}
        onAdd={(text, clientMutationId) => addComment(id, text, clientMutationId)}
        onDelete={deleteComment}
      />
    </>
  )
}
