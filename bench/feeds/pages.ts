import type { PostId, UserId } from '../../src/lib/ids.ts'
import { type FeedStrategyName, feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import type { BenchDatabase } from '../database.ts'
import { type LoadResult, runClosedLoop } from '../load.ts'

const pageSize = 50
const tenthPageStart = 9 * pageSize
const clients = 8

/** The pages that are measured: the first and the tenth. */
export const pageNumbers = [1, 10] as const
export type PageNumber = (typeof pageNumbers)[number]

/** The results of one round, by strategy and page. */
export type PageResults = Readonly<Record<string, LoadResult>>

/** A reader, with the posts of the first ten pages and more, as fan-out on read shows them. */
export interface Reader {
  readonly handle: UserId
  readonly timeline: readonly PostId[]
}

/** Selects up to `count` of `handles` whose timelines have more than ten pages. */
export async function selectReaders(
  database: BenchDatabase,
  handles: readonly UserId[],
  count: number,
): Promise<Reader[]> {
  const readers: Reader[] = []
  for (const handle of handles) {
    if (readers.length >= count) break
    const timeline: PostId[] = []
    while (timeline.length < tenthPageStart + 2 * pageSize) {
      const page = await readPage(database, handle, 'FANOUT_ON_READ', timeline.at(-1))
      timeline.push(...page)
      if (page.length < pageSize) break
    }
    if (timeline.length >= tenthPageStart + 2 * pageSize) readers.push({ handle, timeline })
  }
  return readers
}

/** Reads a page through the service. @throws if another strategy served the first page. */
export const readPage = async (
  { services }: Pick<BenchDatabase, 'services'>,
  reader: UserId,
  strategy: FeedStrategyName,
  after: PostId | undefined,
): Promise<PostId[]> => {
  const window = { limit: pageSize, after, backward: false }
  const page = await services.feed.timeline(reader, { window, strategy, projection: 'text' })
  if (after === undefined && page.servedBy !== strategy)
    throw new Error(`${page.servedBy} served the page instead of ${strategy}`)
  await page.hasNextPage()
  return page.items.map(({ post }) => post.id)
}

const startOf = (number: PageNumber) => (number === 1 ? 0 : tenthPageStart)
const afterOf = ({ timeline }: Reader, number: PageNumber) => timeline[startOf(number) - 1]
export const loadName = (strategy: string, number: PageNumber) => `${strategy} page ${number}`

/**
 * Measures pages through the service with eight clients. Each page is compared with fan-out on read
 * before.
 */
export async function measureServicePages(
  database: BenchDatabase,
  readers: readonly Reader[],
  ms: number,
): Promise<PageResults> {
  const loads: Record<string, LoadResult> = {}
  for (const strategy of feedStrategyNames) {
    for (const number of pageNumbers) {
      const read = (reader: Reader) =>
        readPage(database, reader.handle, strategy, afterOf(reader, number))
      for (const reader of readers) {
        const begin = startOf(number)
        const expected = reader.timeline.slice(begin, begin + pageSize)
        verifyPosts(loadName(strategy, number), await read(reader), expected)
      }
      loads[loadName(strategy, number)] = await runClosedLoop(clients, ms, (_, at) =>
        read(readers[at % readers.length] as Reader),
      )
    }
  }
  return loads
}

/** @throws if two lists of posts differ. */
export function verifyPosts(
  name: string,
  actual: readonly string[],
  expected: readonly string[],
): void {
  const same = actual.length === expected.length && actual.every((id, at) => id === expected[at])
  if (!same)
    throw new Error(
      `${name}: the ${actual.length} posts of the page are not the expected ${expected.length}`,
    )
}
