import '@feedline/example-ui/style.css'
import { SessionDocument } from '@feedline/client'
import { Pages, renderApp, Session } from '@feedline/example-ui'
import { useState } from 'react'
import { Provider, useQuery } from 'urql'
import { useActions } from './actions'
import { createClient, reasonOf } from './client'
import { EditPage } from './edit-page'
import { FollowersPage, FollowingPage, LikesPage } from './people-pages'
import { PostPage } from './post-page'
import { ProfilePage } from './profile-page'
import { TimelinePage } from './timeline-page'

function Viewer({ viewer }: { viewer: string }) {
  const [client] = useState(() => createClient(viewer))
  return (
    <Provider value={client}>
      <SignedIn />
    </Provider>
  )
}

function SignedIn() {
  const [{ data, error }, execute] = useQuery({ query: SessionDocument })
  const { createUser, isHandleAvailable } = useActions()
  return (
    <Session
      viewer={data?.viewer}
      error={reasonOf(error)}
      onRetry={() => execute({ requestPolicy: 'network-only' })}
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
