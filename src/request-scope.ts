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
  /** The code of the first error of the answer. */
  code: ErrorCode | undefined
  /** Number of commands that the request sent to MongoDB. A command that requests share counts for the first one. */
  commands: number
}

/** The request that the running code belongs to. Undefined outside requests, for example in a worker. */
export const requestScope = new AsyncLocalStorage<RequestScope>()
