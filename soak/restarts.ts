import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBenchDatabase } from '../bench/database.ts'
import type { Cleanup } from '../faults/cleanup.ts'
import { signToken } from '../tests/attacks/attack.ts'
import { type Backend, ReadyServers } from '../tests/support/ready-servers.ts'
import { startServer } from './server.ts'

/** The number of clients, and the time between two requests of a client, in milliseconds. */
const [clients, pauseMs] = [8, 20]
/** How long a client tries to send a request, in milliseconds. Then the request is lost. */
const tryMsMax = 30_000
/** How many answers a new server gives before the next one restarts. */
const answersMin = 20

/** The result of a run. */
export interface RestartReport {
  readonly restarts: number
  /** Requests, each counted once, however often it was repeated. */
  readonly sent: number
  /** Requests without data in the end, and requests that failed without an answer. */
  readonly lost: number
  /**
   * Answers with status 503, after which the client waited as Retry-After says and repeated the
   * request.
   */
  readonly repeated: number
  /** The longest time from the first try of a request to its data, in milliseconds. */
  readonly longest_request_ms: number
  /** The longest time in which no client got an answer, in milliseconds. */
  readonly longest_pause_ms: number
  readonly problems: readonly string[]
}

/**
 * Replaces one of two servers by a new one, `restarts` times, while clients send requests to those
 * that are ready.
 */
export async function runRestarts(
  restarts: number,
  cleanup: Cleanup,
  log: (line: string) => void,
): Promise<RestartReport> {
  const database = await openBenchDatabase(log)
  cleanup.add(async () => database[Symbol.asyncDispose]())
  const servers = new ReadyServers()
  const problems: string[] = []
  const start = async () => {
    const server = await startServer(
      {
        MONGODB_URI: database.uri,
        MONGODB_DATABASE: database.db.databaseName,
        RATE_LIMIT_COST: '0',
        RATE_LIMIT_MUTATIONS: '0',
        DRAIN_SECONDS: '1',
      },
      cleanup,
    )
    const backend = servers.add(server.url)
    const stop = async () => {
      const code = await server.stop()
      servers.remove(backend)
      if (code !== 0) problems.push(`a server exited with ${code}`)
    }
    return { backend, stop }
  }
  const running = [await start(), await start()]
  const probing = servers.probe()
  cleanup.add(() => servers.stop())
  await waitFor(() => servers.areReady)
  const load = new Clients(servers)
  await load.send('mutation { createUser(input: { name: "Ann" }) { user { handle } } }')
  load.start()
  for (let restart = 1; restart <= restarts; restart++) {
    const old = running.shift()
    const [next] = await Promise.all([start(), old?.stop()])
    running.push(next)
    await waitFor(() => next.backend.answered >= answersMin)
    log(`restart ${restart} of ${restarts}: ${load.describe()}`)
  }
  await load.stop()
  servers.stop()
  await probing
  for (const { stop } of running) await stop()
  return { restarts, ...load.report(), problems: [...problems, ...load.problems] }
}

async function waitFor(isDone: () => boolean): Promise<void> {
  const endMs = performance.now() + 60_000
  while (!isDone()) {
    if (performance.now() > endMs) throw new Error('the servers do not become ready')
    await sleep(50)
  }
}

const headers = {
  'content-type': 'application/json',
  authorization: `Bearer ${signToken({ sub: 'ann', exp: 4_000_000_000 })}`,
}

/** The requests of a client, in turn. */
const documents = [
  '{ user(handle: "ann") { name postCount } }',
  'mutation ($id: String!) { createPost(input: { text: "x", clientMutationId: $id }) { post { id } } }',
  '{ timeline(first: 5) { edges { node { text } } } }',
]

/** Clients that send requests to ready servers, and repeat a request as Retry-After says. */
class Clients {
  readonly problems: string[] = []
  private sent = 0
  private lost = 0
  private repeated = 0
  private longestRequestMs = 0
  private longestPauseMs = 0
  private lastAnswerMs = performance.now()
  private isStopping = false
  private running: readonly Promise<void>[] = []

  constructor(private readonly servers: ReadyServers) {}

  start(): void {
    this.running = Array.from({ length: clients }, async (_, client) => {
      for (let at = client; !this.isStopping; at++) {
        await this.send(documents[at % documents.length] ?? '')
        await sleep(pauseMs)
      }
    })
  }

  async stop(): Promise<void> {
    this.isStopping = true
    await Promise.all(this.running)
  }

  /** Sends a request until it is answered with data, or lost. */
  async send(query: string): Promise<void> {
    this.sent++
    const body = JSON.stringify({ query, variables: { id: randomUUID() } })
    const beginMs = performance.now()
    let problem = 'no server was ready'
    while (performance.now() - beginMs < tryMsMax) {
      const server = this.servers.pick()
      const tried = server ? await trySend(server, body) : { waitMs: 50 }
      if ('waitMs' in tried) {
        if (server) this.repeated++
        await sleep(tried.waitMs)
      } else if (tried.problem) {
        problem = tried.problem
        break
      } else {
        return this.recordAnswer(beginMs)
      }
    }
    this.lost++
    if (this.problems.length < 10) this.problems.push(problem)
  }

  private recordAnswer(beginMs: number): void {
    const now = performance.now()
    this.longestRequestMs = Math.max(this.longestRequestMs, now - beginMs)
    this.longestPauseMs = Math.max(this.longestPauseMs, now - this.lastAnswerMs)
    this.lastAnswerMs = now
  }

  describe(): string {
    return `${this.sent} requests, ${this.lost} lost, ${this.repeated} repeated`
  }

  report() {
    return {
      sent: this.sent,
      lost: this.lost,
      repeated: this.repeated,
      longest_request_ms: Math.round(this.longestRequestMs),
      longest_pause_ms: Math.round(this.longestPauseMs),
    }
  }
}

/**
 * @returns the time after which to try again, in milliseconds, or the problem of the answer if it
 *   has one.
 */
async function trySend(
  server: Backend,
  body: string,
): Promise<{ readonly waitMs: number } | { readonly problem?: string }> {
  try {
    const answer = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })
    const { errors } = (await answer.json()) as { errors?: unknown }
    const retryAfter = answer.headers.get('retry-after')
    if (answer.status === 503 && retryAfter) return { waitMs: Number(retryAfter) * 1_000 }
    if (!answer.ok || errors) return { problem: `${answer.status} ${JSON.stringify(errors)}` }
    server.answered++
    return {}
  } catch (error) {
    return { problem: `${error} ${(error as Error).cause}` }
  }
}
