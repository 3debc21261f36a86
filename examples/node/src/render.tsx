import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { ApolloProvider, useQuery } from '@apollo/client/react'
import { prerenderStatic } from '@apollo/client/react/ssr'
import { HomeTimelineDocument, type PostCardFragment } from '@feedline/client'
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

/** The posts of the home timeline: their texts and pictures. */
export function HomePage() {
  const { data } = useQuery(HomeTimelineDocument)
  const posts = data?.timeline?.edges.flatMap(({ node }) => node ?? []) ?? []
  return (
    <main>
      {posts.map(({ id, text, attachments }) => (
        <article key={id}>
          {text ? <p>{text}</p> : null}
          {attachments.map((attachment) => (
            <Attached key={attachment.url} {...attachment} />
          ))}
        </article>
      ))}
    </main>
  )
}

type Attachment = PostCardFragment['attachments'][number]

/** A picture with its alternative text and its place on the page. Anything else is a link. */
const Attached = ({ url, kind, alt, width, height }: Attachment) =>
  kind === 'IMAGE' ? (
    <img
      src={url}
      alt={alt || 'Picture'}
      width={width ?? undefined}
      height={height ?? undefined}
      loading="lazy"
    />
  ) : (
    <a href={url}>{alt || url}</a>
  )
