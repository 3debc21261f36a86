import { type KeyboardEvent, type MouseEvent, memo, useId } from 'react'
import { Heading, isPlain, Link, navigate } from './address'
import { Attachments, type ShownAttachment } from './attachments'
import { Avatar } from './avatar'
import { type Facet, RichText } from './rich-text'
import { Time } from './time'

export interface ShownUser {
  readonly handle: string
  readonly name: string
  readonly avatarUrl?: string | null | undefined
}

export interface ShownPost {
  readonly id: string
  readonly text: string
  readonly facets?: readonly Facet[]
  readonly attachments: readonly ShownAttachment[]
  readonly createdAt: string
  readonly author: ShownUser
  readonly likeCount: number
  readonly commentCount: number
  readonly viewerHasLiked: boolean
  readonly viewerCanDelete: boolean
}

export interface PostCardProps {
  readonly post: ShownPost
  readonly onLike: (post: ShownPost) => void
  readonly onDelete: (post: ShownPost) => void
  /** The place in its list, from 1. */
  readonly place?: number | undefined
}

const numberOf = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`

/** What a post says in one line: its text, or else what its attachments show. */
const summaryOf = ({ text, attachments }: ShownPost) =>
  text || attachments.flatMap(({ alt }) => alt || []).join(', ') || 'a post without words'

/** A post with its actions. In a list, a click beside its links and buttons opens it, and so does Enter. */
export const PostCard = memo(function PostCard({ post, place, onLike, onDelete }: PostCardProps) {
  const name = useId()
  const content = useId()
  const { author, commentCount, attachments } = post
  const href = `/posts/${post.id}`
  const isInList = place !== undefined
  const openByClick = (event: MouseEvent<HTMLElement>) => {
    const isAction = event.target instanceof Element && event.target.closest('a, button, video')
    const selectsText = getSelection()?.isCollapsed === false
    if (!isAction && !selectsText && isPlain(event)) navigate(href)
  }
  const openByKey = ({ key, target, currentTarget }: KeyboardEvent) => {
    if (key === 'Enter' && target === currentTarget) navigate(href)
  }
  return (
    <article
      className="post"
      onClick={isInList ? openByClick : undefined}
      onKeyDown={isInList ? openByKey : undefined}
      data-testid="post"
      data-post-id={post.id}
      tabIndex={-1}
      aria-labelledby={name}
      aria-describedby={content}
      aria-posinset={place}
      aria-setsize={place && -1}
    >
      {isInList ? null : (
        <Heading
          title={`${author.name} (@${author.handle}): ${summaryOf(post)}`}
          className="hidden"
        >
          Post by {author.name}
        </Heading>
      )}
      <Avatar user={author} />
      <div className="body">
        <header>
          <Link href={`/users/${author.handle}`} id={name} className="name">
            {author.name}
          </Link>
          <span className="quiet">@{author.handle}</span>
          <Link href={href} className="quiet">
            <Time at={post.createdAt} />
          </Link>
        </header>
        <div id={content}>
          {post.text ? (
            <p className="text" data-testid="post-text">
              <RichText text={post.text} facets={post.facets ?? []} />
            </p>
          ) : null}
          <Attachments attachments={attachments} />
        </div>
        <footer>
          <span className="like">
            <button type="button" aria-pressed={post.viewerHasLiked} onClick={() => onLike(post)}>
              <span aria-hidden="true">{post.viewerHasLiked ? '♥' : '♡'}</span>
              <span className="hidden">Like</span>
            </button>
            <Link href={`${href}/likes`} aria-label={numberOf(post.likeCount, 'like')}>
              <span data-testid="like-count">{post.likeCount}</span>
            </Link>
          </span>
          <Link href={href} className="quiet">
            {numberOf(commentCount, 'comment')}
          </Link>
          {post.viewerCanDelete ? (
            <button
              type="button"
              className="plain"
              onClick={() => confirm('Delete this post?') && onDelete(post)}
            >
              Delete
            </button>
          ) : null}
        </footer>
      </div>
    </article>
  )
})
