import '@feedline/example-ui/style.css'
import * as ui from '@feedline/example-ui'
import { Component, type ReactNode, StrictMode, Suspense, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { graphql, RelayEnvironmentProvider, useFragment, useLazyLoadQuery } from 'react-relay'
import type { main_viewer$key } from './__generated__/main_viewer.graphql.ts'
import type { mainCreateUserMutation } from './__generated__/mainCreateUserMutation.graphql.ts'
import type { mainQuery } from './__generated__/mainQuery.graphql.ts'
import { createEnvironment, useAction } from './environment.ts'
import { PostPage } from './PostPage.tsx'
import { Profile } from './Profile.tsx'
import { Timeline } from './Timeline.tsx'

/** Each viewer has a store of their own. */
function App() {
  const handle = ui.useHandle()
  const environment = useMemo(() => createEnvironment(handle), [handle])
  if (!handle) {
    return (
      <ui.Shell groups={[]}>
        <ui.SignIn />
      </ui.Shell>
    )
  }
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Boundary key={handle}>
        {(fetchKey) => <SignedIn handle={handle} fetchKey={fetchKey} />}
      </Boundary>
    </RelayEnvironmentProvider>
  )
}

function SignedIn({ handle, fetchKey }: { handle: string; fetchKey: number }) {
  const query = useLazyLoadQuery<mainQuery>(
    graphql`
      query mainQuery { viewer { ...main_viewer } }
    `,
    {},
    { fetchKey },
  )
  const viewer = useFragment<main_viewer$key>(
    graphql`
      fragment main_viewer on Viewer {
        user { id }
        groups(first: 100) { edges { node { name } } }
      }
    `,
    query.viewer,
  )
  const create = useAction<mainCreateUserMutation>(graphql`
    mutation mainCreateUserMutation($input: CreateUserInput!) {
      createUser(input: $input) { viewer { ...main_viewer } }
    }
  `)
  const onCreate = (name: string) => void create({ name }).catch(ui.reportProblem)
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  return (
    <ui.Shell groups={groups}>
      {viewer?.user ? <Page /> : <ui.SignUp handle={handle} onCreate={onCreate} />}
    </ui.Shell>
  )
}

function Page() {
  const [section, name = ''] = ui.useAddress()
  const pageOf = (fetchKey: number) => {
    if (section === 'users') return <Profile handle={name} fetchKey={fetchKey} />
    if (section === 'posts') return <PostPage id={name} fetchKey={fetchKey} />
    return <Timeline group={section === 'groups' ? name : undefined} fetchKey={fetchKey} />
  }
  return <Boundary key={`${section}/${name}`}>{pageOf}</Boundary>
}

interface BoundaryProps {
  readonly children: (fetchKey: number) => ReactNode
}

// #region relay-boundary
/** Shows that a page loads, or why it could not. A retry has another fetch key, so Relay asks the server again. */
class Boundary extends Component<BoundaryProps, { error: unknown; fetchKey: number }> {
  static getDerivedStateFromError = (error: unknown) => ({ error })
  override state = { error: undefined, fetchKey: 0 }
  retry = () => this.setState(({ fetchKey }) => ({ error: undefined, fetchKey: fetchKey + 1 }))

  override render() {
    const { error, fetchKey } = this.state
    if (error) return <ui.Problem error={error} onRetry={this.retry} />
    return <Suspense fallback={<Loading />}>{this.props.children(fetchKey)}</Suspense>
  }
}
// #endregion

const ignore = () => undefined
const Loading = () => (
  <ui.Feed
    label="Loading"
    posts={[]}
    hasMore={false}
    isLoading
    error={null}
    onMore={ignore}
    onLike={ignore}
    onDelete={ignore}
    empty=""
  />
)

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
