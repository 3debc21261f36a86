import { fetchAnswer } from '@feedline/example-ui/request'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { print } from 'graphql'

/** A server of GraphQL, and who asks it. */
export interface Server {
  readonly url: string
  /** The value of the header Authorization. */
  readonly authorization: string
}

/** Sends an operation. Throws the first error of the answer, with its `extensions` as the `cause`. */
export async function ask<Data, Variables>(
  { url, authorization }: Server,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: print(document), variables })
  const { data, errors } = await fetchAnswer(url, { method: 'POST', headers, body })
  const [error] = errors ?? []
  if (error) throw new Error(error.message, { cause: error.extensions })
  return data as Data
}
