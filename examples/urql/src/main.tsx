import '@feedline/example-ui/style.css'
import { SessionDocument } from '@feedline/client'
import { Problem, Shell, SignIn, SignUp, useAddress, useHandle } from '@feedline/example-ui'
import { StrictMode, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { Provider, useQuery } from 'urql'
import { useActions } from './actions.ts'
import { createClient, reasonOf } from './client.ts'
import { PostPage } from './post-page.tsx'
import { ProfilePage } from './profile-page.tsx'
import { TimelinePage } from './timeline-page.tsx'

function App() {
  const handle = useHandle()
  const client = useMemo(() => createClient(handle), [handle])
  if (!handle) {
    return (
      <Shell groups={[]}>
        <SignIn />
      </Shell>
    )
  }
  return (
    <Provider value={client} key={handle}>
      <SignedIn handle={handle} />
    </Provider>
  )
}

function SignedIn({ handle }: { handle: string }) {
  const [{ data, error }, execute] = useQuery({ query: SessionDocument })
  const { createUser } = useActions()
  const viewer = data?.viewer
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  const retry = () => execute({ requestPolicy: 'network-only' })
  return (
    <Shell groups={groups}>
      {error && !data ? <Problem error={reasonOf(error)} onRetry={retry} /> : null}
      {viewer && !viewer.user ? <SignUp handle={handle} onCreate={createUser} /> : null}
      {viewer?.user ? <Page /> : null}
    </Shell>
  )
}

function Page() {
  const [section, name = ''] = useAddress()
  if (section === 'users') return <ProfilePage key={name} handle={name} />
  if (section === 'posts') return <PostPage key={name} id={name} />
  return <TimelinePage key={name} group={section === 'groups' ? name : undefined} />
}

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
