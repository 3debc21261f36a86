import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { benchmarkCapacity } from './capacity/capacity.ts'
import { benchmarkConstants } from './capacity/constants.ts'
import { stopDatabases } from './database.ts'
import { benchmarkDocuments } from './documents/documents.ts'
import { benchmarkEngagement } from './engagement/engagement.ts'
import { benchmarkThresholds } from './engagement/thresholds.ts'
import { benchmarkFeeds } from './feeds/feeds.ts'
import { benchmarkFollows } from './follows/follows.ts'
import { benchmarkFriends } from './friends/friends.ts'
import { findNode, startOn } from './node.ts'
import { benchmarkOverload } from './overload/overload.ts'
import { benchmarkProcesses } from './processes/processes.ts'
import { benchmarkReads } from './reads/reads.ts'
import { benchmarkReconcile } from './reconcile/reconcile.ts'
import { benchmarkScale } from './scale/scale.ts'

const benchmarks = {
  capacity: benchmarkCapacity,
  constants: benchmarkConstants,
  documents: benchmarkDocuments,
  engagement: benchmarkEngagement,
  thresholds: benchmarkThresholds,
  feeds: benchmarkFeeds,
  follows: benchmarkFollows,
  friends: benchmarkFriends,
  overload: benchmarkOverload,
  processes: benchmarkProcesses,
  reads: benchmarkReads,
  reconcile: benchmarkReconcile,
  scale: benchmarkScale,
}

/** Benchmarks with many loads, which take ten minutes at most with fewer and shorter rounds. */
const shorter: Partial<Record<string, Readonly<Record<'rounds' | 'seconds', number>>>> = {
  feeds: { rounds: 3, seconds: 1 },
  friends: { rounds: 3, seconds: 2 },
  reads: { rounds: 3, seconds: 6 },
  scale: { rounds: 1, seconds: 2 },
}

/**
 * With `--smallest`, what is not given. So a benchmark takes seconds, writes no plot of the
 * documents, and measures nothing.
 */
const smallest = {
  ...{ rounds: 1, seconds: 0.2, warmUp: 0.2, memory: 0.5 },
  ...{ likes: 1_000, people: 400, plots: '.feedline/bench-plots' },
}

/** @throws {InvalidArgumentError} if the text is not a positive number. */
function parsePositive(text: string): number {
  const value = Number(text)
  if (value > 0) return value
  throw new InvalidArgumentError('It must be a positive number.')
}

/** @throws {InvalidArgumentError} if there is no such Node. */
function parseNode(option: string): string {
  try {
    return findNode(option)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

const numberOption = (flags: string, description: string, standard: number) =>
  new Option(flags, description).argParser(parsePositive).default(standard)

let isInterrupted = false
/** This command line on another Node. */
let child: ChildProcess | undefined

async function interrupt(signal: NodeJS.Signals, code: number): Promise<void> {
  // Ctrl+C signals the child too. It ends when its databases have stopped, and this process after
  // it.
  if (child) return void child.kill(signal)
  if (isInterrupted) return
  isInterrupted = true
  await stopDatabases()
  process.exit(code)
}

process.on('SIGINT', () => interrupt('SIGINT', 130))
process.on('SIGTERM', () => interrupt('SIGTERM', 143))
// This is the child. It does not outlive its parent.
process.on('disconnect', () => interrupt('SIGTERM', 143))
process.channel?.unref()

await new Command('bench')
  .addArgument(new Argument('<name>', 'the benchmark').choices(Object.keys(benchmarks)))
  .addOption(numberOption('--rounds <n>', 'rounds; each measures all implementations', 5))
  .addOption(numberOption('--seconds <n>', 'how long each load lasts', 3))
  .addOption(
    numberOption('--warm-up <seconds>', 'how long each side is loaded before it is measured', 10),
  )
  .addOption(
    numberOption('--memory <seconds>', 'how long reads loads a server whose memory it reads', 120),
  )
  .addOption(numberOption('--likes <n>', 'likes of the most popular post', 100_000))
  .addOption(numberOption('--people <n>', 'users of a generated graph', 100_000))
  .addOption(
    numberOption('--rate <n>', 'first rate of the open loop, in operations per second', 200),
  )
  .addOption(
    new Option(
      '--sides <list>',
      'sides of scale, such as import,register; graphs of capacity: reed98,generated; strategies of reads, such as INBOX',
    )
      .argParser((text) => text.split(','))
      .default([], 'all'),
  )
  .addOption(
    new Option(
      '--rows <list>',
      'rows of reads, such as post_40, or groups: visits,pages,polls,mixes,posts,likes,memory,log',
    )
      .argParser((text) => text.split(','))
      .default([], 'all'),
  )
  .option('--graph <file>', 'edge list instead of Reed98; each edge is a follow in both directions')
  .addOption(
    new Option(
      '--node <binary>',
      'the Node on which all sides run: a path, or a version that npx has, such as 24',
    ).argParser(parseNode),
  )
  .option('--smallest', 'run each step once on few contents, to see that it runs')
  .option('--plots <folder>', 'where plots are written', 'docs/plots')
  .option('--json', 'print the result as JSON')
  .action(async (name: keyof typeof benchmarks, given, command: Command) => {
    if (given.node) {
      child = startOn(given.node)
      const [code] = await once(child, 'exit')
      process.exit(code ?? 1)
    }
    const isGiven = (option: string) => command.getOptionValueSource(option) === 'cli'
    const isSmallest = given.smallest === true
    const fewer = isSmallest ? smallest : (shorter[name] ?? {})
    const unlessGiven = Object.entries(fewer).filter(([option]) => !isGiven(option))
    const { seconds, warmUp, memory, people, json, ...others } = {
      ...given,
      ...Object.fromEntries(unlessGiven),
    }
    const run = benchmarks[name]({
      ...others,
      isSmallest,
      ms: seconds * 1000,
      warmUpMs: warmUp * 1000,
      memoryMs: memory * 1000,
      userCount: people,
      log: (line) => console.error(line),
      print: (line) => console.log(line),
    })
    const result = await run.catch((error) => {
      // An interrupted benchmark fails at its next command, and ends when its databases have
      // stopped.
      if (isInterrupted) return new Promise(() => {})
      throw error
    })
    if (json) console.log(JSON.stringify(result))
  })
  .parseAsync()
