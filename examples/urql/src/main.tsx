import '@feedline/example-ui/style.css'
import { SessionDocument } from '@feedline/client'
import { Pages, renderApp, Session } from '@feedline/example-ui'
import { useState } from 'react'
import { Provider, useQuery } from 'urql'
import { useActions } from './actions'
import { createClient, reasonOf } from './client'
import { FollowersPage, FollowingPage, LikesPage } from './people-pages'
import { PostPage } from './post-page'
import { ProfilePage } from './profile-page'
import { TimelinePage } from './timeline-page'

function Viewer({ handle }: { handle: string }) {
  const [client] = useState(() => createClient(handle))
  return (
    <Provider value={client}>
      <SignedIn handle={handle} />
    </Provider>
  )
}

function SignedIn({ handle }: { handle: string }) {
  const [{ data, error }, execute] = useQuery({ query: SessionDocument })
  const { createUser } = useActions()
  return (
    <Session
      handle={handle}
      viewer={data?.viewer}
      error={reasonOf(error)}
      onRetry={() => execute({ requestPolicy: 'network-only' })}
      onCreate={createUser}
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
