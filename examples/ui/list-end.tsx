import { useEffect, useEffectEvent, useRef } from 'react'
import { Problem } from './problems'

/** What a list shows about its pages. */
export interface PagesProps {
  readonly hasMore: boolean
  readonly isLoading: boolean
  /** Why the first or the next page could not be loaded. */
  readonly error: unknown
  /** Loads the next page; of an empty list, the first. */
  readonly onMore: () => void
  /** The sentence of an empty list. */
  readonly empty: string
}

/** What follows the last item of a list: the next page, why it failed, or the end. */
export function ListEnd(props: PagesProps & { readonly length: number }) {
  const { length, hasMore, isLoading, error, onMore, empty } = props
  const isEmpty = length === 0
  return (
    <>
      {error ? <Problem error={error} onRetry={onMore} /> : null}
      {isLoading && isEmpty ? <Skeleton /> : null}
      {hasMore && !error ? <More key={length} isLoading={isLoading} onMore={onMore} /> : null}
      {hasMore || isLoading || error ? null : (
        <p className="end" data-testid="end">
          {isEmpty ? empty : 'You have seen everything.'}
        </p>
      )}
    </>
  )
}

/** Loads more when it comes within two screens of the window. Each length of the list has its own, which checks again. */
function More({ isLoading, onMore }: { isLoading: boolean; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const loadMore = useEffectEvent(onMore)
  useEffect(() => {
    if (isLoading || !button.current) return
    const observer = new IntersectionObserver(
      (entries) => {
        // A slow page gets several entries at once.
        if (entries.at(-1)?.isIntersecting) loadMore()
      },
      { rootMargin: '200% 0px' },
    )
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [isLoading])
  return (
    <button type="button" ref={button} className="more" disabled={isLoading} onClick={onMore}>
      {isLoading ? 'Loading…' : 'Load more'}
    </button>
  )
}

/** Grey items while the first page loads. */
function Skeleton() {
  return (
    <div className="feed" aria-hidden="true">
      {[1, 2, 3, 4].map((place) => (
        <div key={place} className="post skeleton">
          <span className="avatar" />
          <div className="body">
            <span />
            <span />
          </div>
        </div>
      ))}
    </div>
  )
}
