import { Link } from './address'
import { Avatar } from './avatar'
import { Composer, type ComposerProps } from './composer'
import type { ShownUser } from './post-card'
import { type Facet, RichText } from './rich-text'
import { Time } from './time'

export interface ShownComment {
  readonly id: string
  readonly text: string
  readonly facets?: readonly Facet[]
  readonly createdAt: string
  readonly user?: ShownUser | null | undefined
  readonly viewerCanDelete: boolean
}

export interface CommentsProps {
  readonly comments: readonly ShownComment[]
  /** Undefined if the list is complete. */
  readonly onMore: (() => void) | undefined
  readonly onAdd: ComposerProps['onSend']
  readonly onDelete: (comment: ShownComment) => void
}

/** The comments on a post, newest first, and the field for the next one. */
export function Comments({ comments, onMore, onAdd, onDelete }: CommentsProps) {
  return (
    <section aria-label="Comments" className="comments">
      <Composer label="Write a comment" button="Comment" onSend={onAdd} />
      {comments.length === 0 ? <p className="end">No comments yet</p> : null}
      <ul>
        {comments.map((comment) => (
          <li key={comment.id} data-testid="comment" className="post">
            {comment.user ? <Avatar user={comment.user} /> : null}
            <div className="body">
              <header>
                <Link href={`/users/${comment.user?.handle}`} className="name">
                  {comment.user?.name}
                </Link>
                <span className="quiet">
                  <Time at={comment.createdAt} />
                </span>
              </header>
              <p className="text">
                <RichText text={comment.text} facets={comment.facets ?? []} />
              </p>
              {comment.viewerCanDelete ? (
                <button type="button" className="plain" onClick={() => onDelete(comment)}>
                  Delete comment
                </button>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
      {onMore ? (
        <button type="button" className="more" onClick={onMore}>
          More comments
        </button>
      ) : null}
    </section>
  )
}
