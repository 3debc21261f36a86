import { Link } from './address'
import { Avatar } from './avatar'
import type { ShownUser } from './post-card'

export interface ShownMutuals {
  readonly totalCount: number
  readonly edges: readonly { readonly node: { readonly handle: string } | null | undefined }[]
}

/** The followees that the viewer and a user have in common: their number, and links to the first of them. */
export function Mutuals({ totalCount, edges }: ShownMutuals) {
  const handles = edges.flatMap(({ node }) => node?.handle ?? [])
  if (handles.length === 0) return null
  return (
    <p className="quiet mutuals" data-testid="mutuals">
      {totalCount} in common:
      {handles.map((handle, index) => (
        <span key={handle}>
          {index > 0 ? ', ' : ' '}
          <Link href={`/users/${handle}`}>@{handle}</Link>
        </span>
      ))}
      {totalCount > handles.length ? ' …' : ''}
    </p>
  )
}

export interface SuggestedUser extends ShownUser {
  readonly id: string
  readonly viewerFollows: boolean
}

export interface SuggestionsProps<User extends SuggestedUser> {
  readonly edges:
    | readonly { readonly commonCount: number; readonly node: User | null | undefined }[]
    | undefined
  readonly onFollow: (user: User) => void
}

const shownMax = 3

/** Users whom the viewer may want to follow. A followed one leaves the list, and the next one takes its place. */
export function Suggestions<User extends SuggestedUser>({
  edges = [],
  onFollow,
}: SuggestionsProps<User>) {
  const suggested = edges.flatMap(({ node, commonCount }) =>
    node && !node.viewerFollows ? { user: node, commonCount } : [],
  )
  if (suggested.length === 0) return null
  return (
    <section className="suggestions" aria-labelledby="suggestions">
      <div>
        <h2 id="suggestions">Suggestions</h2>
        <ul>
          {suggested.slice(0, shownMax).map(({ user, commonCount }) => (
            <li key={user.id} className="row" data-testid="suggestion">
              <Avatar user={user} />
              <div className="who">
                <Link href={`/users/${user.handle}`} className="name">
                  {user.name}
                </Link>
                <p className="quiet">{commonCount} in common</p>
              </div>
              <button
                type="button"
                aria-label={`Follow ${user.name}`}
                onClick={() => onFollow(user)}
              >
                Follow
              </button>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
