import { ProfilePageDocument } from '@feedline/client'
import { Feed, NotFound, nodesOf, Profile } from '@feedline/example-ui'
import { useActions } from './actions'
import { first, useList } from './list'

/** A user with their posts. */
export function ProfilePage({ handle }: { handle: string }) {
  const { data, pages } = useList(
    ProfilePageDocument,
    { handle, first },
    ({ user }) => user?.posts.pageInfo,
  )
  const user = data?.user
  const { like, deletePost, follow, block, setGroups } = useActions()
  if (data && !user && !pages.isLoading) return <NotFound what="user" />
  return (
    <>
      {user ? (
        <Profile
          user={user}
          isViewer={user.isViewer}
          onFollow={() => follow(user)}
          onBlock={() => block(user)}
          onGroups={(groups) => setGroups(user, groups)}
        />
      ) : null}
      <Feed
        {...pages}
        label={`Posts of ${user?.name ?? handle}`}
        posts={nodesOf(user?.posts.edges)}
        onLike={like}
        onDelete={deletePost}
        empty="No posts yet"
      />
    </>
  )
}
