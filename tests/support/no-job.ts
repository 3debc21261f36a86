import type { Run } from '../../src/jobs/lease.ts'
import type { TimeId } from '../../src/lib/ids.ts'

/** The job of a task that a test runs without one. It cannot be split. */
export const noJob: Run['job'] = { id: '0'.repeat(24) as TimeId, about: '' }
