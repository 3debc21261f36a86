import { Heading } from './address'
import { Composer, type ComposerProps } from './composer'
import { Feed, type FeedProps } from './feed'
import { NewPosts } from './new-posts'

export interface TimelineViewProps extends Omit<FeedProps, 'label' | 'empty'> {
  /** Undefined for the home timeline, which has the composer. */
  readonly group: string | undefined
  readonly news: {
    readonly count: number
    readonly hasMore: boolean
    readonly show: () => Promise<unknown>
  }
  readonly onSend: ComposerProps['onSend']
}

/** The home timeline, or the timeline of a group. */
export function TimelineView({ group, news, onSend, ...feed }: TimelineViewProps) {
  const isHome = group === undefined
  return (
    <>
      <Heading title={group ?? 'Home'} className={isHome ? 'hidden' : 'title'} />
      {isHome ? <Composer label="What is new?" button="Post" onSend={onSend} /> : null}
      <NewPosts count={news.count} hasMore={news.hasMore} onShow={news.show} />
      <Feed
        {...feed}
        label={isHome ? 'Home timeline' : `Timeline of ${group}`}
        empty="No posts yet. Follow someone, or write the first."
      />
    </>
  )
}
