import { reportProblem } from './problems'

export interface NewPostsProps {
  readonly count: number
  readonly hasMore: boolean
  readonly onShow: () => Promise<unknown>
}

/** Says how many new posts there are. They are shown when the user asks for them, at the top. */
export function NewPosts({ count, hasMore, onShow }: NewPostsProps) {
  const show = async () => {
    await onShow()
    scrollTo({ top: 0 })
    document.querySelector<HTMLElement>('[role=feed] article')?.focus({ preventScroll: true })
  }
  const tryToShow = () => {
    show().catch(reportProblem)
  }
  return (
    <div role="status" className="new-posts">
      {count > 0 ? (
        <button type="button" onClick={tryToShow}>
          {count}
          {hasMore ? '+' : ''} new {count === 1 ? 'post' : 'posts'}
        </button>
      ) : null}
    </div>
  )
}
