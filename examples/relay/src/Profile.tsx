import { Feed, NotFound, Profile as ProfileView, reportProblem } from '@feedline/example-ui'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import type { Profile_posts$key } from './__generated__/Profile_posts.graphql'
import type { Profile_user$key } from './__generated__/Profile_user.graphql'
import type { ProfileBlockMutation } from './__generated__/ProfileBlockMutation.graphql'
import type { ProfileGroupsMutation } from './__generated__/ProfileGroupsMutation.graphql'
import type { ProfilePageQuery } from './__generated__/ProfilePageQuery.graphql'
import type { ProfileQuery } from './__generated__/ProfileQuery.graphql'
import type { ProfileUnblockMutation } from './__generated__/ProfileUnblockMutation.graphql'
import { useNextPage, usePageData } from './boundary'
import { useAction } from './environment'
import { readAgain, useFollow } from './Follow'
import { readPosts, usePostActions } from './Post'

const profileQuery = graphql`
  query ProfileQuery($handle: String!) {
    user(handle: $handle) { ...Profile_user ...Profile_posts @arguments(first: 20) }
  }
`

export function Profile({ handle }: { handle: string }) {
  const { user } = usePageData<ProfileQuery>(profileQuery, { handle })
  if (!user) return <NotFound what="user" />
  return (
    <>
      <Who userRef={user} />
      <Posts userRef={user} />
    </>
  )
}

function Who({ userRef }: { userRef: Profile_user$key }) {
  const environment = relay.useRelayEnvironment()
  const user = relay.useFragment(
    graphql`
      fragment Profile_user on User {
        id handle name bio avatarUrl bannerUrl followerCount followingCount postCount
        isViewer viewerFollows followsViewer viewerHasBlocked viewerGroups
        mutuals(first: 3) { totalCount edges { node { handle } } }
      }
    `,
    userRef,
  )
  const follow = useFollow()
  const block = useAction<ProfileBlockMutation>(graphql`
    mutation ProfileBlockMutation($input: BlockUserInput!) {
      blockUser(input: $input) { user { id viewerHasBlocked } }
    }
  `)
  const unblock = useAction<ProfileUnblockMutation>(graphql`
    mutation ProfileUnblockMutation($input: UnblockUserInput!) {
      unblockUser(input: $input) { user { id viewerHasBlocked } }
    }
  `)
  const setGroups = useAction<ProfileGroupsMutation>(graphql`
    mutation ProfileGroupsMutation($input: SetFollowGroupsInput!) {
      setFollowGroups(input: $input) { user { id viewerGroups } viewer { ...main_viewer } }
    }
  `)
  const { id, handle } = user
  const input = { user: { id } }
  const effects = { updater: readAgain }
  const reload = () => relay.fetchQuery(environment, profileQuery, { handle }).toPromise()
  const report = (done: Promise<unknown>) => void done.catch(reportProblem)
  return (
    <ProfileView
      user={user}
      isViewer={user.isViewer}
      onFollow={() => report(follow(user))}
      onBlock={() => report((user.viewerHasBlocked ? unblock : block)(input, effects).then(reload))}
      onGroups={(groups) => report(setGroups({ ...input, groups }, effects))}
    />
  )
}

function Posts({ userRef }: { userRef: Profile_posts$key }) {
  const list = relay.usePaginationFragment<ProfilePageQuery, Profile_posts$key>(
    graphql`
      fragment Profile_posts on User
      @argumentDefinitions(first: { type: "Int" }, after: { type: "String" })
      @refetchable(queryName: "ProfilePageQuery") {
        name
        posts(first: $first, after: $after) @connection(key: "Profile_posts") {
          edges { node { ...Post_post } }
        }
      }
    `,
    userRef,
  )
  return (
    <Feed
      {...useNextPage(list)}
      {...usePostActions()}
      label={`Posts of ${list.data.name}`}
      posts={readPosts(list.data.posts.edges)}
      empty="No posts yet"
    />
  )
}
