import type { Tx } from '../db/transaction.ts'
import type { Log } from '../log.ts'
import { jobLagSeconds, jobRunSeconds, jobRuns } from '../metrics/jobs.ts'
import { runInJob } from '../request-scope.ts'
import { endSpan, runInSpan, startSpan } from '../tracing/spans.ts'
import { Lease, type Run } from './lease.ts'
import { type Job, type JobQueue, LeaseLost } from './queue.ts'

/** A task has to wait: its job is due again after this time. */
export interface Pause {
  /** In milliseconds. Below 0, the job is due at once, before jobs that have waited for a shorter time. */
  readonly continuesInMs: number
  /** Whether the task has inserted jobs that are due now. Default: false. */
  readonly insertedJobs?: boolean
}

/**
 * Runs one kind of job. It may be interrupted anywhere and run again from its last checkpoint; the repeat must change
 * nothing. A task that returns after its signal aborted counts as not done. A long task returns `unfinished` at times,
 * after a save: the job is due again after the jobs that are due already, so that long jobs take turns. A task that has
 * to wait returns a pause, and holds no slot until then.
 */
export interface Task {
  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks have nothing to say
  (payload: Job['payload'], run: Run): Promise<void | 'unfinished' | Pause>
  /** Number of jobs of this kind that share one slot of a worker. Default: 1. */
  readonly batchSize?: number
  /**
   * Does the work of some jobs in the transaction that would insert them, if it can. A job that it leaves out, or that is
   * not done afterwards, runs as always. Jobs without a lease are for workers: it leaves them out, or does all of them.
   * @returns for each job, in order: what is left to do after the commit. Undefined for a job that it leaves out.
   */
  readonly begin?: (tx: Tx, jobs: readonly Job[]) => Promise<readonly (BegunJob | undefined)[]>
}

/** A job whose work was done in the transaction that inserted it. */
export interface BegunJob {
  /** Does what has to follow the commit and precede the answer of the mutation. */
  finish(): Promise<void>
  /**
   * Whether the job has nothing left to do. Called after {@link finish}, together with other jobs. Undefined: the
   * transaction did all of it, so the job is not stored.
   */
  readonly isDone?: () => Promise<boolean>
  /**
   * Called for a job that is not stored if {@link finish} fails, or if it is not known whether the transaction was
   * committed.
   */
  readonly abandon?: () => void
}

/** A task for each kind of job. */
export type Tasks = Readonly<Record<string, Task>>

type Outcome = 'done' | 'unfinished' | Pause | { readonly error: unknown }

/** How a try ended, as `feedline_job_runs_total` names it. A job that is `left` is due when its lease ends. */
type Settled = 'done' | 'unfinished' | 'paused' | 'retried' | 'parked' | 'handed_back'

