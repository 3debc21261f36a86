import { DomainError } from '../../src/errors.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { answer } from '../children.ts'
import { openServices } from '../database.ts'
import { drive } from '../drive.ts'
import { userAt } from '../engagement/ours.ts'

/** The writes that meet on one key: likes of a post, follows of an account, posts of an author. */
export type Way = 'like' | 'follow' | 'post'

/** What one process writes for a while. */
export interface Order {
  readonly way: Way
  /** The author of the post, the account to follow, or the author who posts. */
  readonly user: string
  /** The post to like. */
  readonly post: string
  /** The number of the first account that acts. */
  readonly first: number
  readonly clients: number
  readonly ms: number
}

/** What the clients of one process were answered. */
export interface Answered {
  readonly acknowledged: number
  readonly unavailable: number
  readonly perSecond: number
  readonly p99Ms: number
  /** Sent to the database for one acknowledged write. */
  readonly commandsPerWrite: number
  /** How many processor cores the process kept busy. */
  readonly cores: number
}

// A process with services of its own over the database: `child.ts`, with BENCH_URI and BENCH_DATABASE.
const { BENCH_URI = '', BENCH_DATABASE = '' } = process.env
const { client, services } = await openServices(
  BENCH_URI,
  BENCH_DATABASE,
  {},
  { monitorCommands: true },
)
let commands = 0
client.on('commandStarted', () => commands++)
await client.db('admin').command({ ping: 1 })

const write = async ({ way, user, post, first }: Order, at: number): Promise<boolean> => {
  const actor = userAt(first + at)
  const owner = user as UserId
  if (way === 'follow') return (await services.follows.follow(actor, owner)).changed
  if (way === 'post') return (await services.posts.create(owner, { text: 'hello' })).id.length > 0
  const ref = { id: post as PostId, author: owner }
  return (await services.engagements.add('likes', actor, ref)).changed
}

/** Before a load is measured, its clients write for so long: connections open, code is compiled, the key gets hot. */
const rampMs = 1_500

answer(
  async (order: Order): Promise<Answered> => {
    let [acknowledged, unavailable, sent] = [0, 0, 0]
    const call = async () => {
      try {
        if (await write(order, sent++)) acknowledged++
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'UNAVAILABLE') throw error
        unavailable++
      }
    }
    await drive(order.clients, rampMs, call)
    const before = { acknowledged, commands, cpu: process.cpuUsage(), since: performance.now() }
    const { p99Ms } = await drive(order.clients, order.ms, call)
    const ms = performance.now() - before.since
    const { user, system } = process.cpuUsage(before.cpu)
    const written = acknowledged - before.acknowledged
    return {
      acknowledged,
      unavailable,
      perSecond: (written / ms) * 1000,
      p99Ms,
      commandsPerWrite: (commands - before.commands) / written,
      cores: (user + system) / 1000 / ms,
    }
  },
  () => client.close(),
)
