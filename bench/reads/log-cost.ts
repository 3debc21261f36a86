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

/** What a process that serves no request costs: its own share of a core, and what mongod needs more. */
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
 * Measures mongod without and with a server at rest, and again while this process creates posts. Every second round
 * begins with the server.
 * @param ms how long each of the four windows lasts.
 */
export async function measureLogCost(
  side: FeedlineSide,
  { audience, round }: Visit,
  ms: number,
): Promise<LogCost> {
  const post = (at: number) =>
    side.createPost(pickAt(audience.composers, at, seed + round), postText(at))
  const measureShare = async (server: Server | undefined, work: () => Promise<unknown>) => {
    const readUs = async () => [
      (await server?.readCpuTimeUs()) ?? 0,
      await side.readDatabaseCpuUs(),
    ]
    const before = await readUs()
    await work()
    const [own = 0, database = 0] = (await readUs()).map((us, at) => us - (before[at] ?? 0))
    return { server: own / 1_000 / ms, database: database / 1_000 / ms }
  }
  const measureBoth = async (server?: Server) => {
    await sleep(Math.min(ms, settleMs))
    const idle = await measureShare(server, () => sleep(ms))
    const posts = await measureShare(server, () => runOpenLoop(postsPerSecond, ms, post))
    return { idle, posts }
  }
  const measureWith = async () => {
    await using server = await side.start([])
    // The server must not end before.
    return await measureBoth(server)
  }
  const first = round % 2 === 0 ? await measureBoth() : undefined
  const whole = await measureWith()
  const without = first ?? (await measureBoth())
  const subtract = (part: keyof LogCost): Share => ({
    server: whole[part].server,
    database: whole[part].database - without[part].database,
  })
  return { idle: subtract('idle'), posts: subtract('posts') }
}
