import { AsyncLocalStorage } from 'node:async_hooks'
import type { ErrorCode } from './errors.ts'
import type { UserId } from './lib/ids.ts'

/** What is known about the current request, for its log line, its metrics and its errors. */
export interface RequestScope {
  readonly id: string
  readonly startedMs: number
  /** The name of the operation, from a bounded set. Undefined until the document is valid. */
  operation: string | undefined
  viewer: UserId | undefined
  /** The subject of the server that acts for the viewer. */
  actor: string | undefined
  /** The code of the first error of the answer. */
  code: ErrorCode | undefined
  /**
   * Number of commands that the request sent to MongoDB. A command that requests share counts for
   * the first one.
   */
  commands: number
}

/** The time in which a request may send commands. */
export interface TimeLimit {
  readonly hasEnded: boolean
  /** The time that is left, in milliseconds. @throws {Error} if the request has ended. */
  remainingMs(): number
  /** Ends the time, for `reason`. */
  end(reason: Error): void
}

/** One storage holds both, because each storage of Node 20 adds to the cost of every promise. */
interface RequestContext {
  readonly scope?: RequestScope | undefined
  time?: TimeLimit | undefined
  readonly isJob?: true
}

const contexts = new AsyncLocalStorage<RequestContext>()

/**
 * The request that the running code belongs to. Undefined outside requests, for example in a
 * worker.
 */
export const currentScope = (): RequestScope | undefined => contexts.getStore()?.scope

/** Runs `work` with all its continuations as part of a request. */
export const runInScope = <T>(scope: RequestScope, work: () => T): T =>
  contexts.run({ ...contexts.getStore(), scope }, work)

/** The time limit of the running code. Undefined if it has none. */
export const currentTime = (): TimeLimit | undefined => contexts.getStore()?.time

/** Runs `work` with all its continuations under a time limit, or under none. */
export const runInTime = <T>(time: TimeLimit | undefined, work: () => T): T =>
  contexts.run({ ...contexts.getStore(), time }, work)

/**
 * As {@link runInTime}, for the request that begins: its scope, if it has one, gets the time limit.
 */
export function beginInTime(time: TimeLimit, work: () => void): void {
  const context = contexts.getStore()
  if (!context) runInTime(time, work)
  else {
    context.time = time
    work()
  }
}

/** Runs `work` with all its continuations as part of no request. */
export const runOutside = (work: () => void): void => contexts.exit(work)

/**
 * Whether the running code is the task of a job, so that its reads must see what the transaction of
 * the job wrote.
 */
export const isInJob = (): boolean => contexts.getStore()?.isJob ?? false

/** Runs `work` with all its continuations as the task of a job. */
export const runInJob = <T>(work: () => T): T =>
  contexts.run({ ...contexts.getStore(), isJob: true }, work)
