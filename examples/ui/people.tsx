import { Heading, Link, usePresentHandle } from './address'
import { Avatar } from './avatar'
import { ListEnd, type PagesProps } from './list-end'
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
  readonly isViewer: boolean
  readonly viewerFollows: boolean
}

export interface SuggestionsProps<User extends SuggestedUser> {
  readonly edges:
    | readonly { readonly commonCount: number; readonly node: User | null | undefined }[]
    | undefined
  /** The account that is suggested with its followees to a viewer without suggestions. */
  readonly guide:
    | (User & {
        readonly following: {
          readonly edges: readonly { readonly node: User | null | undefined }[]
        }
      })
    | null
    | undefined
  readonly onFollow: (user: User) => void
}

const shownMax = 3

/** Users whom the viewer may want to follow. A followed one leaves the list, and the next one takes its place. */
export function Suggestions<User extends SuggestedUser>({
  edges,
  guide,
  onFollow,
}: SuggestionsProps<User>) {
  if (!edges) return null
  const followable = (user: User | null | undefined, commonCount = 0) =>
    user && !user.viewerFollows && !user.isViewer ? [{ user, commonCount }] : []
  const ranked = edges.flatMap(({ node, commonCount }) => followable(node, commonCount))
  const guided = [guide, ...(guide?.following.edges.map(({ node }) => node) ?? [])]
  const suggested = ranked.length > 0 ? ranked : guided.flatMap((user) => followable(user))
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
                <p className="quiet">
                  {commonCount > 0 ? `${commonCount} in common` : `@${user.handle}`}
                </p>
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

export interface PeopleProps extends PagesProps {
  /** The user whose followers or followees are shown. */
  readonly owner?: { readonly handle: string } | null | undefined
  readonly title: string
  readonly users: readonly ShownUser[]
}

/** A page with a list of users: followers, followees, or who likes a post. */
export function People({ owner, title, users, ...pages }: PeopleProps) {
  usePresentHandle(owner?.handle)
  return (
    <>
      <Heading title={title} className="title" />
      <ul aria-label={title} aria-busy={pages.isLoading}>
        {users.map((user) => (
          <li key={user.handle} data-testid="person" className="post">
            <Avatar user={user} />
            <div className="who">
              <Link href={`/users/${user.handle}`} className="name">
                {user.name}
              </Link>
              <p className="quiet">@{user.handle}</p>
            </div>
          </li>
        ))}
      </ul>
      <ListEnd {...pages} length={users.length} />
    </>
  )
}
