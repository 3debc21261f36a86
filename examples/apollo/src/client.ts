import {
  ApolloClient,
  ApolloLink,
  type FieldPolicy,
  HttpLink,
  InMemoryCache,
  type Reference,
  ServerError,
} from '@apollo/client'
import { SetContextLink } from '@apollo/client/link/context'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { RetryLink } from '@apollo/client/link/retry'
import { relayStylePagination } from '@apollo/client/utilities'
import { serverUrl } from '@feedline/example-ui'

type Edge = { readonly node: Reference; readonly cursor?: string }

interface Page {
  readonly edges: readonly Edge[]
  readonly pageInfo?: { readonly endCursor?: string | null }
  readonly pollCursor?: string | null
}

// #region apollo-timeline
/**
 * A list in the cache: pages after a cursor go below, new posts before a pollCursor go on top. New posts may repeat posts
 * that are held, and only pages without `after` have a pollCursor. A page that goes on a list that was replaced is ignored.
 */
function listPolicy(keyArgs: false | string[] = false): FieldPolicy {
  const relay = relayStylePagination(keyArgs)
  return {
    ...relay,
    merge: (held: Page | undefined, page: Page, options) => {
      if (typeof relay.merge !== 'function') return page
      const after = options.args?.after
      const isHeld = (cursor: unknown) =>
        held?.pageInfo?.endCursor === cursor || held?.edges.some((edge) => edge.cursor === cursor)
      if (after && !isHeld(after)) return held
      const nodeOf = (edge: Edge) => options.readField<Reference>('node', edge)?.__ref
      const added = new Set(page.edges.map(nodeOf))
      const rest = held && { ...held, edges: held.edges.filter((edge) => !added.has(nodeOf(edge))) }
      const merged = relay.merge(rest as never, page as never, options)
      return { ...merged, pollCursor: page.pollCursor ?? held?.pollCursor }
    },
  }
}
// #endregion

const createCache = () =>
  new InMemoryCache({
    typePolicies: {
      Query: { fields: { timeline: listPolicy(['group']) } },
      User: { fields: { posts: listPolicy() } },
      Post: { fields: { comments: listPolicy() } },
    },
  })

// #region apollo-persisted
/** Sends queries by GET: first the hash, and the text by POST only to a server that does not know the hash. */
const persisted = new PersistedQueryLink({
  useGETForHashedQueries: true,
  sha256: async (text) => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  },
})
// #endregion

// #region apollo-client
/** A client of a viewer. Each viewer has a cache of their own. */
export function createClient(handle: string): ApolloClient {
  const signIn = new SetContextLink(({ headers }) => {
    return { headers: { ...headers, authorization: `Dev ${handle}` } }
  })
  // A repeated mutation has the same clientMutationId, so it takes effect once.
  const retry = new RetryLink({
    delay: { initial: 300 },
    attempts: {
      max: 3,
      retryIf: (error) => navigator.onLine && (!ServerError.is(error) || error.statusCode === 503),
    },
  })
  const http = new HttpLink({ uri: serverUrl })
  const isMutation = ({ operationType }: ApolloLink.Operation) => operationType === 'mutation'
  const send = ApolloLink.split(isMutation, http, persisted.concat(http))
  return new ApolloClient({
    link: ApolloLink.from([signIn, retry, send]),
    cache: createCache(),
  })
}
// #endregion
