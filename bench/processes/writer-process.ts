import { DomainError } from '../../src/errors.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { handleRequests } from '../child-process.ts'
import { openServices } from '../database.ts'
import { likePost, userAt } from '../engagement/feedline.ts'
import { newKey } from '../idempotency.ts'
import { runClosedLoop } from '../load.ts'

/**
 * A write: a like of one post, or of one of many; a follow of one account; a post of one author.
 */
export type WriteKind = 'like' | 'likes of 100 posts' | 'follow' | 'post'

/** The load of one process. */
export interface WriteRequest {
  readonly kind: WriteKind
  /** The author of the post, the account to follow, or the author who posts. */
  readonly user: string
  /** The posts to like. */
  readonly posts: readonly string[]
  /** The number of the first account that writes. Each write uses the next account. */
  readonly firstAccount: number
  readonly clients: number
  readonly ms: number
}

/** The result of one process. */
export interface WriteResult {
  readonly acknowledged: number
  readonly unavailable: number
  readonly perSecond: number
  readonly p99Ms: number
  /** Commands sent to the database per acknowledged write. */
  readonly commandsPerWrite: number
  /** Processor time over wall time: the number of busy cores. */
  readonly cores: number
}

// A process with its own services. BENCH_URI and BENCH_DATABASE name the database.
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

const sendWrite = async (
  { kind, user, posts, firstAccount }: WriteRequest,
  at: number,
): Promise<boolean> => {
  const actor = userAt(firstAccount + at)
  const owner = user as UserId
  if (kind === 'follow') {
    return (await services.follows.follow(actor, owner, newKey(actor, 'followUser'))).changed
  }
  if (kind === 'post') {
    const key = newKey(owner, 'createPost')
    return (await services.posts.create(owner, { text: 'hello' }, key)) !== undefined
  }
  const post = posts[Math.floor(Math.random() * posts.length)]
  return (await likePost(services, actor, { id: post as PostId, author: owner })).changed
}

/**
 * How long the clients write before the measurement, in milliseconds. Connections open, code is
 * compiled, and the key becomes hot.
 */
const warmUpMs = 1_500

handleRequests(
  async (request: WriteRequest): Promise<WriteResult> => {
    let [acknowledged, unavailable, sent] = [0, 0, 0]
    const call = async () => {
      try {
        if (await sendWrite(request, sent++)) acknowledged++
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'UNAVAILABLE') throw error
        unavailable++
      }
    }
    await runClosedLoop(request.clients, warmUpMs, call)
    const before = { acknowledged, commands, cpu: process.cpuUsage(), since: performance.now() }
    const { p99Ms } = await runClosedLoop(request.clients, request.ms, call)
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
