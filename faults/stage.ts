import type { Journal } from './journal.ts'
import type { World } from './operations.ts'

/** What all clients share. */
export interface Stage {
  readonly world: World
  readonly journal: Journal
  readonly urls: readonly string[]
  readonly seed: number
}
