import '@feedline/example-ui/style.css'
import { ApolloProvider, useMutation, useQuery } from '@apollo/client/react'
import { CreateUserDocument, SessionDocument } from '@feedline/client'
import { Pages, renderApp, reportProblem, Session } from '@feedline/example-ui'
import { useState } from 'react'
import { dropAll, inputOf } from './actions'
import { createClient } from './client'
import { FollowersPage, FollowingPage, LikesPage } from './people-pages'
import { PostPage } from './post-page'
import { ProfilePage } from './profile-page'
import { TimelinePage } from './timeline-page'

function Viewer({ handle }: { handle: string }) {
  const [client] = useState(() => createClient(handle))
  return (
    <ApolloProvider client={client}>
      <SignedIn handle={handle} />
    </ApolloProvider>
  )
}

function SignedIn({ handle }: { handle: string }) {
  const { data, error, refetch } = useQuery(SessionDocument)
  const [createUser] = useMutation(CreateUserDocument, {
    update: dropAll,
    onError: reportProblem,
  })
  return (
    <Session
      handle={handle}
      viewer={data?.viewer}
      error={error}
      onRetry={() => refetch()}
      onCreate={(name) => createUser({ variables: inputOf({ name }) })}
    >
      <Pages
        timeline={TimelinePage}
        profile={ProfilePage}
        post={PostPage}
        followers={FollowersPage}
        following={FollowingPage}
        likes={LikesPage}
      />
    </Session>
  )
}

renderApp(Viewer)
