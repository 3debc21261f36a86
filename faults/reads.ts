import { type FeedStrategyName, feedStrategyNames } from '../src/feed/strategies/list.ts'
import { decodeOpaque } from '../src/lib/opaque.ts'
import { type Data, send } from './graphql.ts'
import type { User } from './model.ts'
import type { Random } from './random.ts'
import type { Register } from './register.ts'
import type { Stage } from './stage.ts'

export const timelineDocument = `query($strategy: FeedStrategy, $first: Int, $after: String, $last: Int, $before: String) {
  timeline(strategy: $strategy, first: $first, after: $after, last: $last, before: $before) {
    servedBy pending
    edges { node { id text } }
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`
const patienceMs = 30_000

/** A page as it was read, with the part of the timeline that it must hold: ids between the bounds, bounds excluded. */
interface Reading {
  readonly fromMs: number
  readonly toMs: number
  readonly strategy: FeedStrategyName
  readonly page: Data
  readonly above: string
  readonly below: string
}

/** The part of a post's global id, or of a cursor, that gives the order of timelines. */
export function orderOf(opaque: string): string {
  const { tag, parts } = decodeOpaque(opaque) ?? { tag: '', parts: [] }
  return (tag === 'Post' ? parts[1] : parts[0]) ?? ''
}

/** Reads some pages of a user's timeline under one strategy, and checks each against the model. */
export async function readTimeline(stage: Stage, reader: User, random: Random): Promise<void> {
  const strategy = random.pick(feedStrategyNames) ?? 'FANOUT_ON_READ'
  const size = Math.floor(random.between(3, 30))
  const first = await readPage(stage, reader, strategy, { first: size })
  if (!first?.pageInfo.endCursor || random.next() < 0.5) return
  const second = await readPage(stage, reader, strategy, {
    first: size,
    after: first.pageInfo.endCursor,
  })
  if (!second?.pageInfo.endCursor) return
  await readPage(stage, reader, strategy, { last: size, before: second.pageInfo.endCursor })
}

interface Window {
  readonly first?: number
  readonly after?: string
  readonly last?: number
  readonly before?: string
}

async function readPage(
  stage: Stage,
  reader: User,
  strategy: FeedStrategyName,
  window: Window,
): Promise<Data | undefined> {
  const { journal, urls } = stage
  const startMs = performance.now()
  const url = urls[Math.floor(startMs) % urls.length] ?? ''
  const request = {
    document: timelineDocument,
    variables: { strategy, ...window },
    viewer: reader.handle,
  }
  const answer = await send(url, request, patienceMs)
  const toMs = performance.now()
  journal.request(startMs, toMs, answer)
  if (answer.code === 'INTERNAL_SERVER_ERROR') {
    journal.violate('internalErrors', toMs, `timeline of ${reader.handle}: ${answer.message}`)
  }
  const page = answer.data?.timeline
  if (!page) return undefined
  journal.timelines++
  const bounds = boundsOf(page, window)
  check(stage, reader, { ...bounds, page, strategy, toMs, fromMs: journal.staleSince(startMs) })
  return page
}

const [lowest, highest] = ['', 'g']

function boundsOf({ pageInfo, edges }: Data, { after, last, before }: Window) {
  const edge = (at: number) => orderOf(edges.at(at)?.node?.id ?? '')
  const above = pageInfo.hasNextPage && last === undefined ? edge(-1) : lowest
  const below = after === undefined ? highest : orderOf(after)
  if (last === undefined) return { above, below }
  const newest = pageInfo.hasPreviousPage ? edge(0) : highest
  return { above: before === undefined ? lowest : orderOf(before), below: newest }
}

/** Compares a page with what law L1 demands at every moment of the read. */
function check(stage: Stage, reader: User, reading: Reading): void {
  const { world, journal } = stage
  const { page, fromMs, toMs, strategy } = reading
  if (reader.live.certain(fromMs, toMs) !== true) return
  const of = `${strategy} by ${page.servedBy} of ${reader.handle}`
  const wrong = (detail: string) => journal.violate('wrongTimelines', toMs, `${of}: ${detail}`)
  const shown: string[] = page.edges.flatMap(({ node }: Data) => (node ? [orderOf(node.id)] : []))
  if (shown.some((id, at) => at > 0 && id >= (shown[at - 1] ?? ''))) {
    wrong(`out of order or twice: ${shown.join(' ')}`)
  }
  for (const { node } of page.edges) {
    const post = node && world.model.posts.get(node.text)
    const author = post && world.model.users.get(post.author)
    if (!author) continue
    const isWrong =
      world.model.isLive(post, fromMs, toMs) === false ||
      world.model.isShown(reader, author, fromMs, toMs) === false
    if (isWrong) wrong(`holds ${post.text} of ${post.author}, which does not belong there`)
  }
  const missing = missingFrom(stage, reader, reading, new Set(shown))
  if (missing.length === 0) return
  const detail = `lacks ${missing.slice(0, 10).join('; ')} (${missing.length} posts)`
  if (!page.pending) journal.violate('falsePending', toMs, `${of}: ${detail}, pending false`)
}

/** The posts that the page must show and does not. */
function missingFrom(
  { world: { model } }: Stage,
  reader: User,
  { above, below, fromMs, toMs }: Reading,
  shown: ReadonlySet<string>,
): string[] {
  const authors = [reader.handle, ...reader.follows.keys()].flatMap((handle) => {
    const author = model.users.get(handle)
    return author && model.isShown(reader, author, fromMs, toMs) ? [author] : []
  })
  return authors.flatMap((author) =>
    [...author.posts.values()].flatMap((post) => {
      if (post.id === undefined) return []
      const id = orderOf(post.id)
      const isDemanded = id > above && id < below && !shown.has(id)
      if (!isDemanded || !model.isLive(post, fromMs, toMs)) return []
      const age = (register: Register | undefined) => Math.round(toMs - (register?.lastMs ?? toMs))
      const followed = `followed ${age(reader.follows.get(author.handle))} ms`
      return [`${post.text} of ${author.handle}, created ${age(post.live)} and ${followed} before`]
    }),
  )
}
