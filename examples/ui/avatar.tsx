import { useState } from 'react'

export interface AvatarProps {
  readonly user: {
    readonly handle: string
    readonly name: string
    readonly avatarUrl?: string | null | undefined
  }
}

/** A user's picture. Without one that loads, the initials on a colour that depends on the handle. */
export function Avatar({ user }: AvatarProps) {
  const [failedUrl, setFailedUrl] = useState('')
  const { avatarUrl } = user
  if (avatarUrl && avatarUrl !== failedUrl) {
    return (
      <img
        className="avatar"
        src={avatarUrl}
        alt=""
        loading="lazy"
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setFailedUrl(avatarUrl)}
      />
    )
  }
  const initials = user.name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => [...part][0])
    .join('')
  const hue = [...user.handle].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
  return (
    <span className="avatar" aria-hidden="true" style={{ ['--hue' as string]: hue }}>
      {initials}
    </span>
  )
}
