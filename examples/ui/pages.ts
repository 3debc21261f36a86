import { useState } from 'react'

/** The nodes of a page, without those that were deleted while it was read. */
export const nodesOf = <Node>(edges: readonly { node: Node | null }[] = []): Node[] =>
  edges.flatMap(({ node }) => node ?? [])

interface PageInfo {
  readonly endCursor: string | null
  readonly hasNextPage: boolean
}

interface Result {
  readonly loading: boolean
  readonly error?: unknown
  readonly refetch: () => Promise<unknown>
  readonly fetchMore: (options: { variables: { first: number; after: string } }) => Promise<unknown>
}

/** What a list shows about its pages, and what loads the next one. */
export function useLoadMore(result: Result, pageInfo: PageInfo | undefined) {
  const [failure, setFailure] = useState<unknown>()
  const onMore = () => {
    setFailure(undefined)
    const after = pageInfo?.endCursor
    const sent = after ? result.fetchMore({ variables: { first: 20, after } }) : result.refetch()
    sent.catch(setFailure)
  }
  return {
    hasMore: pageInfo?.hasNextPage ?? false,
    isLoading: result.loading,
    error: failure ?? (pageInfo ? undefined : result.error),
    onMore,
  }
}
