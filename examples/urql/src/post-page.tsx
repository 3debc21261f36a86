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
  if (!post) return pages.isLoading ? <Loading /> : <NotFound what="post" />
  return (
    <>
      <PostCard
        post={post}
        onLike={like}
        onDelete={async (deleted) => (await deletePost(deleted)) && navigate('/')}
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
