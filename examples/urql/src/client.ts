import { fetchAs, retryPause, serverUrl, triesMax } from '@feedline/example-ui'
import { persistedExchange } from '@urql/exchange-persisted'
import { retryExchange } from '@urql/exchange-retry'
import type { DocumentNode } from 'graphql'
import {
  type AnyVariables,
  Client,
  type CombinedError,
  type Exchange,
  fetchExchange,
  formatDocument,
  type GraphQLRequest,
  makeOperation,
  makeResult,
  mapExchange,
  type Operation,
  type RequestPolicy,
  type TypedDocumentNode,
} from 'urql'
import { filter, map, merge, pipe, share } from 'wonka'
import { createCache } from './cache'

// #region urql-retries
/** A repeated mutation has the same clientMutationId, so it takes effect once. */
const retries = retryExchange({
  maxNumberAttempts: triesMax,
  maxDelayMs: 60_000,
  retryWith: (error, operation) => {
    const { count = 0 } = operation.context.retry ?? {}
    const failures = error.networkError
      ? []
      : error.graphQLErrors.map(({ extensions }) => extensions)
    const pause = retryPause(failures, count + 1)
    if (pause === undefined) return
    // The exchange waits 1.5 to 2.5 times the delay of the context.
    const retry = { count, delay: pause / 1.5 }
    return makeOperation(operation.kind, operation, { ...operation.context, retry })
  },
})
// #endregion

/** Answers a query itself that {@link give} sends. */
const givenAnswers: Exchange =
  ({ forward }) =>
  (operations) => {
    const shared = share(operations)
    const isGiven = ({ kind, context }: Operation) => kind === 'query' && context.given?.data
    const isSent = (operation: Operation) => !isGiven(operation)
    const answer = (operation: Operation) => makeResult(operation, operation.context.given)
    return merge([
      pipe(shared, filter(isGiven), map(answer)),
      pipe(shared, filter(isSent), forward),
    ])
  }

/** Writes data into the cache, as if the server had answered a query with it. */
export function give(client: Client, request: GraphQLRequest, data: object): void {
  const given: { data?: object } = { data }
  const answer = client.executeQuery(request, { requestPolicy: 'network-only', given })
  answer.subscribe(() => undefined).unsubscribe()
  // The cache keeps the operation, and asks the server when it repeats it.
  delete given.data
}

// #region urql-client
const optionsOf = (viewer: string) => ({ url: serverUrl, fetch: fetchAs(viewer) })

/** Sends queries by GET: first the hash, and the text only to a server that does not know the hash. */
const network = [persistedExchange(), retries, fetchExchange]

/** A client of a viewer, with a cache of its own. */
export const createClient = (viewer: string) =>
  new Client({ ...optionsOf(viewer), exchanges: [createCache(), givenAnswers, ...network] })

/** Asks for the types of objects, which Graphcache needs. */
const withTypes = mapExchange({
  onOperation: (operation) => {
    const query = formatDocument(operation.query) as DocumentNode
    return makeOperation(operation.kind, { ...operation, query })
  },
})

/** A client that reads beside the cache. */
export const createDirectClient = (viewer: string) =>
  new Client({ ...optionsOf(viewer), exchanges: [withTypes, ...network] })
// #endregion

/** What went wrong, without the prefix that urql adds to messages. The `extensions` of the server are its `cause`. */
export function reasonOf(error: CombinedError | undefined): Error | undefined {
  if (!error || error.networkError) return error?.networkError
  const [refusal] = error.graphQLErrors
  return new Error(refusal?.message, { cause: refusal?.extensions })
}

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
