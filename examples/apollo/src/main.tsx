import '@feedline/example-ui/style.css'
import { ApolloProvider, useQuery } from '@apollo/client/react'
import { SessionDocument } from '@feedline/client'
import { Pages, renderApp, Session } from '@feedline/example-ui'
import { useState } from 'react'
import { useActions } from './actions'
import { createClient } from './client'
import { EditPage } from './edit-page'
import { FollowersPage, FollowingPage, LikesPage } from './people-pages'
import { PostPage } from './post-page'
import { ProfilePage } from './profile-page'
import { TimelinePage } from './timeline-page'

function Viewer({ viewer }: { viewer: string }) {
  const [client] = useState(() => createClient(viewer))
  return (
    <ApolloProvider client={client}>
      <SignedIn />
    </ApolloProvider>
  )
}

function SignedIn() {
  const { data, error, refetch } = useQuery(SessionDocument)
  const { createUser, isHandleAvailable } = useActions()
  return (
    <Session
      viewer={data?.viewer}
      error={error}
      onRetry={() => refetch()}
      onCreate={createUser}
      isHandleAvailable={isHandleAvailable}
    >
      <Pages
        timeline={TimelinePage}
        profile={ProfilePage}
        post={PostPage}
        followers={FollowersPage}
        following={FollowingPage}
        likes={LikesPage}
        edit={EditPage}
      />
    </Session>
  )
}

void renderApp(Viewer)
