import { Argument, Command } from 'commander'
import type { StrategyDoc } from '../db/collections.ts'
import { configFor } from '../environment.ts'
import { type MaterialisedName, materialisedNames } from '../timeline/strategies/list.ts'
import { log, openForCommand } from './database.ts'
import { interruption } from './failure.ts'
import { alignColumns } from './table.ts'

/** `feedline timelines`: shows the maintained strategies and their progress, and changes them. */
export const timelinesCommand = (): Command =>
  new Command('timelines')
    .description(
      'Show the strategies that the database maintains, and the progress of their back-fills.',
    )
    .option('--json', 'print one JSON object: strategies')
    .action(async ({ json }: { json?: true }) => {
      await using database = await openForCommand(configFor('database'), false)
      const registered = await database.services.registry.read()
      const strategies = materialisedNames
        .flatMap((name) => registered.get(name) ?? [])
        .map((registration) => summaryOf(registration, database.clock.now()))
      if (json) console.log(JSON.stringify({ strategies }))
      else
        console.log(
          strategies.length === 0 ? nothing : alignColumns(strategies.map(cellsOf)).join('\n'),
        )
    })
    .addCommand(
      new Command('drop')
        .description('Stop maintaining a strategy, and delete its stored timelines.')
        .addArgument(strategyArgument())
        .action(async (name: MaterialisedName) => {
          await using database = await openForCommand(configFor('database'), true)
          using interrupt = interruption()
          const { services } = database
          log('Pages now come from FANOUT_ON_READ. Deleting the stored timelines.')
          const dropped = await services.registrations.drop(name, interrupt.signal)
          if (!dropped) throw new Error(`${name} is not maintained in this database`)
          console.log(`${name} is dropped.`)
        }),
    )
    .addCommand(
      new Command('rebuild')
        .description('Back-fill a strategy again. Until then, pages come from FANOUT_ON_READ.')
        .addArgument(strategyArgument())
        .action(async (name: MaterialisedName) => {
          await using database = await openForCommand(configFor('database'), true)
          if (!(await database.services.registrations.rebuild(name))) {
            throw new Error(`${name} is not maintained in this database`)
          }
          console.log(
            `A job that back-fills ${name} is queued. "feedline serve" or "feedline worker" runs it.`,
          )
        }),
    )

const nothing = 'No strategy is maintained. FANOUT_ON_READ assembles every timeline on read.'

const strategyArgument = () =>
  new Argument('<strategy>', 'name of the strategy').choices(materialisedNames)

function summaryOf(registration: StrategyDoc, now: number) {
  const {
    _id,
    complete,
    covered,
    readers = { done: 0, total: 0 },
    options,
    dropping,
  } = registration
  const state = dropping ? 'DROPPING' : complete ? 'COMPLETE' : 'BACKFILLING'
  const secondsLeft = state === 'BACKFILLING' ? estimateSecondsLeft(registration, now) : null
  return { strategy: _id, state, covered, readers, secondsLeft, options }
}

/**
 * How long a back-fill takes if the other readers take as long as those before. Null before the
 * first ones.
 */
function estimateSecondsLeft({ epoch, readers }: StrategyDoc, now: number): number | null {
  if (!readers || readers.done === 0) return null
  const seconds = (now - epoch.getTimestamp().getTime()) / 1000
  const left = Math.max(0, readers.total - readers.done)
  return Math.max(0, Math.round((seconds / readers.done) * left))
}

function cellsOf({
  strategy,
  state,
  readers,
  secondsLeft,
}: ReturnType<typeof summaryOf>): string[] {
  if (state !== 'BACKFILLING') return [strategy, state.toLowerCase()]
  const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`
  return [strategy, `backfilling, ${readers.done} of about ${readers.total} readers${left}`]
}
