import { NotFound, nodesOf, People } from '@feedline/example-ui'
import { graphql, usePaginationFragment } from 'react-relay'
import type { PeoplePages_followers$key } from './__generated__/PeoplePages_followers.graphql'
import type { PeoplePages_following$key } from './__generated__/PeoplePages_following.graphql'
import type { PeoplePages_likes$key } from './__generated__/PeoplePages_likes.graphql'
import type { PeoplePagesFollowersPageQuery } from './__generated__/PeoplePagesFollowersPageQuery.graphql'
import type { PeoplePagesFollowersQuery } from './__generated__/PeoplePagesFollowersQuery.graphql'
import type { PeoplePagesFollowingPageQuery } from './__generated__/PeoplePagesFollowingPageQuery.graphql'
import type { PeoplePagesFollowingQuery } from './__generated__/PeoplePagesFollowingQuery.graphql'
import type { PeoplePagesLikesPageQuery } from './__generated__/PeoplePagesLikesPageQuery.graphql'
import type { PeoplePagesLikesQuery } from './__generated__/PeoplePagesLikesQuery.graphql'
import { useNextPage, usePageData } from './boundary'

export function Followers({ handle }: { handle: string }) {
  const { user } = usePageData<PeoplePagesFollowersQuery>(
    graphql`
      query PeoplePagesFollowersQuery($handle: String!) {
        user(handle: $handle) { handle ...PeoplePages_followers @arguments(first: 20) }
      }
    `,
    { handle },
  )
  return user ? <FollowersList listRef={user} handle={user.handle} /> : <NotFound what="user" />
}

function FollowersList({
  listRef,
  handle,
}: {
  listRef: PeoplePages_followers$key
  handle: string
}) {
  const list = usePaginationFragment<PeoplePagesFollowersPageQuery, PeoplePages_followers$key>(
    graphql`
      fragment PeoplePages_followers on User
      @argumentDefinitions(first: { type: "Int" }, after: { type: "String" })
      @refetchable(queryName: "PeoplePagesFollowersPageQuery") {
        followers(first: $first, after: $after) @connection(key: "PeoplePages_followers") {
          edges { node { handle name avatarUrl } }
        }
      }
    `,
    listRef,
  )
  return (
    <People
      {...useNextPage(list)}
      owner={{ handle }}
      title={`Followers of @${handle}`}
      users={nodesOf(list.data.followers.edges)}
      empty="No followers yet"
    />
  )
}

export function Following({ handle }: { handle: string }) {
  const { user } = usePageData<PeoplePagesFollowingQuery>(
    graphql`
      query PeoplePagesFollowingQuery($handle: String!) {
        user(handle: $handle) { handle ...PeoplePages_following @arguments(first: 20) }
      }
    `,
    { handle },
  )
  return user ? <FollowingList listRef={user} handle={user.handle} /> : <NotFound what="user" />
}

function FollowingList({
  listRef,
  handle,
}: {
  listRef: PeoplePages_following$key
  handle: string
}) {
  const list = usePaginationFragment<PeoplePagesFollowingPageQuery, PeoplePages_following$key>(
    graphql`
      fragment PeoplePages_following on User
      @argumentDefinitions(first: { type: "Int" }, after: { type: "String" })
      @refetchable(queryName: "PeoplePagesFollowingPageQuery") {
        following(first: $first, after: $after) @connection(key: "PeoplePages_following") {
          edges { node { handle name avatarUrl } }
        }
      }
    `,
    listRef,
  )
  return (
    <People
      {...useNextPage(list)}
      owner={{ handle }}
      title={`Followed by @${handle}`}
      users={nodesOf(list.data.following.edges)}
      empty="Follows no one yet"
    />
  )
}

export function Likes({ id }: { id: string }) {
  const { post } = usePageData<PeoplePagesLikesQuery>(
    graphql`
      query PeoplePagesLikesQuery($id: ID!) {
        post(id: $id) { ...PeoplePages_likes @arguments(first: 20) }
      }
    `,
    { id },
  )
  return post ? <LikesList listRef={post} /> : <NotFound what="post" />
}

function LikesList({ listRef }: { listRef: PeoplePages_likes$key }) {
  const list = usePaginationFragment<PeoplePagesLikesPageQuery, PeoplePages_likes$key>(
    graphql`
      fragment PeoplePages_likes on Post
      @argumentDefinitions(first: { type: "Int" }, after: { type: "String" })
      @refetchable(queryName: "PeoplePagesLikesPageQuery") {
        likes(first: $first, after: $after) @connection(key: "PeoplePages_likes") {
          edges { node { user { handle name avatarUrl } } }
        }
      }
    `,
    listRef,
  )
  return (
    <People
      {...useNextPage(list)}
      title="Likes"
      users={nodesOf(list.data.likes.edges).flatMap(({ user }) => user ?? [])}
      empty="No likes yet"
    />
  )
}
