import { type FeedStrategyName, feedStrategyNames } from '../../src/feed/strategies/list.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'
import { drive, type Load } from '../drive.ts'

const pageSize = 50
const tenth = 9 * pageSize
const clients = 8

/** One of the two pages that are read: the first, and the tenth. */
export const pageNumbers = [1, 10] as const
export type PageNumber = (typeof pageNumbers)[number]

/** The loads of one round, by the page. */
export type PageLoads = Readonly<Record<string, Load>>

/** A reader, and the posts of the first ten pages of their timeline as fan-out on read has them. */
export interface Reader {
  readonly handle: UserId
  readonly timeline: readonly PostId[]
}

/** Those of `handles` whose timeline has more than ten pages. */
export async function readersAmong(
  database: BenchDatabase,
  handles: readonly UserId[],
  count: number,
): Promise<Reader[]> {
  const readers: Reader[] = []
  for (const handle of handles) {
    if (readers.length >= count) break
    const timeline: PostId[] = []
    while (timeline.length < tenth + 2 * pageSize) {
      const page = await pageOf(database, handle, 'FANOUT_ON_READ', timeline.at(-1))
      timeline.push(...page)
      if (page.length < pageSize) break
    }
    if (timeline.length >= tenth + 2 * pageSize) readers.push({ handle, timeline })
  }
  return readers
}

/** A page's posts, as the service gives them. */
export const pageOf = async (
  { services }: Pick<BenchDatabase, 'services'>,
  reader: UserId,
  strategy: FeedStrategyName,
  after: PostId | undefined,
): Promise<PostId[]> => {
  const window = { limit: pageSize, after, backward: false }
  const page = await services.feed.timeline(reader, { window, strategy, projection: 'text' })
  if (after === undefined && page.servedBy !== strategy) throw new Error(`not by ${strategy}`)
  await page.hasNextPage()
  return page.items.map(({ id }) => id)
}

const beginOf = (number: PageNumber) => (number === 1 ? 0 : tenth)
const afterOf = ({ timeline }: Reader, number: PageNumber) => timeline[beginOf(number) - 1]
export const nameOf = (strategy: string, number: PageNumber) => `${strategy} page ${number}`

/** Pages read through the service, by eight clients, each of them compared with fan-out on read before. */
export async function measureService(
  database: BenchDatabase,
  readers: readonly Reader[],
  ms: number,
): Promise<PageLoads> {
  const loads: Record<string, Load> = {}
  for (const strategy of feedStrategyNames) {
    for (const number of pageNumbers) {
      const read = (reader: Reader) =>
        pageOf(database, reader.handle, strategy, afterOf(reader, number))
      for (const reader of readers) {
        const begin = beginOf(number)
        const wanted = reader.timeline.slice(begin, begin + pageSize)
        check(nameOf(strategy, number), await read(reader), wanted)
      }
      loads[nameOf(strategy, number)] = await drive(clients, ms, (_, at) =>
        read(readers[at % readers.length] as Reader),
      )
    }
  }
  return loads
}

/** @throws when two lists of posts differ. */
export function check(name: string, found: readonly string[], wanted: readonly string[]): void {
  const same = found.length === wanted.length && found.every((id, at) => id === wanted[at])
  if (!same) throw new Error(`${name}: ${found.length} posts, not the ${wanted.length} there are`)
}
