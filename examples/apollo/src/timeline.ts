import type { ApolloClient } from '@apollo/client'
import {
  HomeTimelineDocument,
  type HomeTimelineQuery,
  TimelineNewsDocument,
} from '@feedline/client'
import type { Timeline } from '@feedline/example-ui'

type Page = NonNullable<HomeTimelineQuery['timeline']>

/** A timeline in the cache and on the server, for useNews. */
export const timelineOf = (client: ApolloClient, group: { group?: string }): Timeline<Page> => ({
  held: () => client.readQuery({ query: HomeTimelineDocument, variables: group })?.timeline,
  poll: async (since) => {
    const query = { query: TimelineNewsDocument, variables: { ...group, since } }
    const { data } = await client.query({ ...query, fetchPolicy: 'no-cache' })
    return data?.timelineNews
  },
  read: async (args) => {
    const query = { query: HomeTimelineDocument, variables: { ...group, ...args } }
    const { data } = await client.query({ ...query, fetchPolicy: 'no-cache' })
    return data?.timeline
  },
  write: (args, timeline) => {
    const query = { query: HomeTimelineDocument, variables: { ...group, ...args } }
    client.writeQuery({ ...query, data: { timeline } })
  },
})
