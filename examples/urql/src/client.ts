import { serverUrl } from '@feedline/example-ui'
import { persistedExchange } from '@urql/exchange-persisted'
import { retryExchange } from '@urql/exchange-retry'
import {
  type AnyVariables,
  Client,
  type CombinedError,
  fetchExchange,
  type RequestPolicy,
  type TypedDocumentNode,
} from 'urql'
import { createCache } from './cache.ts'

// #region urql-retries
/** A repeated mutation has the same clientMutationId, so it takes effect once. */
const isTemporary = ({ networkError, graphQLErrors }: CombinedError) =>
  navigator.onLine &&
  (networkError !== undefined ||
    graphQLErrors.some(({ extensions }) => extensions.code === 'UNAVAILABLE'))

const retries = retryExchange({ retryIf: isTemporary, maxNumberAttempts: 3, initialDelayMs: 300 })
// #endregion

// #region urql-client
/** Sends queries by GET: first the hash, and the text only to a server that does not know the hash. */
export const createClient = (handle: string) =>
  new Client({
    url: serverUrl,
    fetchOptions: { headers: { authorization: `Dev ${handle}` } },
    exchanges: [createCache(), persistedExchange(), retries, fetchExchange],
  })
// #endregion

// #region urql-errors
/** What went wrong, without the prefix that urql adds to messages. */
export const reasonOf = (error: CombinedError | undefined): Error | undefined =>
  error && (error.networkError ?? new Error(error.graphQLErrors[0]?.message, { cause: error }))

/** Sends a query and returns its data. Throws what went wrong. */
export async function ask<Data, Variables extends AnyVariables>(
  client: Client,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  requestPolicy: RequestPolicy = 'network-only',
): Promise<Data | undefined> {
  const { data, error } = await client.query(document, variables, { requestPolicy }).toPromise()
  if (error) throw reasonOf(error)
  return data
}
// #endregion
