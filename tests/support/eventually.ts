import { vi } from 'vitest'
import { DomainError } from '../../src/errors.ts'
import { patient } from './patience.ts'

/**
 * Calls `check` until it does not throw, and returns its result. Throws its last error if that
 * never happens.
 */
export const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: patient(60_000), interval: 20 })

/**
 * Writes as a client does: again while the answer is UNAVAILABLE. On a busy machine, a write may
 * wait longer than a server lets it. @throws every other error.
 */
export async function persist<Result>(write: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + patient(60_000)
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const isRefused = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!isRefused || performance.now() > giveUpAt) throw error
    }
  }
}
