import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCodes } from '../errors.ts'
import { refusalOf, retryAfterSeconds } from './error-body.ts'

/** How many requests are served at once, and how many wait. */
export interface AdmissionBounds {
  /** Number of requests that are executed at once. */
  readonly runningMax: number
  /** Number of requests that wait for their turn. */
  readonly waitingMax: number
  /** How long a request waits, in milliseconds. */
  readonly waitMsMax: number
}

/** A queue of bounded length and time, first come, first served. */
export class RequestQueue {
  private running = 0
  private readonly waiting = new Set<() => void>()

  constructor(private readonly bounds: AdmissionBounds) {}

  /** Whether a new request would be refused now. */
  get isFull(): boolean {
    const { runningMax, waitingMax } = this.bounds
    return this.running >= runningMax && this.waiting.size >= waitingMax
  }

  /**
   * Waits for the turn of a request.
   * @param signal ends the wait.
   * @returns a function to call once at the end of the request. Undefined if the request must be refused.
   */
  async enter(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (this.isFull || signal.aborted) return undefined
    if (this.running >= this.bounds.runningMax) {
      if (!(await this.waitForTurn(signal))) return undefined
    } else {
      this.running++
    }
    return () => this.leave()
  }

  private waitForTurn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isTurn: boolean) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        this.waiting.delete(begin)
        resolve(isTurn)
      }
      const begin = () => settle(true)
      const giveUp = () => settle(false)
      const timer = setTimeout(giveUp, this.bounds.waitMsMax)
      signal.addEventListener('abort', giveUp)
      this.waiting.add(begin)
    })
  }

  /** The turn goes to the request that has waited longest. */
  private leave(): void {
    const [next] = this.waiting
    if (next) next()
    else this.running--
  }
}

/**
 * Bounds the requests to /graphql that are served at once and that wait. Refuses others with UNAVAILABLE, status 503
 * and Retry-After, before their body is read if the queue is full when they arrive. A request whose client leaves gives
 * up its place.
 */
export function limitRequests(http: FastifyInstance, bounds: AdmissionBounds): void {
  const queue = new RequestQueue(bounds)
  const ends = new WeakMap<FastifyRequest, () => void>()
  const refuse = (request: FastifyRequest, reply: FastifyReply) =>
    reply
      .code(errorCodes.UNAVAILABLE.status)
      .header('retry-after', retryAfterSeconds)
      .send(refusalOf(request, 'UNAVAILABLE', 'The server is too busy. Try again later.'))
  http.addHook('onRequest', async (request, reply) => {
    if (isGraphql(request) && queue.isFull) await refuse(request, reply)
  })
  http.addHook('preHandler', async (request, reply) => {
    if (!isGraphql(request)) return
    const left = new AbortController()
    reply.raw.once('close', () => {
      left.abort()
      ends.get(request)?.()
      ends.delete(request)
    })
    const leave = await queue.enter(left.signal)
    if (!leave) {
      await refuse(request, reply)
    } else if (left.signal.aborted) {
      leave()
    } else {
      ends.set(request, leave)
    }
  })
}

/** By its route, because a URL has many spellings, such as `/%67raphql`. */
const isGraphql = ({ routeOptions }: FastifyRequest) => routeOptions.url === '/graphql'
