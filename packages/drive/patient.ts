import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type ApiRequest, type Ask, isAnswered } from './client.ts'

/**
 * The codes of answers after which a request may be sent again: nothing of it was taken, or it can
 * be repeated.
 */
const passing: ReadonlySet<string> = new Set([
  // The deleted account of an earlier run may still be being removed.
  'CONFLICT',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'CONNECTION',
  'TIMEOUT',
  'HTTP_502',
  'HTTP_503',
  'HTTP_504',
])

/** How long a request is repeated, and the pause if the answer names none. */
const [patienceMs, pauseMs] = [90_000, 500]

/** A request got no answer with data. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'

  constructor(
    readonly request: ApiRequest,
    readonly code: string,
    message: string | undefined,
  ) {
    super(`${request.document} got ${code}${message === undefined ? '' : `: ${message}`}`)
  }

  /** Whether the deployment did not take the request, however often it was sent. */
  get isOutage(): boolean {
    return passing.has(this.code)
  }
}

/**
 * Sends requests outside of the load: before it, and for the verification. It repeats a request
 * that was refused for the moment after the time of Retry-After, for 90 seconds at most, and says
 * so the first time. Mutations need to be repeatable.
 */
export class PatientClient {
  private readonly said = new Set<string>()

  /** @param processes how many processes answer in turn. */
  constructor(
    private readonly ask: Ask,
    private readonly processes: number,
    private readonly log: (line: string) => void,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Returns the answer, with data or `NOT_MODIFIED`.
   * @throws {RequestFailure} for any other answer; the reason of the signal.
   */
  async request<Data>(request: ApiRequest): Promise<Answer<Data>> {
    const untilMs = performance.now() + patienceMs
    for (let tries = 1; ; tries++) {
      this.signal.throwIfAborted()
      const answer = await this.ask<Data>(request)
      if (isAnswered(answer)) return answer
      const waitMs = (answer.retryAfterSeconds ?? 0) * 1000 || pauseMs
      if (!passing.has(answer.code) || performance.now() + waitMs > untilMs) {
        throw new RequestFailure(request, answer.code, answer.message)
      }
      this.say(answer, waitMs)
      // Another process may answer.
      if (answer.code === 'CONNECTION' && tries % this.processes > 0) continue
      await sleep(waitMs, undefined, { signal: this.signal }).catch(() => {})
    }
  }

  /** The data of an answer, as {@link request}. */
  async read<Data>(request: ApiRequest): Promise<Data> {
    const { data } = await this.request<Data>(request)
    if (data === undefined) throw new RequestFailure(request, 'NOT_MODIFIED', undefined)
    return data
  }

  private say({ code, message }: Answer<unknown>, waitMs: number): void {
    if (this.said.has(code)) return
    this.said.add(code)
    const reason = message === undefined ? '' : ` (${message})`
    this.log(`The deployment answered ${code}${reason}. Trying again in ${waitMs / 1000} s.`)
  }
}

/** How many requests outside of the load are open at once. */
const width = 8

/** Runs `work` for each item, a few at once. The first failure ends it. */
export async function forEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]()
  let isFailed = false
  const lane = async () => {
    for (let next = left.next(); !next.done && !isFailed; next = left.next()) {
      try {
        await work(next.value)
      } catch (error) {
        isFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
}
