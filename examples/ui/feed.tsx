import type { KeyboardEvent } from 'react'
import { ListEnd, type PagesProps } from './list-end'
import { PostCard, type PostCardProps, type ShownPost } from './post-card'

export interface FeedProps extends PagesProps, Pick<PostCardProps, 'onLike' | 'onDelete'> {
  /** The accessible name of the list. */
  readonly label: string
  readonly posts: readonly ShownPost[]
}

/** A list of posts, which loads the next page when its end comes near. Page Up and Page Down move between posts. */
export function Feed({ label, posts, onLike, onDelete, ...pages }: FeedProps) {
  return (
    <>
      <div
        role="feed"
        aria-label={label}
        aria-busy={pages.isLoading}
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
      <ListEnd {...pages} length={posts.length} />
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
