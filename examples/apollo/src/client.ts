import {
  ApolloClient,
  ApolloLink,
  type FieldPolicy,
  HttpLink,
  InMemoryCache,
  type Reference,
  ServerError,
} from '@apollo/client'
import { CombinedGraphQLErrors } from '@apollo/client/errors'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { RetryLink } from '@apollo/client/link/retry'
import { relayStylePagination } from '@apollo/client/utilities'
import { fetchAs, retryPause, serverUrl } from '@feedline/example-ui'
import { tap } from 'rxjs'

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
      User: {
        fields: { posts: listPolicy(), followers: listPolicy(), following: listPolicy(['group']) },
      },
      Post: { fields: { comments: listPolicy(), likes: listPolicy() } },
    },
  })

/** Sends queries by GET: first the hash, and the text by POST only to a server that does not know the hash. */
const persisted = new PersistedQueryLink({
  useGETForHashedQueries: true,
  sha256: async (text) => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  },
})

// #region apollo-retries
const pauseAfter = (tries: number, error: unknown) => {
  if (CombinedGraphQLErrors.is(error)) {
    return retryPause(
      error.errors.map(({ extensions }) => extensions ?? {}),
      tries,
    )
  }
  // A proxy without a server behind it answers with 502 to 504. Its other answers do not change by a repeat.
  const hasNoServer = !ServerError.is(error) || [502, 503, 504].includes(error.statusCode)
  return hasNoServer ? retryPause([], tries) : undefined
}

/** A repeated mutation has the same clientMutationId, so it takes effect once. */
const retries = [
  new RetryLink({
    attempts: (tries, _operation, error) => pauseAfter(tries, error) !== undefined,
    delay: (tries, _operation, error) => pauseAfter(tries, error) ?? 0,
  }),
  // RetryLink sees what is thrown. An answer with errors is a result, also with status 503.
  new ApolloLink((operation, forward) =>
    forward(operation).pipe(
      tap((result) => {
        const failed = result.errors?.length && new CombinedGraphQLErrors(result)
        if (failed && pauseAfter(1, failed) !== undefined) throw failed
      }),
    ),
  ),
]
// #endregion

// #region apollo-client
/** A client of a viewer. Each viewer has a cache of their own. */
export function createClient(viewer: string): ApolloClient {
  const http = new HttpLink({ uri: serverUrl, fetch: fetchAs(viewer) })
  const isMutation = ({ operationType }: ApolloLink.Operation) => operationType === 'mutation'
  const send = ApolloLink.split(isMutation, http, persisted.concat(http))
  return new ApolloClient({ link: ApolloLink.from([...retries, send]), cache: createCache() })
}
// #endregion
