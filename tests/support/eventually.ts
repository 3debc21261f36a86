import { vi } from 'vitest'
import { patient } from './patience.ts'

/** Calls `check` until it does not throw, and returns its result. Throws its last error if that never happens. */
export const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: patient(60_000), interval: 20 })
