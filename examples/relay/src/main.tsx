import '@feedline/example-ui/style.css'
import * as ui from '@feedline/example-ui'
import { Suspense, useEffect, useState } from 'react'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import type { main_viewer$key } from './__generated__/main_viewer.graphql'
import type { mainCreateUserMutation } from './__generated__/mainCreateUserMutation.graphql'
import type { mainHandleQuery } from './__generated__/mainHandleQuery.graphql'
import type { mainQuery } from './__generated__/mainQuery.graphql'
import { Boundary, usePageData } from './boundary'
import { createEnvironment, useAction } from './environment'
import { readAgain } from './Follow'
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
  const environment = relay.useRelayEnvironment()
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
  const create = useAction<mainCreateUserMutation>(graphql`
    mutation mainCreateUserMutation($input: CreateUserInput!) {
      createUser(input: $input) { viewer { ...main_viewer } }
    }
  `)
  const onCreate = (account: ui.NewAccount, clientMutationId: string) =>
    create({ ...account, clientMutationId }, { updater: readAgain })
  const isHandleAvailable = async (handle: string) => {
    const query = graphql`
      query mainHandleQuery($handle: String!) { isHandleAvailable(handle: $handle) }
    `
    const answer = relay.fetchQuery<mainHandleQuery>(environment, query, { handle })
    return (await answer.toPromise())?.isHandleAvailable
  }
  return (
    <ui.Session viewer={viewer} onCreate={onCreate} isHandleAvailable={isHandleAvailable}>
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

void ui.renderApp(Viewer)
