import { DomainError } from '../errors.ts'
import type { Log } from '../log.ts'
import { causeOfRefusal, type ProblemKind, TokenProblem } from './token-problems.ts'

/** The most lines about refusals of one kind in {@link windowMs}. */
const linesMax = 5
const windowMs = 60_000

/** What was refused for one reason since a time. */
interface Window {
  readonly begunAt: number
  refusals: number
}

/**
 * Logs why requests are refused with UNAUTHENTICATED: of each kind, the first five in a minute. The
 * first line after that says how many were left out. No line has more of a token than names.
 */
export class RefusalLog {
  private readonly windows = new Map<ProblemKind, Window>()

  constructor(private readonly log: Log) {}

  note(error: unknown, requestId: string): void {
    if (!(error instanceof DomainError) || error.code !== 'UNAUTHENTICATED') return
    const { cause } = error
    const suppressed = this.count(cause instanceof TokenProblem ? cause.kind : 'other')
    if (suppressed === undefined) return
    const problem = causeOfRefusal(error)
    this.log.info({ requestId, problem, ...(suppressed > 0 && { suppressed }) }, 'sign-in refused')
  }

  /**
   * @returns how many lines have been left out since the last one. Undefined if this one is left
   *   out too.
   */
  private count(kind: ProblemKind): number | undefined {
    const now = performance.now()
    const window = this.windows.get(kind)
    if (window && now - window.begunAt < windowMs) {
      window.refusals++
      return window.refusals > linesMax ? undefined : 0
    }
    this.windows.set(kind, { begunAt: now, refusals: 1 })
    return window ? Math.max(0, window.refusals - linesMax) : 0
  }
}
