import { graphql } from 'react-relay'
import type { RecordSourceSelectorProxy } from 'relay-runtime'
import type { FollowEndMutation } from './__generated__/FollowEndMutation.graphql'
import type { FollowMutation } from './__generated__/FollowMutation.graphql'
import { showValues, useAction } from './environment'

interface Followee {
  readonly id: string
  readonly viewerFollows: boolean
  readonly followerCount?: number | null | undefined
}

/** A timeline that is open, and each page that is opened next, reads its data again. */
export const readAgain = (store: RecordSourceSelectorProxy) => store.invalidateStore()

/** Follows a user, or ends that. */
export function useFollow() {
  const follow = useAction<FollowMutation>(graphql`
    mutation FollowMutation($input: FollowUserInput!) {
      followUser(input: $input) {
        user { id followerCount viewerFollows viewerGroups }
        viewer { id user { id followingCount } }
      }
    }
  `)
  const unfollow = useAction<FollowEndMutation>(graphql`
    mutation FollowEndMutation($input: UnfollowUserInput!) {
      unfollowUser(input: $input) {
        user { id followerCount viewerFollows viewerGroups }
        viewer { id user { id followingCount } }
      }
    }
  `)
  return ({ id, viewerFollows, followerCount }: Followee) => {
    const change = viewerFollows ? unfollow : follow
    const step = viewerFollows ? -1 : 1
    const shown = { followerCount: (followerCount ?? 0) + step, viewerFollows: !viewerFollows }
    return change({ user: { id } }, { updater: readAgain, ...showValues(id, shown) })
  }
}
