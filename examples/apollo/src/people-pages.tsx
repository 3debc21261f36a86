import { useQuery } from '@apollo/client/react'
import { FollowersDocument, FollowingDocument, LikesDocument } from '@feedline/client'
import { NotFound, nodesOf, People } from '@feedline/example-ui'
import { usePages } from './pages'

export function FollowersPage({ handle }: { handle: string }) {
  const result = useQuery(FollowersDocument, { variables: { handle } })
  const owner = result.data?.user
  const list = owner?.followers
  const pages = usePages(result, list?.pageInfo)
  if (result.data && !list) return <NotFound what="user" />
  const title = `Followers of @${handle}`
  return (
    <People
      {...pages}
      owner={owner}
      title={title}
      users={nodesOf(list?.edges)}
      empty="No followers yet"
    />
  )
}

export function FollowingPage({ handle }: { handle: string }) {
  const result = useQuery(FollowingDocument, { variables: { handle } })
  const owner = result.data?.user
  const list = owner?.following
  const pages = usePages(result, list?.pageInfo)
  if (result.data && !list) return <NotFound what="user" />
  const title = `Followed by @${handle}`
  return (
    <People
      {...pages}
      owner={owner}
      title={title}
      users={nodesOf(list?.edges)}
      empty="Follows no one yet"
    />
  )
}

export function LikesPage({ id }: { id: string }) {
  const result = useQuery(LikesDocument, { variables: { id } })
  const post = result.data?.node
  const list = post && 'likes' in post ? post.likes : undefined
  const pages = usePages(result, list?.pageInfo)
  if (result.data && !list) return <NotFound what="post" />
  const users = nodesOf(list?.edges).flatMap(({ user }) => user ?? [])
  return <People {...pages} title="Likes" users={users} empty="No likes yet" />
}
