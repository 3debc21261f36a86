import type { Run } from '../../jobs/lease.ts'
import type { Task } from '../../jobs/runner.ts'
import type { Placement } from '../registry/placement.ts'

/**
 * Tasks that wait while the timelines cluster, or a part of it, cannot be used. Such a try does not count, so no job is
 * parked for it. If the cluster answers, and is only too slow for them, tries count after 10 minutes. A task saves its progress, and
 * ends, only while the cluster is in the state that the database names. Otherwise its entries may be lost, and it runs
 * again. Entries that were lost before the database named the state are built again.
 */
export const pausedTasks = <Kind extends string>(
  tasks: Readonly<Record<Kind, Task>>,
  placement: Placement,
): Readonly<Record<Kind, Task>> =>
  Object.fromEntries(
    Object.entries<Task>(tasks).map(([kind, task]) => [
      kind,
      // The other properties of a task stay.
      Object.assign(pausedTask(task, placement), task),
    ]),
  ) as Record<Kind, Task>

const pausedTask =
  (task: Task, placement: Placement): Task =>
  (payload, run) =>
    runPaused(run, placement, (checked) => task(payload, checked))

/** Runs a part of a task that writes timelines, as {@link pausedTasks} run tasks. */
export async function runPaused(
  run: Run,
  placement: Placement,
  work: (run: Run) => ReturnType<Task>,
): ReturnType<Task> {
  const before = placement.state
  try {
    const outcome = await work(placement.isSeparate ? checkedRun(run, placement) : run)
    placement.checkState()
    return outcome
  } catch (error) {
    if (run.signal.aborted || !(await placement.isOutage(error, before))) throw error
    const continuesInMs = placement.pauseAfter(error)
    if (continuesInMs === undefined) throw error
    return { continuesInMs }
  }
}

/** A run that saves no progress if the state of the cluster has changed. */
const checkedRun = (run: Run, placement: Placement): Run => ({
  get checkpoint() {
    return run.checkpoint
  },
  job: run.job,
  inline: run.inline,
  signal: run.signal,
  async save(checkpoint, tx) {
    placement.checkState()
    await run.save(checkpoint, tx)
  },
})
