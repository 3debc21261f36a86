import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../../packages/drive/random.ts'
import { fromObjectId } from '../../../src/db/object-id.ts'
import {
  type EdgeId,
  type PostId,
  type PostRef,
  timeIdAt,
  type UserId,
} from '../../../src/lib/ids.ts'
import { storeEdges } from '../../support/edges.ts'
import { patient } from '../../support/patience.ts'
import { compiledProgram } from '../../support/process.ts'
import { lawSeed } from '../../support/seed.ts'
import { handle, openAccounts, type ServicesHarness } from '../../support/services.ts'
import type { DeliveryOrders } from '../processes/delivery-child.ts'

const program = compiledProgram('delivery-child')
const { seed } = lawSeed()

/**
 * How often processes are killed by tests of this kind: `FEEDLINE_KILLS`, or the number of a normal
 * run.
 */
export const lawKills = (standard: number): number => Number(process.env.FEEDLINE_KILLS ?? standard)

/** The part of a harness that processes share. */
type Deployment = Pick<ServicesHarness, 'services' | 'database' | 'clock'>

/** What is published while processes are killed. */
interface KillPlan {
  /**
   * The number of followers of each author. The first author is delivered inline, the others by
   * workers.
   */
  readonly audiences: readonly number[]
  readonly kills: number
  /** The variables of the processes, which take them in turn. */
  readonly variables: readonly Readonly<Record<string, string>>[]
  /** The pause after each post, in milliseconds. */
  readonly pauseMs: number
}

/** The users of a plan. */
export interface Audience {
  readonly authors: readonly UserId[]
  readonly readers: readonly UserId[]
  /** The timelines that law L1 demands of all users, for these posts. */
  readonly expected: (posts: readonly PostRef[]) => ReadonlyMap<UserId, ReadonlySet<PostId>>
}

/** What processes have published before the last of them was killed. */
export interface Published {
  readonly posts: readonly PostRef[]
  readonly acknowledged: readonly PostRef[]
}

/** Opens all accounts of a plan, and inserts their edges without jobs, like an import. */
export async function openAudience(
  { services, clock }: Deployment,
  { audiences }: Pick<KillPlan, 'audiences'>,
): Promise<Audience> {
  const authors = audiences.map((_, n) => handle(`author${n}`))
  const readers = Array.from({ length: Math.max(...audiences) }, (_, n) =>
    handle(`reader${String(n).padStart(4, '0')}`),
  )
  const followersOf = (author: UserId) => readers.slice(0, audiences[authors.indexOf(author)])
  await openAccounts(services, [...authors, ...readers])
  for (const author of authors) {
    const at = clock.now()
    const edges = followersOf(author).map((follower, n) => ({
      id: timeIdAt<EdgeId>(at + n, '0'.repeat(12)),
      ...{ follower, followee: author, source: 'IMPORT' as const },
    }))
    await storeEdges(services, edges)
    await services.collections.user_stats.updateOne(
      { _id: author },
      { $set: { followers: edges.length } },
    )
  }
  const expected = (posts: readonly PostRef[]) => {
    const timelines = new Map<UserId, Set<PostId>>()
    for (const { id, author } of posts) {
      for (const reader of [author, ...followersOf(author)]) {
        timelines.set(reader, (timelines.get(reader) ?? new Set()).add(id))
      }
    }
    return timelines
  }
  return { authors, readers, expected }
}

/** Publishes posts by processes that are killed at random moments, until all of them are dead. */
export async function publishUnderKills(
  { services, database }: Deployment,
  { authors }: Audience,
  { kills, variables, pauseMs }: KillPlan,
): Promise<Published> {
  await using processes = new DeliveryProcesses()
  const { acknowledged } = processes
  const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
  const roles = [authors.slice(0, 2), authors.slice(2), [], []].map((some, n) => ({
    env: { ...env, ...variables[n % variables.length] },
    ...{ authors: some, leaseMs: 600, pauseMs },
  }))
  for (const role of roles) processes.start(role)
  for (let killed = 0; killed < kills; killed++) {
    // On a slow machine, every process could be killed before its second post.
    await processes.acknowledgedAnother()
    await sleep(20 + 200 * randomAt(seed, killed, 0))
    await processes.killOne(randomAt(seed, killed, 1), roles.length - 1)
  }
  await processes.allStarted()
  await processes.acknowledgedAnother()
  await processes[Symbol.asyncDispose]()
  const stored = await services.collections.posts.find({}, { projection: { author: 1 } }).toArray()
  const posts = stored.map(({ _id, author }) => ({
    id: fromObjectId<PostId>(_id),
    author: author as UserId,
  }))
  return { posts, acknowledged }
}

/**
 * Runs all jobs to their end. A job that was interrupted ten times in a row is parked: `feedline
 * jobs retry --all` retries it.
 * @returns the number of parked jobs.
 */
export async function restAfterKills({
  services,
  rest,
}: Pick<ServicesHarness, 'services' | 'rest'>): Promise<number> {
  // The first run parks the last of these jobs.
  await rest().catch(() => undefined)
  const parked = await services.queue.retryAll()
  await rest()
  return parked
}

/** Processes that run jobs and publish posts. A killed one is started again. */
class DeliveryProcesses implements AsyncDisposable {
  /** The posts that all processes have acknowledged so far. */
  readonly acknowledged: PostRef[] = []
  private readonly running = new Map<ChildProcess, DeliveryOrders>()
  private readonly starting = new Set<Promise<void>>()
  private seen = 0

  /** Starts a process, which is up some time later. */
  start(orders: DeliveryOrders): void {
    const started = this.spawn(orders)
    this.starting.add(started)
    void started.finally(() => this.starting.delete(started))
  }

  async allStarted(): Promise<void> {
    await Promise.all(this.starting)
  }

  /** Waits until an author's process has acknowledged another post since the last call. */
  async acknowledgedAnother(): Promise<void> {
    const giveUpAt = performance.now() + patient(60_000)
    while (this.acknowledged.length <= this.seen) {
      if (performance.now() > giveUpAt) throw new Error(`no post follows the first ${this.seen}`)
      await sleep(10)
    }
    this.seen = this.acknowledged.length
  }

  /**
   * Kills a process with SIGKILL and starts it again, once `upMin` are up. @param at selects it, 0
   * to 1.
   */
  async killOne(at: number, upMin: number): Promise<void> {
    while (this.running.size < upMin) await Promise.race(this.starting)
    const all = [...this.running]
    const [victim, orders] = all[Math.floor(all.length * at)] ?? []
    if (!victim || !orders) throw new Error('no process is up')
    await this.kill(victim)
    this.start(orders)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.starting)
    await Promise.all([...this.running.keys()].map((child) => this.kill(child)))
  }

  private async spawn(orders: DeliveryOrders): Promise<void> {
    const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })
    await once(lines, 'line')
    lines.on('line', (line) => this.acknowledged.push(JSON.parse(line)))
    this.running.set(child, orders)
  }

  /** The server ends the open transactions of the process some seconds later. */
  private async kill(child: ChildProcess): Promise<void> {
    this.running.delete(child)
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}
