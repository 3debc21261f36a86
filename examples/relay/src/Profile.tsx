import { Feed, Profile as ProfileView, reportProblem, viewerHandle } from '@feedline/example-ui'
import { useState } from 'react'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import type { RecordSourceSelectorProxy } from 'relay-runtime'
import type { Profile_posts$key } from './__generated__/Profile_posts.graphql.ts'
import type { Profile_user$key } from './__generated__/Profile_user.graphql.ts'
import type { ProfileBlockMutation } from './__generated__/ProfileBlockMutation.graphql.ts'
import type { ProfileFollowMutation } from './__generated__/ProfileFollowMutation.graphql.ts'
import type { ProfileGroupsMutation } from './__generated__/ProfileGroupsMutation.graphql.ts'
import type { ProfilePageQuery } from './__generated__/ProfilePageQuery.graphql.ts'
import type { ProfileQuery } from './__generated__/ProfileQuery.graphql.ts'
import type { ProfileUnblockMutation } from './__generated__/ProfileUnblockMutation.graphql.ts'
import type { ProfileUnfollowMutation } from './__generated__/ProfileUnfollowMutation.graphql.ts'
import { useAction } from './environment.ts'
import { readPosts, usePostActions } from './Post.ts'

const profileQuery = graphql`
  query ProfileQuery($handle: String!) {
    user(handle: $handle) { ...Profile_user ...Profile_posts @arguments(first: 20) }
  }
`

export function Profile({ handle, fetchKey }: { handle: string; fetchKey: number }) {
  const environment = relay.useRelayEnvironment()
  const { user } = relay.useLazyLoadQuery<ProfileQuery>(profileQuery, { handle }, { fetchKey })
  if (!user) return <p className="end">There is no such user</p>
  const reload = () => relay.fetchQuery(environment, profileQuery, { handle }).toPromise()
  return (
    <>
      <Who userRef={user} reload={reload} />
      <Posts userRef={user} />
    </>
  )
}

/** The next page that is opened reads its data again. */
const readAgain = (store: RecordSourceSelectorProxy) => store.invalidateStore()

function Who({ userRef, reload }: { userRef: Profile_user$key; reload: () => Promise<unknown> }) {
  const user = relay.useFragment(
    graphql`
      fragment Profile_user on User {
        id handle name bio avatarUrl bannerUrl followerCount followingCount postCount
        viewerFollows followsViewer viewerHasBlocked viewerGroups
      }
    `,
    userRef,
  )
  const follow = useAction<ProfileFollowMutation>(graphql`
    mutation ProfileFollowMutation($input: FollowUserInput!) {
      followUser(input: $input) {
        user { ...Profile_user }
        viewer { id user { id followingCount } }
      }
    }
  `)
  const unfollow = useAction<ProfileUnfollowMutation>(graphql`
    mutation ProfileUnfollowMutation($input: UnfollowUserInput!) {
      unfollowUser(input: $input) {
        user { ...Profile_user }
        viewer { id user { id followingCount } }
      }
    }
  `)
  const toggleFollow = ({ id, viewerFollows, followerCount }: typeof user) => {
    const change = viewerFollows ? unfollow : follow
    const count = (followerCount ?? 0) + (viewerFollows ? -1 : 1)
    return change(
      { user: { id } },
      {
        updater: readAgain,
        optimisticUpdater: (store) => {
          store.get(id)?.setValue(!viewerFollows, 'viewerFollows').setValue(count, 'followerCount')
        },
      },
    )
  }
  const block = useAction<ProfileBlockMutation>(graphql`
    mutation ProfileBlockMutation($input: BlockUserInput!) {
      blockUser(input: $input) { user { ...Profile_user } }
    }
  `)
  const unblock = useAction<ProfileUnblockMutation>(graphql`
    mutation ProfileUnblockMutation($input: UnblockUserInput!) {
      unblockUser(input: $input) { user { ...Profile_user } }
    }
  `)
  const toggleBlock = async ({ id, viewerHasBlocked }: typeof user) => {
    const change = viewerHasBlocked ? unblock : block
    await change({ user: { id } }, { updater: readAgain })
    await reload()
  }
  const setGroups = useAction<ProfileGroupsMutation>(graphql`
    mutation ProfileGroupsMutation($input: SetFollowGroupsInput!) {
      setFollowGroups(input: $input) { user { id viewerGroups } viewer { ...main_viewer } }
    }
  `)
  const report = (done: Promise<unknown>) => void done.catch(reportProblem)
  return (
    <ProfileView
      user={user}
      isViewer={user.handle === viewerHandle()}
      onFollow={() => report(toggleFollow(user))}
      onBlock={() => report(toggleBlock(user))}
      onGroups={(groups) =>
        report(setGroups({ user: { id: user.id }, groups }, { updater: readAgain }))
      }
    />
  )
}

function Posts({ userRef }: { userRef: Profile_posts$key }) {
  const [error, setError] = useState<Error | null>(null)
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
      label={`Posts of ${list.data.name}`}
      posts={readPosts(list.data.posts.edges)}
      hasMore={list.hasNext}
      isLoading={list.isLoadingNext}
      error={error}
      onMore={() => list.loadNext(20, { onComplete: setError })}
      empty="No posts yet"
      {...usePostActions()}
    />
  )
}
