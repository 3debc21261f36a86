import '@feedline/example-ui/style.css'
import { ApolloProvider, useMutation, useQuery } from '@apollo/client/react'
import { CreateUserDocument, SessionDocument } from '@feedline/client'
import {
  Problem,
  reportProblem,
  Shell,
  SignIn,
  SignUp,
  useAddress,
  useHandle,
} from '@feedline/example-ui'
import { StrictMode, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from './client.ts'
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
    <ApolloProvider client={client} key={handle}>
      <SignedIn handle={handle} />
    </ApolloProvider>
  )
}

function SignedIn({ handle }: { handle: string }) {
  const { data, error, refetch } = useQuery(SessionDocument)
  const [createUser] = useMutation(CreateUserDocument, {
    refetchQueries: [SessionDocument],
    onError: reportProblem,
  })
  const viewer = data?.viewer
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  return (
    <Shell groups={groups}>
      {error ? <Problem error={error} onRetry={() => refetch()} /> : null}
      {viewer && !viewer.user ? (
        <SignUp
          handle={handle}
          onCreate={(name) => createUser({ variables: { input: { name } } })}
        />
      ) : null}
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
