import { type ComponentType, type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Heading, Link, useAddress } from './address'
import { Problem } from './problems'
import { useHandle } from './session'
import { Shell } from './shell'
import { SignIn, SignUp } from './sign-in'

/** Shows the app in the page. `Viewer` is what a signed-in user sees. Each user has one of their own. */
export function renderApp(Viewer: ComponentType<{ handle: string }>): void {
  const root = document.getElementById('root')
  if (!root) return
  createRoot(root).render(
    <StrictMode>
      <App viewer={Viewer} />
    </StrictMode>,
  )
}

function App({ viewer: Viewer }: { viewer: ComponentType<{ handle: string }> }) {
  const handle = useHandle()
  if (handle) return <Viewer key={handle} handle={handle} />
  return (
    <Shell groups={[]}>
      <SignIn />
    </Shell>
  )
}

export interface SessionProps {
  readonly handle: string
  /** Nothing before the server has answered. The page loads at the same time. */
  readonly viewer:
    | {
        readonly user: object | null | undefined
        readonly groups: {
          readonly edges: readonly { readonly node: { readonly name: string } | null | undefined }[]
        }
      }
    | null
    | undefined
  readonly error?: unknown
  readonly onRetry?: () => void
  /** Creates an account with a name. */
  readonly onCreate: (name: string) => void
  readonly children: ReactNode
}

/** The frame of a viewer: the pages, or the form of a new account. */
export function Session({ handle, viewer, error, onRetry, onCreate, children }: SessionProps) {
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  return (
    <Shell groups={groups}>
      {error && !viewer && onRetry ? <Problem error={error} onRetry={onRetry} /> : null}
      {viewer && !viewer.user ? <SignUp handle={handle} onCreate={onCreate} /> : null}
      {(viewer && !viewer.user) || (error && !viewer) ? null : children}
    </Shell>
  )
}

export interface PagesProps {
  /** The home timeline or, with a group, the timeline of that group. */
  readonly timeline: ComponentType<{ group: string | undefined }>
  readonly profile: ComponentType<{ handle: string }>
  readonly post: ComponentType<{ id: string }>
  /** Lists of users. */
  readonly followers: ComponentType<{ handle: string }>
  readonly following: ComponentType<{ handle: string }>
  readonly likes: ComponentType<{ id: string }>
}

/** The page of the current address. */
export function Pages(pages: PagesProps) {
  const [section, name, list, ...rest] = useAddress()
  const { timeline: Timeline, profile: Profile, post: Post } = pages
  if (section === undefined) return <Timeline key="" group={undefined} />
  if (name && list === undefined) {
    if (section === 'groups') return <Timeline key={name} group={name} />
    if (section === 'users') return <Profile key={name} handle={name} />
    if (section === 'posts') return <Post key={name} id={name} />
  }
  const { followers: Followers, following: Following, likes: Likes } = pages
  if (name && rest.length === 0) {
    if (section === 'users' && list === 'followers') return <Followers key={name} handle={name} />
    if (section === 'users' && list === 'following') return <Following key={name} handle={name} />
    if (section === 'posts' && list === 'likes') return <Likes key={name} id={name} />
  }
  return <NotFound what="page" />
}

/** The page of an address with nothing behind it. */
export const NotFound = ({ what }: { what: 'page' | 'user' | 'post' }) => (
  <div className="end">
    <Heading title="Not found" className="hidden" />
    <p>There is no such {what}</p>
    <Link href="/" className="button">
      Go to the home timeline
    </Link>
  </div>
)
