import { type Answer, fetchAnswer, fetchAs, serverUrl } from '@feedline/example-ui'
import { commitMutation, type GraphQLTaggedNode, useRelayEnvironment } from 'react-relay'
import * as runtime from 'relay-runtime'

// #region relay-request
/** Sends a query by GET with its hash, and its text only to a server that does not know the hash. Mutations have both. */
async function send(
  signedFetch: typeof fetch,
  { id, text: query, name: operationName, operationKind }: runtime.RequestParameters,
  variables: runtime.Variables,
): Promise<Answer> {
  const extensions = { persistedQuery: { version: 1, sha256Hash: id } }
  if (operationKind === 'query') {
    const [values, hash] = [JSON.stringify(variables), JSON.stringify(extensions)]
    const search = new URLSearchParams({ operationName, variables: values, extensions: hash })
    const answer = await fetchAnswer(`${serverUrl}?${search}`, {}, signedFetch)
    if (answer.errors?.[0]?.extensions?.code !== 'PERSISTED_QUERY_NOT_FOUND') return answer
  }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ operationName, query, variables, extensions })
  return fetchAnswer(serverUrl, { method: 'POST', headers, body }, signedFetch)
}
// #endregion

// #region relay-retries
const fetchBy =
  (signedFetch: typeof fetch): runtime.FetchFunction =>
  async (operation, variables) => {
    const answer = await send(signedFetch, operation, variables)
    const [error] = answer.errors ?? []
    // Relay would store the null of a failed list, and show it. A thrown error leaves the store as it is.
    if (error) throw new Error(error.message, { cause: error.extensions })
    return answer as runtime.GraphQLResponse
  }
// #endregion

/** A client of a viewer, with a store of its own. */
export const createEnvironment = (viewer: string) =>
  new runtime.Environment({
    network: runtime.Network.create(fetchBy(fetchAs(viewer))),
    store: new runtime.Store(new runtime.RecordSource()),
  })

type Effects<M extends runtime.MutationParameters> = Pick<
  runtime.MutationConfig<M>,
  'optimisticResponse' | 'optimisticUpdater' | 'updater'
> & { readonly connections?: readonly string[] }

/** A mutation as a function of its input. Each call has its own clientMutationId, unless the input has one. */
export function useAction<M extends runtime.MutationParameters>(mutation: GraphQLTaggedNode) {
  const environment = useRelayEnvironment()
  return (given: M['variables']['input'] & object, effects: Effects<M> = {}) =>
    new Promise<M['response']>((onCompleted, onError) => {
      const { connections, ...config } = effects
      const input = { clientMutationId: crypto.randomUUID(), ...given }
      const variables = { input, connections }
      commitMutation<M>(environment, { mutation, variables, onCompleted, onError, ...config })
    })
}

/** Shows values of an object before the server has answered. */
export const showValues = (id: string, values: Record<string, number | boolean>) => ({
  optimisticUpdater: (store: runtime.RecordSourceProxy) => {
    for (const [name, value] of Object.entries(values)) store.get(id)?.setValue(value, name)
  },
})
