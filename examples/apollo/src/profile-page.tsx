import { useQuery } from '@apollo/client/react'
import { ProfilePageDocument } from '@feedline/client'
import { Feed, NotFound, nodesOf, Profile } from '@feedline/example-ui'
import { useActions } from './actions'
import { usePages } from './pages'

/** A user with their posts. */
export function ProfilePage({ handle }: { handle: string }) {
  const result = useQuery(ProfilePageDocument, { variables: { handle } })
  const user = result.data?.user
  const pages = usePages(result, user?.posts.pageInfo)
  const { like, deletePost, follow, block, setGroups } = useActions()
  if (result.data && !user) return <NotFound what="user" />
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
