import '@feedline/example-ui/style.css'
import { ApolloProvider, useMutation, useQuery } from '@apollo/client/react'
import { CreateUserDocument, SessionDocument } from '@feedline/client'
import * as ui from '@feedline/example-ui'
import { useMemo } from 'react'
import { createClient } from './client.ts'
import { PostPage } from './post-page.tsx'
import { ProfilePage } from './profile-page.tsx'
import { TimelinePage } from './timeline-page.tsx'

function App() {
  const handle = ui.useHandle()
  const client = useMemo(() => createClient(handle), [handle])
  const signedOut = (
    <ui.Shell groups={[]}>
      <ui.SignIn />
    </ui.Shell>
  )
  return (
    <ApolloProvider client={client} key={handle}>
      {handle ? <SignedIn handle={handle} /> : signedOut}
    </ApolloProvider>
  )
}

function SignedIn({ handle }: { handle: string }) {
  const { data, error, refetch } = useQuery(SessionDocument)
  const [createUser] = useMutation(CreateUserDocument, {
    refetchQueries: [SessionDocument],
    onError: ui.reportProblem,
  })
  const viewer = data?.viewer
  const groups = viewer?.groups.edges.flatMap(({ node }) => node?.name ?? []) ?? []
  return (
    <ui.Shell groups={groups}>
      {error ? <ui.Problem error={error} onRetry={() => refetch()} /> : null}
      {viewer && !viewer.user ? (
        <ui.SignUp
          handle={handle}
          onCreate={(name) => createUser({ variables: { input: { name } } })}
        />
      ) : null}
      {viewer?.user ? <Page /> : null}
    </ui.Shell>
  )
}

function Page() {
  const [section, name = ''] = ui.useAddress()
  if (section === 'users') return <ProfilePage key={name} handle={name} />
  if (section === 'posts') return <PostPage key={name} id={name} />
  return <TimelinePage key={name} group={section === 'groups' ? name : undefined} />
}

ui.renderApp(<App />)
