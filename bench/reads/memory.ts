import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import { connections } from './feedline-sides.ts'
import { createMix, type LoadContext, warmUp } from './loads.ts'
import type { Side } from './side.ts'

/** The memory of a server in megabytes. */
export interface ServerMemory {
  /** Resident, of a process that has answered nothing. */
  readonly rssAtRestMb: number
  /** Resident, after the mixed load. */
  readonly rssAfterMixMb: number
  /** By how much the resident memory grew during the mixed load, for 1,000 active readers. */
  readonly rssPer1000ReadersMb: number
  /** By how much the memory of objects and buffers grew, after a garbage collection, for 1,000 active readers. */
  readonly usedPer1000ReadersMb: number
}

const megabytes = (bytes: number) => bytes / 2 ** 20

/**
 * Measures the memory of a new server: at rest, after a warm-up by few readers, and after a mixed load of all readers.
 * @param mixMs how long the mixed load lasts, in milliseconds.
 */
export async function measureMemory(
  side: Side,
  context: LoadContext,
  mixMs: number,
): Promise<ServerMemory> {
  const { load, audience } = context
  const all = [...audience.readers, ...audience.visitors]
  const server = await side.startNew?.(audience.visitors)
  if (!server) throw new Error(`${side.name} starts no other server`)
  await using _ = server
  const atRest = await server.readRss()
  const fresh: Side = { ...side, server }
  const few = { ...audience, readers: audience.readers.slice(0, connections), visitors: [] }
  await warmUp(fresh, { ...context, audience: few })
  const before = await server.readMemory()
  // A few rounds of all readers, in shuffled order, each with posts.
  const requests = createMix(fresh, audience, 1)
  const { count } = await load.sendRequest<HttpLoadResult>({
    ...{ port: server.port, requests, connections, ms: mixMs },
  } satisfies LoadJob)
  await side.waitUntilIdle()
  const rss = await server.readRss()
  const after = await server.readMemory()
  const asked = new Set(
    requests.slice(0, count).map(({ headers }) => String(headers?.authorization)),
  )
  const thousands = Math.min(asked.size, all.length) / 1_000
  return {
    rssAtRestMb: megabytes(atRest),
    rssAfterMixMb: megabytes(rss),
    rssPer1000ReadersMb: megabytes(rss - before.rss) / thousands,
    usedPer1000ReadersMb: megabytes(after.used - before.used) / thousands,
  }
}
