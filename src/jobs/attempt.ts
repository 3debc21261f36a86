import type { Log } from '../log.ts'
import { Lease, type Run } from './lease.ts'
import { type Job, type JobQueue, LeaseLost } from './queue.ts'

/**
 * What is done about one kind of job. It may be cut off anywhere and run again from its last
 * checkpoint, and must change nothing then. Once its signal has aborted it counts as not done,
 * also when it returns. A long one returns `unfinished` now and then, after a save: the job is due
 * again at once, behind what is due already, so that long jobs take turns.
 */
export interface Task {
  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks have nothing to say
  (payload: Job['payload'], run: Run): Promise<void | 'unfinished'>
  /** How many small jobs of this kind take one slot of a worker together. Default: 1. */
  readonly together?: number
}

/** A task for each kind of job. */
export type Tasks = Readonly<Record<string, Task>>

type Outcome = 'done' | 'unfinished' | { readonly error: unknown }

/** Tries leased jobs: a worker's, and those that were leased to whoever promised them. */
export class Attempts {
  private readonly leases = new Set<Lease>()

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Tasks,
    private readonly log: Log,
  ) {}

  /**
   * Tries a job once and settles it. Never throws: the unsettled is due when its lease ends.
   * @returns whether it was handed back to go on at once.
   */
  async run(job: Job, inline = false): Promise<boolean> {
    const lease = new Lease(this.queue, job, inline)
    this.leases.add(lease)
    try {
      return await this.settle(lease, await this.outcomeOf(lease))
    } catch (error) {
      const fields = { ...fieldsOf(job), err: error }
      // What a repeated mutation promised inline was never there.
      if (inline && error instanceof LeaseLost)
        this.log.debug(fields, 'job does not exist, or runs in another process')
      else this.log.warn(fields, 'job left until its lease ends')
      return false
    } finally {
      lease.end()
      this.leases.delete(lease)
    }
  }

  /** Tells all tasks that run to stop; their jobs are handed back. */
  abort(reason: Error): void {
    for (const lease of this.leases) lease.abort(reason)
  }

  private async outcomeOf(lease: Lease): Promise<Outcome> {
    const { kind, payload, attempts } = lease.job
    try {
      const task = Object.hasOwn(this.tasks, kind) ? this.tasks[kind] : undefined
      if (!task) throw new Error(`no task for jobs of kind "${kind}"`)
      if (attempts > this.queue.attemptsMax) throw new Error('no attempt of the job finished')
      return (await Promise.race([task(payload, lease), lease.abandoned()])) ?? 'done'
    } catch (error) {
      return { error }
    }
  }

  private async settle(lease: Lease, outcome: Outcome): Promise<boolean> {
    const { job } = lease
    if (lease.signal.aborted) {
      await this.queue.release(job)
      this.log.info(fieldsOf(job), 'job handed back')
    } else if (outcome === 'unfinished') {
      await this.queue.release(job)
      return true
    } else if (outcome === 'done') {
      await this.queue.complete(job)
    } else {
      this.log.error({ ...fieldsOf(job), err: outcome.error }, 'job failed')
      if (await this.queue.fail(job, outcome.error)) this.log.error(fieldsOf(job), 'job parked')
    }
    return false
  }
}

const fieldsOf = ({ id, kind, attempts }: Job) => ({ job: id, kind, attempts })
