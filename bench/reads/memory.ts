import { sendFor, type Visit } from './measure.ts'
import { mixAt } from './rows.ts'

/**
 * The resident memory of a process in megabytes: when it has answered nothing, and after the mix.
 */
export interface ServerMemory {
  readonly atRestMb: number
  readonly afterMixMb: number
}

/** Requests of the mix before they repeat. */
const [mixLength, shortestMix] = [12_000, 60]
const seed = 7

/**
 * Measures a process that has just started: at rest, and after a mix by all readers.
 * @param ms how long the mix lasts. 0: without it.
 */
export async function measureMemory(visit: Visit, ms: number): Promise<ServerMemory> {
  const { side, audience } = visit
  await using server = await side.start(audience.readers)
  const readMb = async () => (await server.readRss()) / 2 ** 20
  const atRestMb = await readMb()
  if (ms === 0) return { atRestMb, afterMixMb: Number.NaN }
  const length = visit.sizeOf(mixLength, shortestMix)
  const requests = Array.from({ length }, (_, at) => mixAt(seed)(visit, at))
  await sendFor(ms, { ...visit, side: { ...side, servers: [server] } }, requests)
  return { atRestMb, afterMixMb: await readMb() }
}
