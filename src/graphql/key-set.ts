import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { DomainError } from '../errors.ts'
import type { Log } from '../log.ts'
import { countKeyFetch } from '../metrics/sign-in.ts'
import { fetchKeys, fetchMsMax, KeysProblem } from './fetch-keys.ts'
import { parseKeys } from './published-keys.ts'

/** The least time between two fetches that tokens cause, in milliseconds. */
const causedMs = 30_000

/**
 * How long keys stay in use while no others can be fetched, in milliseconds: an outage of a
 * provider takes less.
 */
const keptMsMax = 86_400_000

/** The most requests that wait for a fetch. Their bodies are unread. */
const waitingMax = 100

/** The least pause between two fetches, in milliseconds. It doubles with each failure. */
const pauseMsMin = 1_000

/** The most lines about the keys of one answer. */
const problemLinesMax = 5

/** How often the log says that the keys still cannot be fetched, in milliseconds. */
const repeatMs = 60_000

/** Where published keys come from. */
export interface KeySource {
  /** The name of the issuer or variable, for the log. */
  readonly name: string
  readonly url: string
  /**
   * The time after which a key that is published no longer is refused, in milliseconds. More than
   * {@link fetchMsMax}.
   */
  readonly ageMsMax: number
}

/** The published keys of one answer. */
export class FetchedKeys {
  readonly find: JWTVerifyGetKey

  constructor(
    private readonly set: KeySet,
    readonly text: string,
    keys: JSONWebKeySet,
  ) {
    this.find = createLocalJWKSet(keys)
  }

  /** Whether no other keys have replaced them, so that what they have verified counts. */
  get isCurrent(): boolean {
    return this.set.current === this
  }
}

/**
 * The published keys of one source, in memory. At most one fetch is under way, which all wait for.
 * Whatever tokens are sent, the keys are fetched by schedule and once in 30 s. Only a right answer
 * replaces keys.
 */
export class KeySet {
  private keys: FetchedKeys | undefined
  /**
   * When the fetch that brought or confirmed the keys began. All times are of the monotonic clock.
   */
  private confirmedAt = 0
  private fetching: Promise<void> | undefined
  private causedAt: number | undefined
  private failures = 0
  private problem: string | undefined
  private loggedAt = 0
  /** What the log has about the keys of the last answer. */
  private loggedProblems = ''
  private waiting = 0
  private timer: NodeJS.Timeout | undefined
  private readonly ended = new AbortController()

  constructor(
    private readonly source: KeySource,
    private readonly log?: Log,
  ) {}

  /**
   * The keys that verify tokens now. Undefined before the first right answer, and a day after the
   * last one.
   */
  get current(): FetchedKeys | undefined {
    return performance.now() - this.confirmedAt < keptMsMax ? this.keys : undefined
  }

  /** Whether the last fetch failed, so that keys may be missing. */
  get isFailing(): boolean {
    return this.problem !== undefined
  }

  /** Fetches the keys now, and again by schedule until {@link stop}. */
  start(): void {
    void this.fetch()
  }

  stop(): void {
    this.ended.abort()
    clearTimeout(this.timer)
  }

  /**
   * The keys. Waits for a fetch if there are none. @throws {DomainError} UNAVAILABLE if it fails.
   */
  async load(): Promise<FetchedKeys> {
    if (!this.current) await this.waitForFetch()
    if (this.current) return this.current
    throw this.unavailable()
  }

  /**
   * The keys that replace those that did not verify a token. Waits for a fetch that is under way or
   * due.
   * @returns undefined if there are no others.
   * @throws {DomainError} UNAVAILABLE if too many requests wait.
   */
  async renew(used: FetchedKeys): Promise<FetchedKeys | undefined> {
    if (used.isCurrent) await this.waitForFetch()
    return used.isCurrent ? undefined : this.current
  }

  unavailable(): DomainError {
    return new DomainError('UNAVAILABLE', 'The keys that verify tokens are unreachable', {
      isLogged: true,
    })
  }

  private async waitForFetch(): Promise<void> {
    if (!this.fetching && !this.mayCauseFetch()) return
    if (this.waiting >= waitingMax) throw this.unavailable()
    this.waiting++
    await this.fetch().finally(() => this.waiting--)
  }

  private mayCauseFetch(): boolean {
    const now = performance.now()
    if (this.causedAt !== undefined && now - this.causedAt < causedMs) return false
    this.causedAt = now
    return true
  }

  /** Joins the fetch that is under way, or begins one. */
  private fetch(): Promise<void> {
    this.fetching ??= this.fetchNow().finally(() => {
      this.fetching = undefined
    })
    return this.fetching
  }

  private async fetchNow(): Promise<void> {
    const begunAt = performance.now()
    const { signal } = this.ended
    clearTimeout(this.timer)
    try {
      this.replace(await fetchKeys(this.source.url, signal))
      this.confirmedAt = begunAt
      this.noteSuccess()
    } catch (error) {
      if (signal.aborted) return
      this.noteFailure(error instanceof KeysProblem ? error.message : `failed: ${error}`)
    }
    // A key that is withdrawn right after this fetch has begun is refused when the next one has
    // ended.
    const untilNextMs = begunAt + this.source.ageMsMax - fetchMsMax - performance.now()
    const retryMs = this.failures === 0 ? untilNextMs : pauseMsMin * 2 ** this.failures
    const pauseMs = Math.max(pauseMsMin, Math.min(untilNextMs, retryMs))
    if (!signal.aborted) this.timer = setTimeout(() => void this.fetch(), pauseMs).unref()
  }

  /** Keeps the present keys if the answer is the same, and with them what they have verified. */
  private replace(text: string): void {
    if (text === this.current?.text) return
    const { usable, problems } = parseKeys(text)
    this.keys = new FetchedKeys(this, text, usable)
    this.logProblems(problems)
    if (usable.keys.length === 0)
      this.log?.warn({ keys: this.source.name }, 'no published key can verify tokens')
  }

  /** Logs what is wrong with keys, unless the log has it already. */
  private logProblems(problems: readonly string[]): void {
    const shownProblems = problems.slice(0, problemLinesMax)
    const text = shownProblems.join('\n')
    if (text === this.loggedProblems) return
    this.loggedProblems = text
    const { name: keys } = this.source
    for (const problem of shownProblems)
      this.log?.warn({ keys, problem }, 'published key is not used')
  }

  private noteSuccess(): void {
    countKeyFetch('fetched')
    if (this.isFailing)
      this.log?.info({ keys: this.source.name }, 'published keys are fetched again')
    this.failures = 0
    this.problem = undefined
  }

  private noteFailure(problem: string): void {
    countKeyFetch('failed')
    this.failures++
    const isNew = problem !== this.problem
    this.problem = problem
    const now = performance.now()
    if (!isNew && now - this.loggedAt < repeatMs) return
    this.loggedAt = now
    const line = { keys: this.source.name, problem: `its URL ${problem}` }
    if (this.current)
      this.log?.warn(line, 'published keys cannot be fetched; the last ones stay in use')
    else this.log?.error(line, 'published keys cannot be fetched; their tokens are refused')
  }
}
