import type { PageFieldsFragment } from '@feedline/client'
import { useState } from 'react'
import { type AnyVariables, type TypedDocumentNode, useClient, useQuery } from 'urql'
import { ask, reasonOf } from './client'

/** The size of a page. The cache merges only pages with arguments, so each page names its size. */
export const first = 20

/**
 * A page with a list, whose next pages the cache appends. Returns the data, and what the list shows about its pages.
 */
export function useList<Data, Variables extends AnyVariables & { after?: string | null }>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  pageInfoOf: (data: Data) => PageFieldsFragment | undefined,
) {
  const client = useClient()
  const [{ data, error, fetching, stale }, execute] = useQuery({ query: document, variables })
  const [isLoadingNext, setLoadingNext] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const pageInfo = data && pageInfoOf(data)
  const onMore = async () => {
    setFailure(undefined)
    if (!pageInfo) return execute({ requestPolicy: 'network-only' })
    setLoadingNext(true)
    const next = { ...variables, after: pageInfo.endCursor }
    await ask(client, document, next, 'cache-first').catch(setFailure)
    setLoadingNext(false)
  }
  const isLoading = fetching || isLoadingNext || (stale && !pageInfo)
  const hasMore = pageInfo?.hasNextPage ?? false
  const reason = failure ?? (pageInfo ? undefined : reasonOf(error))
  return { data, pages: { hasMore, isLoading, error: isLoading ? undefined : reason, onMore } }
}
