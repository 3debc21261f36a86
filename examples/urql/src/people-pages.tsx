import { FollowersDocument, FollowingDocument, LikesDocument } from '@feedline/client'
import { NotFound, nodesOf, People } from '@feedline/example-ui'
import { first, useList } from './list'

export function FollowersPage({ handle }: { handle: string }) {
  const { data, pages } = useList(
    FollowersDocument,
    { handle, first },
    ({ user }) => user?.followers.pageInfo,
  )
  const users = nodesOf(data?.user?.followers.edges)
  if (data && !data.user && !pages.isLoading) return <NotFound what="user" />
  const title = `Followers of @${handle}`
  return (
    <People {...pages} owner={data?.user} title={title} users={users} empty="No followers yet" />
  )
}

export function FollowingPage({ handle }: { handle: string }) {
  const { data, pages } = useList(
    FollowingDocument,
    { handle, first },
    ({ user }) => user?.following.pageInfo,
  )
  const users = nodesOf(data?.user?.following.edges)
  if (data && !data.user && !pages.isLoading) return <NotFound what="user" />
  const title = `Followed by @${handle}`
  return (
    <People {...pages} owner={data?.user} title={title} users={users} empty="Follows no one yet" />
  )
}

export function LikesPage({ id }: { id: string }) {
  const { data, pages } = useList(LikesDocument, { id, first }, ({ node }) =>
    node && 'likes' in node ? node.likes.pageInfo : undefined,
  )
  const list = data?.node && 'likes' in data.node ? data.node.likes : undefined
  if (data && !list && !pages.isLoading) return <NotFound what="post" />
  const users = nodesOf(list?.edges).flatMap(({ user }) => user ?? [])
  return <People {...pages} title="Likes" users={users} empty="No likes yet" />
}
