import type { Context } from '../../graphql/context.ts'
import type { AccountPart } from '../../graphql/loaders.ts'
import { userNodeId, viewerNodeId } from '../../graphql/node-id.ts'
import { profileFields } from '../../graphql/prices.ts'
import type { Selection } from '../../graphql/selection.ts'
import type { UserId } from '../../lib/ids.ts'
import { optionalFields, type User as Profile } from '../profile.ts'
import type { Stats } from '../stats.ts'
import type { User } from './user-type.ts'

/** Whether a selection on User needs the profile. */
const needsProfile = (user: Selection): boolean => user.has(...profileFields)

/** The fields of a user that its counters answer. */
export const countFields = ['followerCount', 'followingCount', 'postCount'] as const

/** The load of accounts that a selection on User needs. */
export const accountPartOf = (user: Selection): AccountPart =>
  needsProfile(user) ? 'user' : user.has(...countFields) ? 'stats' : 'live'

/** The fields of a user that a block hides. */
const hiddenFields = ['name', ...optionalFields, ...countFields] as const

/**
 * Loads users as plain objects with all selected fields. Users without an account are absent. A
 * block between the viewer and a user leaves only the id, the handle, `createdAt` and the viewer's
 * own relations.
 *
 * One command for each selected part of profile, stats and the viewer's relations, for any number
 * of users. Without these, one decides whether the account exists. Both are already known of a
 * timeline's authors.
 */
export async function presentUsers(
  { loaders, viewer }: Context,
  accounts: readonly UserId[],
  selection: Selection,
): Promise<Map<UserId, User>> {
  const distinct = [...new Set(accounts)]
  const when = <V>(needed: boolean, load: (account: UserId) => Promise<V>) =>
    needed ? Promise.all(distinct.map(load)) : undefined
  const profile = needsProfile(selection)
  const counts = selection.has(...countFields)
  const [hidden, unfollowable, profiles, live, stats, follows, followed, groups, restrictions] =
    await Promise.all([
      selection.has(...hiddenFields) ? loaders.hiddenAmong(distinct) : undefined,
      selection.has('viewerCanFollow')
        ? loaders.visibility.hiddenAmong('FOLLOW', distinct)
        : undefined,
      when(profile, (account) => loaders.user.load(account)),
      when(!profile && !counts, (account) => loaders.live.load(account)),
      when(counts, (account) => loaders.stats.load(account)),
      when(selection.has('viewerFollows'), (account) => loaders.viewerFollows.load(account)),
      when(selection.has('followsViewer'), (account) => loaders.followsViewer.load(account)),
      when(selection.has('viewerGroups'), (account) => loaders.viewerGroups.load(account)),
      when(selection.has('viewerHasMuted', 'viewerHasBlocked'), (account) =>
        loaders.restrictions.load(account),
      ),
    ])
  const users = new Map<UserId, User>()
  distinct.forEach((account, at) => {
    if (profiles?.[at] === null || stats?.[at] === null || live?.[at] === null) return
    const profile = profiles?.[at]
    const user = hidden?.has(account)
      ? new PresentedUser(account, profile && withoutHidden(profile))
      : new PresentedUser(account, profile, stats?.[at])
    user.isViewer = account === viewer
    user.viewerCanFollow = viewer !== undefined && account !== viewer && !unfollowable?.has(account)
    user.viewerFollows = follows?.[at]
    user.followsViewer = followed?.[at]
    user.viewerGroups = groups?.[at] ?? []
    user.viewerHasMuted = restrictions?.[at]?.has('MUTE') ?? false
    user.viewerHasBlocked = restrictions?.[at]?.has('BLOCK') ?? false
    users.set(account, user as unknown as User)
  })
  return users
}

const withoutHidden = ({ handle, createdAt }: Profile) => ({ handle, createdAt })

/** A user that encodes its global id only if a client selects it, since a page has many users. */
class PresentedUser {
  readonly __typename = 'User'
  isViewer = false
  viewerCanFollow = false
  viewerFollows: boolean | null | undefined
  followsViewer: boolean | null | undefined
  viewerGroups: readonly string[] = []
  viewerHasMuted = false
  viewerHasBlocked = false

  constructor(
    readonly account: UserId,
    private readonly profile: Partial<Profile> | null | undefined,
    private readonly stats?: Stats | null,
  ) {}

  get id(): string {
    return userNodeId(this.account)
  }
  get handle() {
    return this.profile?.handle
  }
  get name() {
    return this.profile?.name ?? this.profile?.handle
  }
  get createdAt() {
    return this.profile?.createdAt
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

  static {
    for (const field of optionalFields) {
      Object.defineProperty(PresentedUser.prototype, field, {
        get(this: PresentedUser) {
          return this.profile?.[field]
        },
      })
    }
  }
}

/** The signed-in viewer. Each field loads what it needs. */
export const presentViewer = (ctx: Context) => ({
  __typename: 'Viewer',
  id: viewerNodeId(ctx.requireSubject()),
})

/**
 * One user, as in {@link presentUsers}. Null without an account, or if the field is not selected.
 */
export async function presentUser(
  ctx: Context,
  account: UserId,
  selection: Selection,
): Promise<User | null> {
  if (!selection.isSelected) return null
  return (await presentUsers(ctx, [account], selection)).get(account) ?? null
}
