import type { Mechanisms } from '../../db/mechanisms.ts'
import type { NeedsJobs } from '../../jobs/outbox.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import type { Registry } from './registry.ts'

/** What {@link createNeedsJobs} asks. */
interface NeedsJobsParts {
  readonly registry: Pick<Registry, 'load'>
  readonly memory: ProcessMemory
  readonly mechanisms: Pick<Mechanisms, 'isOn'>
}

/**
 * Whether posts need jobs, by the registrations in memory: if a strategy is registered, also while it is dropped. All posts
 * have jobs while nothing is kept, on a sharded cluster, and while a process of an earlier release may begin a back-fill at
 * once. No command, but a tick of the log, which requests share.
 */
export const createNeedsJobs =
  ({ registry, memory, mechanisms }: NeedsJobsParts): NeedsJobs =>
  async () =>
    !(await mechanisms.isOn('postsWithoutJobs')) ||
    !(await memory.isCurrent()) ||
    (await registry.load(true)).size > 0
