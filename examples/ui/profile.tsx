import { type FormEvent, useId, useState } from 'react'
import { Heading, Link, usePresentHandle } from './address'
import { Avatar } from './avatar'
import { Mutuals, type ShownMutuals } from './people'
import type { ShownUser } from './post-card'

export interface ShownProfile extends ShownUser {
  readonly bio?: string | null | undefined
  readonly bannerUrl?: string | null | undefined
  readonly followerCount?: number | null | undefined
  readonly followingCount?: number | null | undefined
  readonly postCount?: number | null | undefined
  readonly viewerFollows: boolean
  readonly followsViewer: boolean
  readonly viewerHasBlocked: boolean
  readonly viewerGroups: readonly string[]
  readonly mutuals: ShownMutuals
}

export interface ProfileProps {
  readonly user: ShownProfile
  readonly isViewer: boolean
  /** Follows the user, or ends that. */
  readonly onFollow: () => void
  /** Blocks the user, or ends that. */
  readonly onBlock: () => void
  readonly onGroups: (groups: readonly string[]) => void
}

/** Who a user is, and what the viewer may do about it. */
export function Profile({ user, isViewer, onFollow, onBlock, onGroups }: ProfileProps) {
  usePresentHandle(user.handle)
  return (
    <section className="profile" aria-label="Profile">
      {user.bannerUrl ? <Banner key={user.bannerUrl} url={user.bannerUrl} /> : null}
      <div className="row">
        <Avatar user={user} />
        <div className="who">
          <Heading title={`${user.name} (@${user.handle})`}>{user.name}</Heading>
          <p className="quiet">
            @{user.handle} {user.followsViewer ? <span className="badge">follows you</span> : null}
          </p>
        </div>
        {isViewer ? (
          <Link href="/edit" className="button">
            Edit profile
          </Link>
        ) : (
          <Actions user={user} onFollow={onFollow} onBlock={onBlock} />
        )}
      </div>
      {user.bio ? <p className="text">{user.bio}</p> : null}
      <p className="numbers">
        <Count id="post-count" value={user.postCount} unit="post" plural="posts" />
        <Link href={`/users/${user.handle}/followers`}>
          <Count
            id="follower-count"
            value={user.followerCount}
            unit="follower"
            plural="followers"
          />
        </Link>
        <Link href={`/users/${user.handle}/following`}>
          <Count id="following-count" value={user.followingCount} unit="following" />
        </Link>
      </p>
      {isViewer ? null : <Mutuals {...user.mutuals} />}
      {user.viewerFollows ? (
        <Groups key={user.viewerGroups.join()} names={user.viewerGroups} onSave={onGroups} />
      ) : null}
    </section>
  )
}

/** The wide picture above a profile. Its place stays empty if it does not load. */
function Banner({ url }: { url: string }) {
  const [hasFailed, setFailed] = useState(false)
  return (
    <div className="banner">
      {hasFailed ? null : (
        <img
          src={url}
          alt=""
          decoding="async"
          referrerPolicy="no-referrer"
          onError={() => setFailed(true)}
        />
      )}
    </div>
  )
}

function Count({
  id,
  value,
  unit,
  plural = unit,
}: {
  id: string
  value: number | null | undefined
  unit: string
  plural?: string
}) {
  if (value == null) return null
  return (
    <span>
      <b data-testid={id}>{value}</b> {value === 1 ? unit : plural}
    </span>
  )
}

function Actions({ user, onFollow, onBlock }: Omit<ProfileProps, 'isViewer' | 'onGroups'>) {
  return (
    <div className="actions">
      {user.viewerHasBlocked ? null : (
        <button type="button" className={user.viewerFollows ? '' : 'primary'} onClick={onFollow}>
          {user.viewerFollows ? 'Unfollow' : 'Follow'}
        </button>
      )}
      <button type="button" className="plain" onClick={onBlock}>
        {user.viewerHasBlocked ? 'Unblock' : 'Block'}
      </button>
    </div>
  )
}

interface GroupsProps {
  readonly names: readonly string[]
  readonly onSave: (groups: readonly string[]) => void
}

/** The groups of a followee, which only the viewer sees. */
function Groups({ names, onSave }: GroupsProps) {
  const id = useId()
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('groups'))
    onSave(text.split(',').flatMap((name) => name.trim() || []))
  }
  return (
    <form className="row" onSubmit={save}>
      <label htmlFor={id}>Groups</label>
      <input id={id} name="groups" defaultValue={names.join(', ')} placeholder="friends, work" />
      <button type="submit">Save groups</button>
    </form>
  )
}
