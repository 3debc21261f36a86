/** A user's picture, or the initials on a colour that depends on the handle. */
export function Avatar({
  user,
}: {
  user: { handle: string; name: string; avatarUrl?: string | null | undefined }
}) {
  if (user.avatarUrl) return <img className="avatar" src={user.avatarUrl} alt="" loading="lazy" />
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
