import type { OperationVariables } from '@apollo/client'
import type { useQuery } from '@apollo/client/react'
import type { PageFieldsFragment } from '@feedline/client'
import { useState } from 'react'

/** What a list shows about its pages, and what loads the next one. The policy of the list appends it. */
export function usePages<Data, Variables extends OperationVariables>(
  { client, observable, loading, error, refetch }: useQuery.Result<Data, Variables>,
  pageInfo: PageFieldsFragment | undefined,
) {
  const [isLoadingNext, setLoadingNext] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const onMore = async () => {
    setFailure(undefined)
    if (!pageInfo) return refetch().catch(setFailure)
    setLoadingNext(true)
    const variables = { ...observable.variables, first: 20, after: pageInfo.endCursor }
    // fetchMore of the query would hold back other changes of the cache until its answer has come.
    const next = { query: observable.query, variables, fetchPolicy: 'network-only' } as const
    await client.query(next).catch(setFailure)
    setLoadingNext(false)
  }
  return {
    hasMore: pageInfo?.hasNextPage ?? false,
    isLoading: loading || isLoadingNext,
    error: failure ?? (pageInfo ? undefined : error),
    onMore,
  }
}
