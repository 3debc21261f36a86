import type { NeedsJobs } from '../../jobs/outbox.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import type { Registry } from './registry.ts'

/** What {@link createNeedsJobs} asks. */
interface NeedsJobsParts {
  readonly registry: Pick<Registry, 'load'>
  readonly memory: ProcessMemory
}

/**
 * Whether posts need jobs, by the registrations in memory: if a strategy is registered, also while
 * it is dropped. All posts have jobs where nothing is kept, as on a sharded cluster. No command,
 * but a tick of the log, which requests share.
 */
export const createNeedsJobs =
  ({ registry, memory }: NeedsJobsParts): NeedsJobs =>
  async () =>
    !(await memory.isCurrent()) || (await registry.load(true)).size > 0
