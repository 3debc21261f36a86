import '@feedline/example-ui/style.css'
import * as ui from '@feedline/example-ui'
import { Suspense, useEffect, useState } from 'react'
import { graphql, RelayEnvironmentProvider, useFragment } from 'react-relay'
import type { main_viewer$key } from './__generated__/main_viewer.graphql'
import type { mainCreateUserMutation } from './__generated__/mainCreateUserMutation.graphql'
import type { mainQuery } from './__generated__/mainQuery.graphql'
import { Boundary, usePageData } from './boundary'
import { createEnvironment, useAction } from './environment'
import { readAgain } from './Follow'
import { Followers, Following, Likes } from './PeoplePages'
import { PostPage } from './PostPage'
import { Profile } from './Profile'
import { Timeline } from './Timeline'

function Viewer({ handle }: { handle: string }) {
  const [environment] = useState(() => createEnvironment(handle))
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Session handle={handle} />
    </RelayEnvironmentProvider>
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

function Session({ handle }: { handle: string }) {
  const path = ui.usePath()
  const [viewerRef, setViewerRef] = useState<main_viewer$key | null>(null)
  const viewer = useFragment<main_viewer$key>(
    graphql`
      fragment main_viewer on Viewer {
        user { id }
        groups(first: 100) { edges { node { name } } }
      }
    `,
    viewerRef,
  )
  const create = useAction<mainCreateUserMutation>(graphql`
    mutation mainCreateUserMutation($input: CreateUserInput!) {
      createUser(input: $input) { viewer { ...main_viewer } }
    }
  `)
  const onCreate = (name: string) =>
    void create({ name }, { updater: readAgain }).catch(ui.reportProblem)
  return (
    <ui.Session handle={handle} viewer={viewer} onCreate={onCreate}>
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
          />
        </Boundary>
      </Boundary>
    </ui.Session>
  )
}

ui.renderApp(Viewer)
