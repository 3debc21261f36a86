import {
  HomeTimelineDocument,
  type HomeTimelineQuery,
  TimelineNewsDocument,
} from '@feedline/client'
import type { HeldTimeline, Timeline } from '@feedline/example-ui'
import { type Client, createRequest, gql } from 'urql'
import { ask, createDirectClient, give } from './client'

type Page = NonNullable<HomeTimelineQuery['timeline']>
type Variables = { readonly first: number; readonly group?: string }

/** What the cache holds of a timeline, without the texts. */
const heldDocument = gql<{ timeline?: HeldTimeline | null }, Variables>`
  query HeldTimeline($first: Int, $group: String) {
    timeline(first: $first, group: $group) {
      pollCursor
      edges { node { id } }
    }
  }
`

/** A timeline in the cache and on the server. It is read beside the cache, and written into it at once. */
export function openTimeline(client: Client, viewer: string, firstPage: Variables): Timeline<Page> {
  const { first: _, ...group } = firstPage
  const direct = createDirectClient(viewer)
  return {
    held: () =>
      client.readQuery(heldDocument, firstPage, { requestPolicy: 'cache-only' })?.data?.timeline,
    poll: async (since) =>
      (await ask(direct, TimelineNewsDocument, { ...group, since }))?.timelineNews,
    read: async (args) =>
      (await ask(direct, HomeTimelineDocument, { ...group, ...args }))?.timeline,
    write: (args, timeline) => {
      const variables = args.before ? { ...group, ...args } : firstPage
      give(client, createRequest(HomeTimelineDocument, variables), { timeline })
    },
  }
}
