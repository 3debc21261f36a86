import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { ApolloProvider } from '@apollo/client/react'
import { prerenderStatic } from '@apollo/client/react/ssr'
import type { Server } from '@feedline/example-node/ask'
import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'

// #region ssr
/** Renders a page with the data of its queries. `state` is for `cache.restore` in the browser. */
export async function renderPage({ url, authorization }: Server, page: ReactNode) {
  // A client for each request: a cache belongs to one viewer.
  const client = new ApolloClient({
    ssrMode: true,
    link: new HttpLink({ uri: url, headers: { authorization } }),
    cache: new InMemoryCache(),
  })
  const tree = <ApolloProvider client={client}>{page}</ApolloProvider>
  const { result: html } = await prerenderStatic({ tree, renderFunction: renderToString })
  // A post may contain </script>.
  const state = JSON.stringify(client.extract()).replaceAll('<', '\\u003c')
  return { html, state }
}
// #endregion
