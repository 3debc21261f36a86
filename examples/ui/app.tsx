import { type ComponentType, type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Heading, Link, useAddress } from './address'
import { Problem } from './problems'
import { openSession, useViewer } from './session'
import { Shell } from './shell'
import { SignIn, SignUp, type SignUpProps } from './sign-in'

type ViewerComponent = ComponentType<{ viewer: string }>

/** Shows the app in the page. `Viewer` is what a signed-in user sees. Each user has one of their own. */
export async function renderApp(Viewer: ViewerComponent): Promise<void> {
  await openSession()
  const root = document.getElementById('root')
  if (!root) return
  createRoot(root).render(
    <StrictMode>
      <App component={Viewer} />
    </StrictMode>,
  )
}

function App({ component: Viewer }: { component: ViewerComponent }) {
  const viewer = useViewer()
  if (viewer) return <Viewer key={viewer} viewer={viewer} />
  return (
    <Shell>
      <SignIn />
    </Shell>
  )
}

export interface SessionProps extends SignUpProps {
  /** Nothing before the server has answered. The page loads at the same time. */
  readonly viewer:
    | {
        readonly user: { readonly handle: string } | null | undefined
        readonly groups: {
          readonly edges: readonly { readonly node: { readonly name: string } | null | undefined }[]
        }
      }
    | null
    | undefined
  readonly error?: unknown
  readonly onRetry?: () => void
  readonly children: ReactNode
}

/** The frame of a viewer: the pages, or the form of a new account. */
export function Session(props: SessionProps) {
  const { viewer, error, onRetry, onCreate, isHandleAvailable, children } = props
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  const isNew = viewer && !viewer.user
  return (
    <Shell handle={viewer?.user?.handle} groups={groups}>
      {error && !viewer && onRetry ? <Problem error={error} onRetry={onRetry} /> : null}
      {isNew ? <SignUp onCreate={onCreate} isHandleAvailable={isHandleAvailable} /> : null}
      {isNew || (error && !viewer) ? null : children}
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
  /** The form of the viewer's profile. */
  readonly edit: ComponentType
}

/** The page of the current address. */
export function Pages(pages: PagesProps) {
  const [section, name, list, ...rest] = useAddress()
  const { timeline: Timeline, profile: Profile, post: Post, edit: Edit } = pages
  if (section === undefined) return <Timeline key="" group={undefined} />
  if (section === 'edit' && name === undefined) return <Edit />
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