/** Runs leased jobs: those that a worker claimed, and those that run inline. */
export class JobRunner {
  private readonly leases = new Set<Lease>()

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Tasks,
    private readonly log: Log,
  ) {}

  /**
   * Runs a job once and completes, releases or fails it. Never throws: if that fails too, the job is due when its lease
   * runs out.
   * @returns whether a job is due at once: this one, because it is unfinished, or others that its task inserted.
   */
  async run(job: Job, inline = false): Promise<boolean> {
    const kind = this.kindOf(job)
    const span = this.startSpan(job, inline)
    return runInJob(() => runInSpan(span && { span }, () => this.runAs(kind, job, inline, span)))
  }

  /** Completes a job that was begun in its transaction, or runs it if something is left to do. Never throws. */
  async settleBegun(job: Job, begun: BegunJob): Promise<void> {
    await runInJob(() => this.completeBegun(job, begun))
  }

  private async completeBegun(job: Job, begun: BegunJob): Promise<void> {
    const kind = this.kindOf(job)
    const span = this.startSpan(job, true)
    let outcome = 'left'
    try {
      if (!(await runInSpan(span && { span }, async () => begun.isDone?.() ?? true))) {
        outcome = (await this.runAs(kind, job, true, undefined)) ? 'unfinished' : 'run'
        return
      }
      await this.queue.complete(job)
      outcome = 'done'
      this.countDone(job)
    } catch (error) {
      this.logLeft(job, true, error)
      jobRuns.inc({ kind, outcome })
    } finally {
      span?.setAttribute('feedline.job.outcome', outcome)
      endSpan(span)
    }
  }

  /** Counts a job that was begun in its transaction, and is done. No command. */
  countDone(job: Job): void {
    const kind = this.kindOf(job)
    jobRuns.inc({ kind, outcome: 'done' })
    jobLagSeconds.observe({ kind }, this.queue.ageMs(job) / 1000)
  }

  private kindOf({ kind }: Job): string {
    return Object.hasOwn(this.tasks, kind) ? kind : 'other'
  }

  private startSpan(job: Job, inline: boolean) {
    const kind = this.kindOf(job)
    return startSpan(`job ${kind}`, {
      kind: 'CONSUMER',
      attributes: {
        ...attributesOf(job),
        'feedline.job.kind': kind,
        'feedline.job.inline': inline,
      },
      parent: job.traceparent,
    })
  }

  private logLeft(job: Job, inline: boolean, error: unknown): void {
    const fields = { ...fieldsOf(job), err: error }
    // The transaction of a repeated mutation does not commit, so its job never existed.
    if (inline && error instanceof LeaseLost)
      this.log.debug(fields, 'job does not exist, or runs in another process')
    else this.log.warn(fields, 'job left until its lease ends')
  }

  private async runAs(kind: string, job: Job, inline: boolean, span: JobSpan): Promise<boolean> {
    const lease = new Lease(this.queue, job, inline)
    this.leases.add(lease)
    const endTimer = jobRunSeconds.startTimer({ kind })
    let outcome = 'left'
    try {
      const result = await this.outcomeOf(lease)
      outcome = await this.settle(lease, result)
      if (outcome === 'done') jobLagSeconds.observe({ kind }, this.queue.ageMs(job) / 1000)
      return outcome === 'unfinished' || hasInsertedJobs(result)
    } catch (error) {
      this.logLeft(job, inline, error)
      return false
    } finally {
      endTimer()
      jobRuns.inc({ kind, outcome })
      span?.setAttribute('feedline.job.outcome', outcome)
      endSpan(span, outcome === 'retried' || outcome === 'parked' ? outcome : undefined)
      lease.end()
      this.leases.delete(lease)
    }
  }

  /** Aborts all running tasks and hands their jobs back. */
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

  private async settle(lease: Lease, outcome: Outcome): Promise<Settled> {
    const { job } = lease
    if (lease.signal.aborted) {
      await this.queue.release(job)
      this.log.info(fieldsOf(job), 'job handed back')
      return 'handed_back'
    }
    if (outcome === 'unfinished') {
      await this.queue.release(job)
      return 'unfinished'
    }
    if (outcome === 'done') {
      await this.queue.complete(job)
      return 'done'
    }
    if ('continuesInMs' in outcome) {
      await this.queue.release(job, outcome.continuesInMs)
      return outcome.continuesInMs < 0 ? 'unfinished' : 'paused'
    }
    this.log.error({ ...fieldsOf(job), err: outcome.error }, 'job failed')
    if (!(await this.queue.fail(job, outcome.error))) return 'retried'
    this.log.error(fieldsOf(job), 'job parked')
    return 'parked'
  }
}

const hasInsertedJobs = (outcome: Outcome): boolean =>
  typeof outcome === 'object' && 'insertedJobs' in outcome && outcome.insertedJobs === true

type JobSpan = ReturnType<typeof startSpan>

const attributesOf = ({ id, attempts }: Job) => ({
  'feedline.job.id': id,
  'feedline.job.attempts': attempts,
})

const fieldsOf = ({ id, kind, attempts }: Job) => ({ job: id, kind, attempts })
