import { isTimeExpired, isUnreachable } from '../../../src/db/errors.ts'
import { patient } from '../../support/patience.ts'

/**
 * Repeats a write that waits for a killed process. Its transaction keeps locks for up to 7.5 s, and
 * a command times out after 3 s.
 */
export async function onceUnlocked(write: () => Promise<unknown>): Promise<void> {
  const giveUpAt = performance.now() + patient(15_000)
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      const isLocked = isUnreachable(error) || isTimeExpired(error)
      if (!isLocked || performance.now() > giveUpAt) throw error
    }
  }
}
