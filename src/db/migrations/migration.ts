import type { Db } from 'mongodb'
import type { FollowingMode } from '../../config.ts'

/** What a step works with. */
export interface StepParts {
  readonly db: Db
  readonly following: FollowingMode
  /** Aborts when the operator interrupts the migration, or another process has taken it over. */
  readonly signal: AbortSignal
}

/** One change of a migration. A step that was interrupted anywhere is finished by a repeat. */
export interface Step {
  /** One sentence for each change that is left to do, none if the step is done. Changes nothing. */
  plan(parts: StepParts): Promise<readonly string[]>
  /**
   * Does what is left to do. A repeat changes nothing, also while another process runs the same
   * step.
   */
  run(parts: StepParts): Promise<void>
}

/**
 * Takes a database from one schema version to the next. Processes of the previous release may still
 * run: after each step, MongoDB refuses those of their writes that would be lost. The migration
 * after removes what refuses them.
 */
export interface Migration {
  /** Says what changes, in words that follow "from schema version 1 to 2: ". */
  readonly name: string
  readonly steps: readonly Step[]
}
