import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { type JobList, type JobState, type ListedJob, listJobs } from '../jobs/inspect.ts'
import type { JobQueue } from '../jobs/queue.ts'
import { parseTimeId, type TimeId } from '../lib/ids.ts'
import { openForCommand } from './database.ts'
import { alignColumns } from './table.ts'

/** The most jobs that the command prints. */
const shownMax = 1_000
/** The most characters of an error or a checkpoint in the table. */
const charactersMax = 200

interface ListOptions {
  readonly parked?: true
  readonly kind?: string
  readonly json?: true
}

/** `feedline jobs`: lists jobs, and retries or drops parked jobs. */
export const jobsCommand = (): Command =>
  new Command('jobs')
    .description('Show all waiting, running and parked jobs, the earliest due first.')
    .option('--parked', 'show only parked jobs, which are not retried')
    .option('--kind <kind>', 'show only jobs of this kind, e.g. user.deleted')
    .option('--json', 'print one JSON object: jobs, counts')
    .addHelpText('after', help)
    .action(async ({ parked, kind, json }: ListOptions) => {
      await using database = await openForCommand(configFor('database'), false)
      const { outbox } = database.services.collections
      const list = await listJobs(outbox, { parked: parked === true, kind }, shownMax)
      console.log(json ? JSON.stringify(list) : table(list))
    })
    .addCommand(
      parkedCommand('retry', 'Make a parked job due now. It resumes from its checkpoint.', {
        one: (queue, id) => queue.retry(id),
        all: (queue) => queue.retryAll(),
        done: 'due again',
      }),
    )
    .addCommand(
      parkedCommand('drop', 'Delete a parked job. Its work stays undone.', {
        one: (queue, id) => queue.drop(id),
        all: (queue) => queue.dropAll(),
        done: 'deleted',
      }),
    )

const help = `
A failed job is retried with growing delays. After ten attempts without progress it is parked.

Examples:
  $ feedline jobs --parked
  $ feedline jobs retry 65f0c0de0000000000000001
  $ feedline jobs drop --all`

/** An action on parked jobs. */
interface JobAction {
  readonly one: (queue: JobQueue, id: TimeId) => Promise<boolean>
  readonly all: (queue: JobQueue) => Promise<number>
  /** The state of the jobs after the action, for the output. */
  readonly done: string
}

const parkedCommand = (name: string, description: string, action: JobAction): Command =>
  new Command(name)
    .description(description)
    .argument('[id]', 'id of the job, as shown by "feedline jobs --parked"')
    .option('--all', 'apply to every parked job')
    .action(async (text: string | undefined, { all }: { readonly all?: true }) => {
      if ((text === undefined) === (all === undefined)) {
        throw new Error('Pass the id of a parked job, or --all.')
      }
      await using database = await openForCommand(configFor('database'), false)
      const { queue } = database.services
      const count =
        text === undefined ? await action.all(queue) : await oneOf(queue, text, action.one)
      console.log(`${count} ${count === 1 ? 'job is' : 'jobs are'} ${action.done}.`)
    })

async function oneOf(queue: JobQueue, text: string, action: JobAction['one']): Promise<1> {
  const id = parseTimeId<TimeId>(text)
  if (id === undefined) throw new Error(`"${text}" is not a job id. A job id has 24 hex digits.`)
  if (!(await action(queue, id))) throw new Error(`No parked job has the id ${id}.`)
  return 1
}

function table({ jobs, counts }: JobList): string {
  const lines = alignColumns(jobs.map((job) => [...cellsOf(job), notesOf(job)]))
  const sum = `${counts.WAITING} waiting, ${counts.RUNNING} running, ${counts.PARKED} parked.`
  const all = counts.WAITING + counts.RUNNING + counts.PARKED
  return [...lines, all > jobs.length ? `${sum} The first ${jobs.length} are shown.` : sum].join(
    '\n',
  )
}

const since: Readonly<Record<JobState, string>> = {
  WAITING: 'due',
  RUNNING: 'leased until',
  PARKED: 'since',
}

const cellsOf = ({ id, kind, queue, state, attempts, at }: ListedJob): readonly string[] => [
  id,
  kind,
  queue,
  state,
  `${attempts} ${attempts === 1 ? 'try' : 'tries'}`,
  `${since[state]} ${at.toISOString()}`,
]

/** The checkpoint and the error of a job, at the end of its line. */
function notesOf({ checkpoint, error }: ListedJob): string {
  const notes = [
    checkpoint === undefined ? '' : `at ${JSON.stringify(checkpoint)}`,
    error ? error.replace(/\s+/g, ' ') : '',
  ]
  return notes
    .filter((note) => note !== '')
    .map((note) => (note.length > charactersMax ? `${note.slice(0, charactersMax)}…` : note))
    .join('  ')
}
