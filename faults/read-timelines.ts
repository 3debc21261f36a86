import { decodeOpaque } from '../src/lib/opaque.ts'
import { type FeedStrategyName, feedStrategyNames } from '../src/timeline/strategies/list.ts'
import { type Data, sendRequest } from './graphql.ts'
import type { User } from './model.ts'
import type { Random } from './random.ts'
import type { Register } from './register.ts'
import type { Simulation } from './simulation.ts'

export const timelineDocument = `query($strategy: FeedStrategy, $first: Int, $after: String, $last: Int, $before: String) {
  timeline(strategy: $strategy, first: $first, after: $after, last: $last, before: $before) {
    servedBy pending
    edges { node { id text } }
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`
const timeoutMs = 30_000

/**
 * A page, with the part of the timeline that it must show: the ids between the bounds, without the
 * bounds.
 */
interface PageRead {
  readonly fromMs: number
  readonly toMs: number
  readonly strategy: FeedStrategyName
  readonly page: Data
  readonly above: string
  readonly below: string
}

/** The part of a post's global id, or of a cursor, by which timelines are ordered. */
export function orderKeyOf(opaque: string): string {
  const { tag, parts } = decodeOpaque(opaque) ?? { tag: '', parts: [] }
  return (tag === 'Post' ? parts[1] : parts[0]) ?? ''
}

/**
 * Reads up to three pages of a user's timeline under one strategy, and compares each page with the
 * model.
 */
export async function readTimeline(
  simulation: Simulation,
  reader: User,
  random: Random,
): Promise<void> {
  const strategy = random.pick(feedStrategyNames) ?? 'FANOUT_ON_READ'
  const size = Math.floor(random.between(3, 30))
  const first = await readPage(simulation, reader, strategy, { first: size })
  if (!first?.pageInfo.endCursor || random.next() < 0.5) return
  const second = await readPage(simulation, reader, strategy, {
    first: size,
    after: first.pageInfo.endCursor,
  })
  if (!second?.pageInfo.endCursor) return
  await readPage(simulation, reader, strategy, { last: size, before: second.pageInfo.endCursor })
}

interface Window {
  readonly first?: number
  readonly after?: string
  readonly last?: number
  readonly before?: string
}

async function readPage(
  simulation: Simulation,
  reader: User,
  strategy: FeedStrategyName,
  window: Window,
): Promise<Data | undefined> {
  const { journal, urls } = simulation
  const startMs = performance.now()
  const url = urls[Math.floor(startMs) % urls.length] ?? ''
  const request = {
    document: timelineDocument,
    variables: { strategy, ...window },
    viewer: reader.handle,
  }
  const answer = await sendRequest(url, request, timeoutMs)
  const toMs = performance.now()
  journal.recordRequest(startMs, toMs, answer)
  if (answer.code === 'INTERNAL_SERVER_ERROR') {
    journal.recordViolation(
      'internalErrors',
      toMs,
      `timeline of ${reader.handle}: ${answer.message}`,
    )
  }
  const page = answer.data?.timeline
  if (!page) return undefined
  journal.timelines++
  const bounds = findBounds(page, window)
  checkPage(simulation, reader, {
    ...bounds,
    page,
    strategy,
    toMs,
    fromMs: journal.oldestStateMs(startMs),
  })
  return page
}

const [lowest, highest] = ['', 'g']

function findBounds({ pageInfo, edges }: Data, { after, last, before }: Window) {
  const keyAt = (at: number) => orderKeyOf(edges.at(at)?.node?.id ?? '')
  const above = pageInfo.hasNextPage && last === undefined ? keyAt(-1) : lowest
  const below = after === undefined ? highest : orderKeyOf(after)
  if (last === undefined) return { above, below }
  const newest = pageInfo.hasPreviousPage ? keyAt(0) : highest
  return { above: before === undefined ? lowest : orderKeyOf(before), below: newest }
}

/**
 * Compares a page with law L1. Reports a post only if the model is certain during the whole read.
 */
function checkPage(simulation: Simulation, reader: User, pageRead: PageRead): void {
  const { world, journal } = simulation
  const { page, fromMs, toMs, strategy } = pageRead
  if (reader.live.certainValue(fromMs, toMs) !== true) return
  const subject = `${strategy} by ${page.servedBy} of ${reader.handle}`
  const reportWrong = (detail: string) =>
    journal.recordViolation('wrongTimelines', toMs, `${subject}: ${detail}`)
  const shown: string[] = page.edges.flatMap(({ node }: Data) =>
    node ? [orderKeyOf(node.id)] : [],
  )
  if (shown.some((id, at) => at > 0 && id >= (shown[at - 1] ?? ''))) {
    reportWrong(`wrong order or duplicates: ${shown.join(' ')}`)
  }
  for (const { node } of page.edges) {
    const post = node && world.model.posts.get(node.text)
    const author = post && world.model.users.get(post.author)
    if (!author) continue
    const isWrong =
      world.model.isLive(post, fromMs, toMs) === false ||
      world.model.isAuthorVisible(reader, author, fromMs, toMs) === false
    if (isWrong) reportWrong(`has ${post.text} of ${post.author}, which does not belong there`)
  }
  const missing = findMissingPosts(simulation, reader, pageRead, new Set(shown))
  if (missing.length === 0) return
  const detail = `lacks ${missing.slice(0, 10).join('; ')} (${missing.length} posts)`
  if (!page.pending)
    journal.recordViolation('falsePending', toMs, `${subject}: ${detail}, pending false`)
}

/** Finds the posts that the page must show and does not show. */
function findMissingPosts(
  { world: { model } }: Simulation,
  reader: User,
  { above, below, fromMs, toMs }: PageRead,
  shown: ReadonlySet<string>,
): string[] {
  const authors = [reader.handle, ...reader.follows.keys()].flatMap((handle) => {
    const author = model.users.get(handle)
    return author && model.isAuthorVisible(reader, author, fromMs, toMs) ? [author] : []
  })
  return authors.flatMap((author) =>
    [...author.posts.values()].flatMap((post) => {
      if (post.id === undefined) return []
      const id = orderKeyOf(post.id)
      const isExpected = id > above && id < below && !shown.has(id)
      if (!isExpected || !model.isLive(post, fromMs, toMs)) return []
      const age = (register: Register | undefined) =>
        Math.round(toMs - (register?.lastAcknowledgedMs ?? toMs))
      const followed = `followed ${age(reader.follows.get(author.handle))} ms`
      return [`${post.text} of ${author.handle}, created ${age(post.live)} and ${followed} before`]
    }),
  )
}
