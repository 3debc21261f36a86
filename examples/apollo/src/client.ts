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
import { RetryLink } from '@apollo/client/link/retry'
import { relayStylePagination } from '@apollo/client/utilities'
import { serverUrl } from '@feedline/example-ui'

type Edge = { readonly node: Reference }

interface Page {
  readonly edges: readonly Edge[]
  readonly pollCursor?: string | null
}

// #region apollo-timeline
/**
 * A timeline in the cache: pages after a cursor go below, new posts before a pollCursor go on top. New posts may repeat
 * posts that are held, and only pages without `after` have a pollCursor.
 */
function timelinePolicy(): FieldPolicy {
  const relay = relayStylePagination(['group'])
  return {
    ...relay,
    merge: (held: Page | undefined, page: Page, options) => {
      if (typeof relay.merge !== 'function') return page
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
      Query: { fields: { timeline: timelinePolicy() } },
      User: { fields: { posts: relayStylePagination() } },
      Post: { fields: { comments: relayStylePagination() } },
    },
  })

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
  return new ApolloClient({
    link: ApolloLink.from([signIn, retry, http]),
    cache: createCache(),
  })
}
// #endregion
