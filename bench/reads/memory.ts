import type { Child } from '../child-process.ts'
import type { BenchDatabase } from '../database.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import type { ReadStrategy } from './data.ts'
import { feedlineRequests, startFeedline } from './feedline-sides.ts'
import { requestsUntilKept } from './loads.ts'

const connections = 16
/** After this number of pages, the code is compiled. */
const warmUpPages = 320
const readersMax = 512

/** The growth of a server's memory in megabytes: resident, and used by objects and buffers. */
export interface KeptMemory {
  readonly rssMb: number
  readonly usedMb: number
}

/**
 * Measures the memory that a new server keeps for many readers: its memory after four pages of each user, less that after
 * 320 pages of one user.
 */
export async function measureKeptMemory(
  load: Child,
  database: BenchDatabase,
  strategy: ReadStrategy,
  users: readonly string[],
  buildFolder: string,
): Promise<KeptMemory> {
  await using server = await startFeedline(database, strategy, buildFolder)
  const readPages = (readers: readonly string[], amount: number) =>
    load.sendRequest<HttpLoadResult>({
      ...{ port: server.port, connections, amount, ms: 0 },
      requests: readers.map((reader) => feedlineRequests.page(reader, 'immutable')),
    } satisfies LoadJob)
  await readPages(
    Array.from({ length: connections }, () => users[0] ?? ''),
    warmUpPages,
  )
  const before = await server.readMemory()
  const many = users.slice(0, readersMax)
  for (let times = 0; times < requestsUntilKept; times++) await readPages(many, many.length)
  const after = await server.readMemory()
  const megabytes = (bytes: number) => bytes / 2 ** 20
  return {
    rssMb: megabytes(after.rss - before.rss),
    usedMb: megabytes(after.used - before.used),
  }
}
