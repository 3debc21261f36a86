import type { Run } from '../../src/jobs/lease.ts'
import { isSplit } from '../../src/jobs/ranges.ts'
import type { TimeId } from '../../src/lib/ids.ts'

const job: Run['job'] = { id: '0'.repeat(24) as TimeId, about: '' }

/**
 * The run of a task without a job. Refuses to be split: its ranges would find no job, and do
 * nothing.
 * @param given `save` receives the checkpoints of the task. Default: they are not kept.
 */
export function joblessRun({ save, ...given }: Partial<Omit<Run, 'job'>> = {}): Run {
  const { signal } = new AbortController()
  return {
    ...{ job, checkpoint: undefined, inline: false, signal, ...given },
    save: async (checkpoint, tx) => {
      if (isSplit(checkpoint)) throw new Error('a run without a job was split')
      await save?.(checkpoint, tx)
    },
  }
}
