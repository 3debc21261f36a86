import { Loading, Problem } from '@feedline/example-ui'
import { Component, createContext, type ReactNode, Suspense, useContext, useState } from 'react'
import { type GraphQLTaggedNode, type LoadMoreFn, useLazyLoadQuery } from 'react-relay'
import type { OperationType } from 'relay-runtime'

const FetchKey = createContext(0)

interface BoundaryProps {
  readonly children: ReactNode
  /** What is shown while the data loads. */
  readonly fallback?: ReactNode
}

/** Shows that a page loads, or why it could not. A retry has another fetch key, so Relay asks the server again. */
export class Boundary extends Component<BoundaryProps, { error: unknown; fetchKey: number }> {
  static override contextType = FetchKey
  declare context: number
  static getDerivedStateFromError = (error: unknown) => ({ error })
  override state = { error: undefined, fetchKey: 0 }
  retry = () => this.setState(({ fetchKey }) => ({ error: undefined, fetchKey: fetchKey + 1 }))

  override render() {
    const { error, fetchKey } = this.state
    const { children, fallback = <Loading /> } = this.props
    if (error) return <Problem error={error} onRetry={this.retry} />
    return (
      <FetchKey value={this.context + fetchKey}>
        <Suspense fallback={fallback}>{children}</Suspense>
      </FetchKey>
    )
  }
}

/** The data of a page in a {@link Boundary}. */
export const usePageData = <Query extends OperationType>(
  query: GraphQLTaggedNode,
  variables: Query['variables'],
): Query['response'] =>
  useLazyLoadQuery<Query>(query, variables, { fetchKey: useContext(FetchKey) })

interface List<Query extends OperationType> {
  readonly hasNext: boolean
  readonly isLoadingNext: boolean
  readonly loadNext: LoadMoreFn<Query>
}

/** What a list shows about its pages. */
export function useNextPage<Query extends OperationType>(
  { hasNext, isLoadingNext, loadNext }: List<Query>,
  extraVariables: Partial<Query['variables']> = {},
) {
  const [error, setError] = useState<Error | null>(null)
  const onMore = () =>
    loadNext(20, { onComplete: setError, UNSTABLE_extraVariables: extraVariables })
  return { hasMore: hasNext, isLoading: isLoadingNext, error, onMore }
}
