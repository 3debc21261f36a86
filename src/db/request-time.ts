import { DomainError } from '../errors.ts'
import { currentTime, runInTime, type TimeLimit } from '../request-scope.ts'

/**
 * The error of work for a request that has ended. The request itself is answered or its client is
 * gone.
 */
export class RequestEnded extends DomainError {
  constructor(message: string) {
    super('UNAVAILABLE', message)
  }
}

/**
 * The time in which a request may send commands. It ends at the deadline, when the request is
 * answered, or when the client closes its connection. Commands under way then end by their own time
 * limits: aborting them would close their connections to MongoDB.
 */
export class RequestTime implements TimeLimit {
  private readonly endsAt: number
  private ended: Error | undefined

  /** @param ms the time until the deadline, in milliseconds. */
  constructor(ms: number) {
    this.endsAt = performance.now() + ms
  }

  /** From now on, no command of the request is sent. Has no effect on a time that has ended. */
  end(reason: Error): void {
    this.ended ??= reason
  }

  get hasEnded(): boolean {
    return this.ended !== undefined
  }

  /**
   * The time until the deadline, in milliseconds, at least 1.
   * @throws {RequestEnded} if the request has ended.
   */
  remainingMs(): number {
    const ms = Math.ceil(this.endsAt - performance.now())
    if (ms <= 0) this.end(new RequestEnded('The request took too long. Try again later.'))
    if (this.ended) throw this.ended
    return ms
  }
}

/** Ends the time of the current request, if there is one. */
export const endRequest = (reason: RequestEnded): void => currentTime()?.end(reason)

/** Whether the current request has ended, so that the failures of its commands concern no one. */
export const hasRequestEnded = (): boolean => currentTime()?.hasEnded ?? false

/**
 * Runs work that ends even if its request does not wait: a mutation, and writes that other requests
 * share.
 * @throws {RequestEnded} before `work` begins, if the request has ended.
 */
export function runToEnd<T>(work: () => T): T {
  currentTime()?.remainingMs()
  return runInTime(undefined, work)
}

/**
 * How much longer than the request a command may take, so that the deadline and not the command
 * ends the request.
 */
const graceMs = 100

/**
 * The time that the next command of the current request may take, in milliseconds.
 * @param max the most time of any command.
 * @throws {RequestEnded} if the request has ended.
 */
export const commandMs = (max: number): number =>
  Math.min(max, (currentTime()?.remainingMs() ?? max) + graceMs)
