import { Argument, Command } from 'commander'
import { readConfig } from '../config.ts'
import type { StrategyDoc } from '../db/collections.ts'
import type { MaterialisedName } from '../feed/strategy.ts'
import { openForCommand, say } from './database.ts'
import { interruption } from './failure.ts'
import { wholeNumber } from './numbers.ts'

const names = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX', 'HYBRID'] as const

/** `feedline timelines`: which strategies the database maintains, and how far each has come. */
export const timelinesCommand = (): Command =>
  new Command('timelines')
    .description('Show which strategies keep timelines here, and how far their back-fills are.')
    .option('--json', 'print one JSON object: strategies')
    .action(async ({ json }: { json?: true }) => {
      await using database = await openForCommand(readConfig(), false)
      const registered = await database.services.registry.read()
      const strategies = names.flatMap((name) => registered.get(name) ?? []).map(summary)
      if (json) console.log(JSON.stringify({ strategies }))
      else console.log(strategies.length === 0 ? nothing : strategies.map(line).join('\n'))
    })
    .addCommand(
      new Command('drop')
        .description('Keep timelines under this strategy no more, and remove what is stored.')
        .addArgument(strategyArgument())
        .action(async (name: MaterialisedName) => {
          await using database = await openForCommand(readConfig(), true)
          using interrupt = interruption()
          const { services } = database
          say('Pages come from FANOUT_ON_READ. Removing what is stored.')
          const dropped = await services.registrations.drop(name, interrupt.signal)
          if (!dropped) throw new Error(`${name} is not maintained here`)
          console.log(`${name} is dropped.`)
        }),
    )
    .addCommand(
      new Command('rebuild')
        .description('Back-fill this strategy anew; until then pages come from FANOUT_ON_READ.')
        .addArgument(strategyArgument())
        .action(async (name: MaterialisedName) => {
          await using database = await openForCommand(readConfig(), true)
          if (!(await database.services.registrations.rebuild(name))) {
            throw new Error(`${name} is not maintained here`)
          }
          console.log(
            `${name} is back-filled by whoever runs jobs: feedline serve, feedline worker.`,
          )
        }),
    )
    .addCommand(
      new Command('threshold')
        .description('Set from how many followers on HYBRID reads an author, for all processes.')
        .argument('<followers>', 'authors change sides with their next post', wholeNumber(1, 1e9))
        .action(async (followers: number) => {
          await using database = await openForCommand(readConfig(), true)
          if (!(await database.services.registrations.setThreshold(followers))) {
            throw new Error('HYBRID is not maintained here')
          }
          console.log(`HYBRID reads authors with ${followers} followers or more.`)
        }),
    )

const nothing = 'None: every timeline is assembled when it is read.'

const strategyArgument = () => new Argument('<strategy>', 'whose timelines').choices(names)

function summary({ _id, complete, covered, readers, options, dropping }: StrategyDoc) {
  const state = dropping ? 'DROPPING' : complete ? 'COMPLETE' : 'BACKFILLING'
  return { strategy: _id, state, covered, readers: readers ?? { done: 0, total: 0 }, options }
}

function line({ strategy, state, readers }: ReturnType<typeof summary>): string {
  const progress = state === 'BACKFILLING' ? `, ${readers.done} of ${readers.total} readers` : ''
  return `${strategy.padEnd(13)}  ${state.toLowerCase()}${progress}`
}
