import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { ApolloProvider, useQuery } from '@apollo/client/react'
import { prerenderStatic } from '@apollo/client/react/ssr'
import { HomeTimelineDocument } from '@feedline/client'
import type { ComponentType } from 'react'
import { renderToString } from 'react-dom/server'
import type { Server } from './ask.js'

const linkTo = ({ url, authorization }: Server) =>
  new HttpLink({ uri: url, headers: { authorization } })

/** Renders a page with the data of its queries, which `state` has for the browser. */
export async function renderPage(server: Server, Page: ComponentType) {
  // A client for each request: a cache belongs to one viewer.
  const options = { ssrMode: true, link: linkTo(server), cache: new InMemoryCache() }
  const client = new ApolloClient(options)
  const tree = (
    <ApolloProvider client={client}>
      <Page />
    </ApolloProvider>
  )
  const { result: html } = await prerenderStatic({ tree, renderFunction: renderToString })
  // A post may contain </script>.
  const state = JSON.stringify(client.extract()).replaceAll('<', '\\u003c')
  return { html, state }
}

/** The client in the browser, which has what the server has read. */
export const resumeClient = (server: Server, state: string) =>
  new ApolloClient({ link: linkTo(server), cache: new InMemoryCache().restore(JSON.parse(state)) })

/** The texts of the home timeline. */
export function HomePage() {
  const { data } = useQuery(HomeTimelineDocument)
  const texts = data?.timeline?.edges.map(({ node }) => <p key={node?.id}>{node?.text}</p>)
  return <main>{texts}</main>
}
