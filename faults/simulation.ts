import type { Journal } from './journal.ts'
import type { World } from './operations.ts'

/** The state that all clients share. */
export interface Simulation {
  readonly world: World
  readonly journal: Journal
  readonly urls: readonly string[]
  readonly seed: number
}
