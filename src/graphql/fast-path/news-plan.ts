import type { UserId } from '../../lib/ids.ts'
import { pollCursors } from '../../timeline/api/poll-cursors.ts'
import { newsRequestOf, type TimelineNewsArgs } from '../../timeline/api/timeline-args.ts'
import type { News } from '../../timeline/pages/news.ts'
import type { User } from '../../users/profile.ts'
import type { FieldPlan } from './field-plan.ts'
import { type Field, fieldsOf, type Scope, Unplanned } from './fields.ts'
import { accountsIn, isFollowedIn, isShownPerson } from './planned-page.ts'
import { planAuthor } from './post-plan.ts'

/** News to render. */
interface ShownNews {
  readonly reader: UserId
  readonly news: News
  /** The profiles of its authors. */
  readonly authors: readonly User[]
}

type Write = (shown: ShownNews) => string

/** Plans the reads and the answer of a poll. @throws {Unplanned} if only graphql-js answers it. */
export function planNews(scope: Scope, field: Field): FieldPlan<TimelineNewsArgs> {
  const fields = fieldsOf(scope, field)
  const writers = fields.map((one): Write => {
    const begin = `${JSON.stringify(one.key)}:`
    const write = writerOf(scope, one)
    return (shown) => begin + write(shown)
  })
  const changed = fields.some(({ name }) => name === 'changed')
  return {
    isPartial: false,
    decidesCost: () => [],
    prepare: (args, { feed, news: reader }) => {
      const request = newsRequestOf(feed, args)
      return async ({ state }, viewer) => {
        const news = await reader.findNews(viewer, { ...request, changed })
        const accounts = accountsIn(news.facts)
        const authors = news.authors.flatMap((author) => accounts.get(author)?.profile ?? [])
        if (authors.length < news.authors.length) return undefined
        if (!news.authors.every((author) => isShownPerson(news.facts, viewer, author)))
          return undefined
        state?.noteNews(news)
        const shown = { reader: viewer, news, authors }
        return `{${writers.map((write) => write(shown)).join(',')}}`
      }
    },
  }
}

function writerOf(scope: Scope, field: Field): Write {
  if (field.name === 'authors') {
    const write = planAuthor(scope, field)
    return ({ reader, news, authors }) =>
      `[${authors
        .map((author) =>
          write({ author }, { reader, followsAuthor: isFollowedIn(news.facts, author.id) }),
        )
        .join(',')}]`
  }
  const value = values[field.name]
  if (!value) throw new Unplanned()
  return ({ news }) => JSON.stringify(value(news))
}

const values: Readonly<Record<string, (news: News) => unknown>> = {
  __typename: () => 'TimelineNews',
  count: ({ count }) => count,
  hasMore: ({ hasMore }) => hasMore,
  changed: ({ changed }) => changed,
  pollCursor: ({ cursor }) => pollCursors.encode(cursor),
}
