import { type KeyboardEvent, useEffect, useEffectEvent, useRef } from 'react'
import { PostCard, type PostCardProps, type ShownPost } from './post-card'
import { Problem } from './problems'

export interface FeedProps extends Pick<PostCardProps, 'onLike' | 'onDelete'> {
  /** The accessible name of the list. */
  readonly label: string
  readonly posts: readonly ShownPost[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  /** Why the first or the next page could not be loaded. */
  readonly error: unknown
  /** Loads the next page; without posts, the first. */
  readonly onMore: () => void
  /** The sentence of an empty list. */
  readonly empty: string
}

/** A list of posts, which loads the next page when its end comes near. Page Up and Page Down move between posts. */
export function Feed(props: FeedProps) {
  const { label, posts, hasMore, isLoading, error, onMore, onLike, onDelete } = props
  const isEmpty = posts.length === 0
  return (
    <>
      <div
        role="feed"
        aria-label={label}
        aria-busy={isLoading}
        className="feed"
        onKeyDown={movePost}
      >
        {posts.map((post, index) => (
          <PostCard
            key={post.id}
            post={post}
            place={index + 1}
            onLike={onLike}
            onDelete={onDelete}
          />
        ))}
      </div>
      {error ? <Problem error={error} onRetry={onMore} /> : null}
      {isLoading && isEmpty ? <Skeleton /> : null}
      {hasMore && !error ? <More key={posts.length} isLoading={isLoading} onMore={onMore} /> : null}
      {hasMore || isLoading || error ? null : (
        <p className="end" data-testid="end">
          {isEmpty ? props.empty : 'You have seen everything.'}
        </p>
      )}
    </>
  )
}

function movePost(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'PageDown' && event.key !== 'PageUp') return
  const posts = [...event.currentTarget.querySelectorAll<HTMLElement>('article')]
  const current = posts.findIndex((post) => post.contains(document.activeElement))
  const next = posts[current + (event.key === 'PageDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
  next.scrollIntoView({ block: 'center' })
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

const ignore = () => undefined

/** A list whose first page loads. */
export const Loading = () => (
  <Feed
    label="Loading"
    posts={[]}
    hasMore={false}
    isLoading
    error={null}
    onMore={ignore}
    onLike={ignore}
    onDelete={ignore}
    empty=""
  />
)

/** Grey posts while the first page loads. */
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
