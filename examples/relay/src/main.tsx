import '@feedline/example-ui/style.css'
import * as ui from '@feedline/example-ui'
import { Suspense, useEffect, useState } from 'react'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import type { main_viewer$key } from './__generated__/main_viewer.graphql'
import type { mainQuery } from './__generated__/mainQuery.graphql'
import { EditPage, useAccount } from './Account'
import { Boundary, usePageData } from './boundary'
import { createEnvironment } from './environment'
import { Followers, Following, Likes } from './PeoplePages'
import { PostPage } from './PostPage'
import { Profile } from './Profile'
import { Timeline } from './Timeline'

function Viewer({ viewer }: { viewer: string }) {
  const [environment] = useState(() => createEnvironment(viewer))
  return (
    <relay.RelayEnvironmentProvider environment={environment}>
      <Session />
    </relay.RelayEnvironmentProvider>
  )
}

/** Reads the viewer while the page loads beside it. */
function ReadViewer({ onRead }: { onRead: (viewer: main_viewer$key | null) => void }) {
  const { viewer } = usePageData<mainQuery>(
    graphql`
      query mainQuery { viewer { ...main_viewer } }
    `,
    {},
  )
  useEffect(() => onRead(viewer ?? null), [viewer, onRead])
  return null
}

function Session() {
  const path = ui.usePath()
  const [viewerRef, setViewerRef] = useState<main_viewer$key | null>(null)
  const viewer = relay.useFragment<main_viewer$key>(
    graphql`
      fragment main_viewer on Viewer {
        user { id handle }
        groups(first: 100) { edges { node { name } } }
      }
    `,
    viewerRef,
  )
  const { createUser, isHandleAvailable } = useAccount()
  return (
    <ui.Session viewer={viewer} onCreate={createUser} isHandleAvailable={isHandleAvailable}>
      <Boundary>
        <Suspense fallback={null}>
          <ReadViewer onRead={setViewerRef} />
        </Suspense>
        <Boundary key={path}>
          <ui.Pages
            timeline={Timeline}
            profile={Profile}
            post={PostPage}
            followers={Followers}
            following={Following}
            likes={Likes}
            edit={EditPage}
          />
        </Boundary>
      </Boundary>
    </ui.Session>
  )
}

void ui.renderApp(Viewer)
