import { setTimeout as sleep } from 'node:timers/promises'
import { postText } from '../feeds/bulk-data.ts'
import type { Server } from '../feeds/http.ts'
import { runOpenLoop } from '../load.ts'
import type { FeedlineSide } from './feedline-side.ts'
import type { Visit } from './measure.ts'
import { pickAt } from './plan.ts'

/** Shares of a core. */
interface Share {
  readonly server: number
  readonly database: number
}

/** What a process that serves no request costs more with its log than without. */
export interface LogCost {
  readonly idle: Share
  /** While another process posts at {@link postsPerSecond}. */
  readonly posts: Share
}

const postsPerSecond = 240
const seed = 8
/** A process that has just started still does what it does once. */
const settleMs = 3_000

/**
 * Measures a server at rest with and without a log, and again while this process creates posts.
 * Every second round begins without.
 * @param ms how long each of the four windows lasts.
 */
export async function measureLogCost(
  side: FeedlineSide,
  { audience, round }: Visit,
  ms: number,
): Promise<LogCost> {
  const post = (at: number) =>
    side.createPost(pickAt(audience.composers, at, seed + round), postText(at))
  const measureShare = async (server: Server, work: () => Promise<unknown>): Promise<Share> => {
    const readUs = async () => [await server.readCpuTimeUs(), await side.readDatabaseCpuUs()]
    const before = await readUs()
    await work()
    const [own = 0, database = 0] = (await readUs()).map((us, at) => us - (before[at] ?? 0))
    return { server: own / 1_000 / ms, database: database / 1_000 / ms }
  }
  const measureServer = async (env?: Readonly<Record<string, string>>): Promise<LogCost> => {
    await using server = await side.start([], env)
    await sleep(Math.min(ms, settleMs))
    const idle = await measureShare(server, () => sleep(ms))
    const posts = await measureShare(server, () => runOpenLoop(postsPerSecond, ms, post))
    return { idle, posts }
  }
  const measureWithout = () => measureServer({ PAGE_CACHE_MB: '0' })
  const first = round % 2 === 0 ? await measureWithout() : undefined
  const whole = await measureServer()
  const without = first ?? (await measureWithout())
  const subtract = (part: keyof LogCost): Share => ({
    server: whole[part].server - without[part].server,
    database: whole[part].database - without[part].database,
  })
  return { idle: subtract('idle'), posts: subtract('posts') }
}
