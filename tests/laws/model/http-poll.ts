import { setTimeout as sleep } from 'node:timers/promises'
import { parsePostNodeId } from '../../../src/graphql/node-id.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import type { PollQueries } from '../../support/poller.ts'

/** What the polls of all pollers cost so far. */
export interface PollCosts {
  polls: number
  unchanged: number
  /** Bytes of the bodies of polls. */
  bytes: number
  pages: number
}

interface Asked {
  readonly reader: UserId
  readonly strategy: FeedStrategyName
  /** The address of the server for the next request. */
  readonly nextUrl: () => string
  readonly costs: PollCosts
}

/**
 * The queries of a client that polls by GET, as docs/explanation/polling.md says. An answer without
 * a body says that nothing is new.
 */
export function pollByGet({ reader, strategy, nextUrl, costs }: Asked): PollQueries {
  let etag = ''
  const get = async (query: string, headers = {}) => {
    for (let tries = 1; ; tries++) {
      const answer = await fetch(`${nextUrl()}/graphql?${new URLSearchParams({ query })}`, {
        headers: { authorization: `Dev ${reader}`, ...headers },
      })
      const [body, tag] = [await answer.text(), answer.headers.get('etag') ?? '']
      // On a busy machine, the database can take longer than a request may.
      if (tries === 20 || !body.includes('"UNAVAILABLE"'))
        return { status: answer.status, body, tag }
      await sleep(200)
    }
  }
  return {
    timeline: async (window) => {
      costs.pages++
      const range =
        'first' in window
          ? `first: ${window.first}`
          : `last: ${window.last}, before: "${window.before}"`
      const query = `{ timeline(${range}, strategy: ${strategy}) { edges { node { id } } pollCursor pageInfo { hasNextPage hasPreviousPage } } }`
      const { timeline } = dataOf<TimelineAnswer>((await get(query)).body)
      const { edges, pollCursor, pageInfo } = timeline
      const ids = edges.flatMap(({ node }) => (node ? [parsePostNodeId('id', node.id).id] : []))
      return { ids, pollCursor: pollCursor ?? '', ...pageInfo }
    },
    news: async (since) => {
      const query = `{ timelineNews(since: "${since}", strategy: ${strategy}) { count hasMore authors { handle } changed pollCursor } }`
      const { status, body, tag } = await get(query, etag ? { 'if-none-match': etag } : {})
      costs.polls++
      costs.bytes += body.length
      if (status === 304) {
        costs.unchanged++
        return { count: 0, hasMore: false, changed: false, pollCursor: since }
      }
      etag = tag
      return dataOf<NewsAnswer>(body).timelineNews
    },
  }
}

function dataOf<Data>(body: string): Data {
  const { data, errors } = JSON.parse(body)
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

interface TimelineAnswer {
  readonly timeline: {
    readonly edges: readonly { readonly node: { readonly id: string } | null }[]
    readonly pollCursor: string | null
    readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
  }
}
interface NewsAnswer {
  readonly timelineNews: Awaited<ReturnType<PollQueries['news']>>
}
