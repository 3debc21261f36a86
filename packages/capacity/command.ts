import { Command, Option, type OptionValues } from 'commander'
import { openForCommand } from '../../src/cli/database.ts'
import { numberBetween } from '../../src/cli/numbers.ts'
import { configFor } from '../../src/environment.ts'
import { extend } from '../../src/extensions.ts'
import { constants } from './constants.ts'
import { type Degrees, equalDegrees, powerLawDegrees } from './degrees.ts'
import { formatPlan } from './format-plan.ts'
import type { CapacityInputs } from './inputs.ts'
import { planCapacity } from './plan.ts'
import { sampleDegrees } from './sample-degrees.ts'

const most = 1e15

const numberOption = (
  flags: string,
  description: string,
  standard?: number,
  [min, max] = [0, most],
) => {
  const option = new Option(flags, description).argParser(numberBetween(min, max))
  return standard === undefined ? option : option.default(standard)
}

/** The names of the options that describe a graph. A loaded graph replaces them. */
const graphOptions = ['users', 'edges', 'skew', 'followersMax']

/** The exit code of a command line with a wrong option. */
const wrongInput = 2

/** `feedline capacity`: says what a load needs under each strategy. */
const capacityCommand = (): Command =>
  new Command('capacity')
    .description(
      'Say what a load needs under each strategy: storage, deliveries, processes, shards and the first limit.',
    )
    .addOption(numberOption('--users <n>', 'users, e.g. 1e8', undefined, [1, 1e12]))
    .addOption(numberOption('--edges <n>', 'follows, e.g. 1e9'))
    .addOption(numberOption('--posts-per-second <n>', 'posts').makeOptionMandatory())
    .addOption(numberOption('--reads-per-second <n>', 'pages of timelines').makeOptionMandatory())
    .addOption(numberOption('--polls-per-second <n>', 'polls for new posts', 0))
    .addOption(numberOption('--likes-per-second <n>', 'likes', 0))
    .addOption(numberOption('--follows-per-second <n>', 'follows and unfollows', 0))
    .addOption(
      numberOption('--days <n>', 'days for which posts and likes have been collected', 365),
    )
    .addOption(numberOption('--keep-days <n>', 'days that a timeline keeps entries; default: all'))
    .addOption(numberOption('--active-share <share>', 'share of users with a cache', 1, [0, 1]))
    .addOption(
      numberOption(
        '--unchanged-share <share>',
        'share of pages and polls answered from memory',
        0,
        [0, 1],
      ),
    )
    .addOption(
      numberOption(
        '--skew <exponent>',
        'the user of rank r has followers as 1 / r^exponent',
        0.8,
        [0, 3],
      ),
    )
    .addOption(
      numberOption('--followers-max <n>', 'followers of the most followed user', 1e6, [1, 1e12]),
    )
    .addOption(
      numberOption(
        '--author-bias <power>',
        'posts of an author grow as followers^power',
        0,
        [0, 2],
      ),
    )
    .addOption(numberOption('--inline-max <n>', 'FANOUT_INLINE_MAX', 2_000))
    .addOption(numberOption('--cores <n>', "cores of each shard's primary", 16, [1, 1e4]))
    .addOption(numberOption('--disk-gb <n>', 'disk of each member of a shard', 2_000, [1, 1e6]))
    .addOption(
      numberOption(
        '--usable <share>',
        'share of cores and disks that the load may use',
        0.6,
        [0.01, 1],
      ),
    )
    .addOption(
      new Option('--from-database', 'read the graph of the configured database instead').conflicts(
        graphOptions,
      ),
    )
    .option('--json', 'print one JSON object: inputs, constants, strategies, choice, reason')
    .addHelpText('after', help)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongInput))
    .action(planAndPrint)

extend({ command: capacityCommand })

const help = `
The costs of all operations are measured constants. docs/how-to/scaling.md explains the model and its limits.

Examples:
  $ feedline capacity --users 1e8 --edges 1e9 --posts-per-second 5000 --reads-per-second 1e5
  $ feedline capacity --from-database --posts-per-second 50 --reads-per-second 2000 --json`

async function planAndPrint(options: OptionValues, command: Command): Promise<void> {
  const graph = options.fromDatabase ? await readGraph() : createGraph(options, command)
  const inputs: CapacityInputs = {
    ...graph,
    postsPerSecond: options.postsPerSecond,
    readsPerSecond: options.readsPerSecond,
    pollsPerSecond: options.pollsPerSecond,
    likesPerSecond: options.likesPerSecond,
    followsPerSecond: options.followsPerSecond,
    authorBias: options.authorBias,
    days: options.days,
    activeShare: options.activeShare,
    unchangedShare: options.unchangedShare,
    entryDays: options.keepDays ?? Number.POSITIVE_INFINITY,
    inlineMax: options.inlineMax,
    coresPerShard: options.cores,
    diskGbPerShard: options.diskGb,
    usableShare: options.usable,
  }
  const plan = planCapacity(inputs, constants)
  if (options.json) {
    const { runs, command: measuredBy } = constants
    const asked = { ...options, json: undefined }
    console.log(JSON.stringify({ inputs: asked, constants: { measuredBy, runs }, ...plan }))
  } else console.log(formatPlan(inputs, plan))
}

/** The graph that the options describe. An impossible one ends the command. */
function createGraph(
  { users, edges, skew, followersMax }: OptionValues,
  command: Command,
): Pick<CapacityInputs, 'followers' | 'followees'> {
  if (users === undefined || edges === undefined)
    command.error('error: --users and --edges are required without --from-database')
  const degreeMax = Math.min(followersMax, users)
  if (edges > users * degreeMax)
    command.error(
      `error: --edges ${edges} is more than ${users} users with ${degreeMax} followers each have`,
    )
  return {
    followers: powerLawDegrees({ users, edges, exponent: skew, degreeMax }),
    followees: equalDegrees(users, edges),
  }
}

async function readGraph(): Promise<{ followers: Degrees; followees: Degrees }> {
  await using database = await openForCommand(configFor('database'), false)
  return await sampleDegrees(database.services.collections)
}
