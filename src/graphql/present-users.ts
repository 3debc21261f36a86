import type { UserId } from '../lib/ids.ts'
import type { Stats } from '../users/stats.ts'
import { optionalFields, type User as Profile } from '../users/users.ts'
import type { Context } from './context.ts'
import { userNodeId, viewerNodeId } from './node-id.ts'
import { profileFields } from './prices.ts'
import type { Selection } from './selection.ts'
import type { User } from './types/user.ts'

/** Whether a selection on User needs the profile. */
export const needsProfile = (user: Selection): boolean => user.has(...profileFields)

/** The fields of a user that its counters answer. */
export const countFields = ['followerCount', 'followingCount', 'postCount'] as const

/** The fields of a user that a block hides. */
const hiddenFields = ['name', ...optionalFields, ...countFields] as const

/**
 * Loads users as plain objects with all selected fields. Users without an account are absent. A block between the viewer
 * and a user leaves only the handle, `createdAt` and the viewer's own relations.
 *
 * One command for each selected part of profile, stats and the viewer's relations, for any number of users. Without
 * these, one decides whether the account exists. Both are already known of a timeline's authors.
 */
export async function presentUsers(
  { loaders, viewer }: Context,
  handles: readonly UserId[],
  selection: Selection,
): Promise<Map<UserId, User>> {
  const distinct = [...new Set(handles)]
  const when = <V>(needed: boolean, load: (handle: UserId) => Promise<V>) =>
    needed ? Promise.all(distinct.map(load)) : undefined
  const profile = needsProfile(selection)
  const counts = selection.has(...countFields)
  const [hidden, unfollowable, profiles, live, stats, follows, followed, groups, restrictions] =
    await Promise.all([
      selection.has(...hiddenFields) ? loaders.hiddenAmong(distinct) : undefined,
      selection.has('viewerCanFollow')
        ? loaders.visibility.hiddenAmong('FOLLOW', distinct)
        : undefined,
      when(profile, (handle) => loaders.user.load(handle)),
      when(!profile && !counts, (handle) => loaders.live.load(handle)),
      when(counts, (handle) => loaders.stats.load(handle)),
      when(selection.has('viewerFollows'), (handle) => loaders.viewerFollows.load(handle)),
      when(selection.has('followsViewer'), (handle) => loaders.followsViewer.load(handle)),
      when(selection.has('viewerGroups'), (handle) => loaders.viewerGroups.load(handle)),
      when(selection.has('viewerHasMuted', 'viewerHasBlocked'), (handle) =>
        loaders.restrictions.load(handle),
      ),
    ])
  const users = new Map<UserId, User>()
  distinct.forEach((handle, at) => {
    if (profiles?.[at] === null || stats?.[at] === null || live?.[at] === null) return
    const profile = profiles?.[at]
    const user = hidden?.has(handle)
      ? new PresentedUser(handle, profile && { createdAt: profile.createdAt })
      : new PresentedUser(handle, profile, stats?.[at])
    user.isViewer = handle === viewer
    user.viewerCanFollow = viewer !== undefined && handle !== viewer && !unfollowable?.has(handle)
    user.viewerFollows = follows?.[at]
    user.followsViewer = followed?.[at]
    user.viewerGroups = groups?.[at] ?? []
    user.viewerHasMuted = restrictions?.[at]?.has('MUTE') ?? false
    user.viewerHasBlocked = restrictions?.[at]?.has('BLOCK') ?? false
    users.set(handle, user as unknown as User)
  })
  return users
}

/** A user that encodes its global id only if a client selects it, since a page has many users. */
class PresentedUser {
  readonly __typename = 'User'
  readonly name: string
  readonly bio: string | undefined
  readonly avatarUrl: string | undefined
  readonly bannerUrl: string | undefined
  readonly createdAt: Date | undefined
  isViewer = false
  viewerCanFollow = false
  viewerFollows: boolean | null | undefined
  followsViewer: boolean | null | undefined
  viewerGroups: readonly string[] = []
  viewerHasMuted = false
  viewerHasBlocked = false

  constructor(
    readonly handle: UserId,
    profile: Partial<Profile> | null | undefined,
    private readonly stats?: Stats | null,
  ) {
    this.name = profile?.name ?? handle
    this.bio = profile?.bio
    this.avatarUrl = profile?.avatarUrl
    this.bannerUrl = profile?.bannerUrl
    this.createdAt = profile?.createdAt
  }

  get id(): string {
    return userNodeId(this.handle)
  }
  get followerCount() {
    return this.stats?.followers ?? null
  }
  get followingCount() {
    return this.stats?.following ?? null
  }
  get postCount() {
    return this.stats?.posts ?? null
  }
}

/** The viewer. Each field loads what it needs. */
export const presentViewer = (handle: UserId) => ({
  __typename: 'Viewer',
  id: viewerNodeId(handle),
  handle,
})

/** One user, as in {@link presentUsers}. Null without an account, or if the field is not selected. */
export async function presentUser(
  ctx: Context,
  handle: UserId,
  selection: Selection,
): Promise<User | null> {
  if (!selection.isSelected) return null
  return (await presentUsers(ctx, [handle], selection)).get(handle) ?? null
}
