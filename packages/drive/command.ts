import { Command, InvalidArgumentError, Option } from 'commander'
import { log } from '../../src/cli/database.ts'
import { interruption } from '../../src/cli/failure.ts'
import { durationSeconds, wholeNumber } from '../../src/cli/numbers.ts'
import { PartDisplays } from '../../src/cli/progress.ts'
import { signToken } from '../../src/cli/sign-token.ts'
import { configFor } from '../../src/environment.ts'
import { badInput } from '../../src/errors.ts'
import { extend } from '../../src/extensions.ts'
import { handleRule, parseHandle } from '../../src/lib/ids.ts'
import type { DriveParts } from './drive.ts'
import {
  arrivalsMax,
  type DriveSettings,
  defaultMix,
  parseMix,
  parseRates,
  plannedArrivals,
  planSteps,
  type Spacing,
  spacings,
} from './plan.ts'
import { formatDrive } from './print.ts'

interface DriveOptions extends Omit<DriveSettings, 'rate'> {
  readonly rate?: readonly number[]
  readonly yesWrite?: true
  readonly clean?: true
  readonly json?: true
}

/** `feedline drive`: puts a load on a running deployment, and verifies what it returns. */
const driveCommand = (): Command =>
  new Command('drive')
    .description('Put a load on a running deployment, measure it, and verify its timelines.')
    .requiredOption('--url <url...>', 'addresses of the processes of the deployment', readUrl)
    .option('--rate <rate>', 'arrivals per second: 50, or a ramp: 50..500/6', readRates)
    .option('--step <duration>', 'time of each rate: seconds, or e.g. 30s, 5m', durationSeconds, 30)
    .option('--warmup <duration>', 'time at the first rate that is not measured', readWarmUp, 5)
    .option(
      '--mix <weights>',
      'weights of the operations, e.g. home=60,poll=30',
      readMix,
      defaultMix,
    )
    .addOption(
      new Option('--arrivals <spacing>', 'gaps between arrivals')
        .choices(spacings)
        .default('poisson' satisfies Spacing),
    )
    .option(
      '--until-p99 <ms>',
      'end after a rate at which more than 1 % took longer or failed',
      wholeNumber(1, 60_000),
    )
    .option('--users <n>', 'number of accounts that the run uses', wholeNumber(2, 100_000), 100)
    .option(
      '--prefix <text>',
      'handles of the accounts: <text>-000001 and so on',
      readPrefix,
      'drive',
    )
    .option('--follows <n>', 'followees of each account', wholeNumber(0, 1_000), 10)
    .option('--posts <n>', 'posts of each account before the load', wholeNumber(0, 1_000), 5)
    .option('--sample <n>', 'readers, pollers and writers to verify', wholeNumber(1, 100_000), 50)
    .option('--seed <n>', 'seed of all random choices', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--yes-write', 'write to a deployment in production')
    .option(
      '--clean',
      'delete the accounts of the prefix: after the run, or without --rate at once',
    )
    .option('--json', 'print the result as one JSON object')
    .addHelpText('after', help)
    .action(run)

extend({ command: driveCommand })

const help = `
The command sends requests over HTTP only. It creates accounts with follows and posts, or uses those
of an earlier run with the same prefix. Then requests arrive at the given rate, whether or not
earlier ones are answered. A latency counts from the time at which its request was due. Refused
requests are counted and not repeated.

At the end, it compares timelines of a sample of readers with FANOUT_ON_READ, and the users' own
lists with what was acknowledged.

The command signs tokens with AUTH_JWT_SECRET, AUTH_ISSUER and AUTH_AUDIENCE. Without a secret, it
signs in by "Dev", which works in development only.

Exit code 1: a timeline or list is wrong, or was not verified, or no request was answered. Exit
code 2: all is right, but the load generator was at its limit, so the latencies are not those of the
deployment.

Examples:
  $ feedline drive --url http://localhost:4000 --rate 50
  $ feedline drive --url http://a:4000 http://b:4000 --rate 50..500/6 --until-p99 100
  $ feedline drive --url http://localhost:4000 --clean`

async function run(options: DriveOptions, command: Command): Promise<void> {
  const { rate, url, prefix, users, yesWrite, clean, json } = options
  checkCombination(options)
  // No other command needs the client, and only serve needs the schema: both take long to load.
  const { openClient, runClean, runDrive } = await import('./drive.ts')
  const { exitCodeOf } = await import('./result.ts')
  using interrupt = interruption()
  using displays = new PartDisplays('done')
  const parts: DriveParts = {
    urls: url,
    prefix,
    mayWriteToProduction: yesWrite === true,
    authorize: createAuthorizer(options),
    version: command.parent?.version() ?? '',
    log,
    signal: interrupt.signal,
    onProgress: (part, done, total) => displays.update({ part, done, total }),
  }
  using client = await openClient(parts)
  try {
    if (rate) {
      const result = await runDrive(client, { ...options, rate }, parts)
      displays[Symbol.dispose]()
      console.log(json ? JSON.stringify(result) : formatDrive(result))
      process.exitCode = exitCodeOf(result)
    }
  } finally {
    if (clean) {
      const { deleted, foreign } = await runClean(client, users, parts)
      displays[Symbol.dispose]()
      log(`Deleted ${deleted} accounts. Their handles can be used again after a minute.`)
      if (foreign > 0)
        log(`Accounts of the prefix that no run has created, which stay: ${foreign}.`)
    }
  }
  interrupt.signal.throwIfAborted()
}

/** @throws {DomainError} BAD_USER_INPUT for options that do not go together. */
function checkCombination(options: DriveOptions): void {
  const { rate, untilP99, clean, step, warmup, json } = options
  if (!rate && !clean) throw badInput('--rate', 'must be set, unless --clean is')
  if (!rate && json) throw badInput('--rate', 'must be set for a result')
  if (untilP99 !== undefined && rate?.some((each) => each < (rate[0] ?? 0))) {
    throw badInput('--until-p99', 'ends a ramp whose rates rise, and those of --rate fall')
  }
  if (rate && plannedArrivals(planSteps(rate, step, warmup)) > arrivalsMax) {
    throw badInput('--step', `the run would have more than ${arrivalsMax} arrivals`)
  }
}

/**
 * How long a token lives beyond the planned time of the load, in seconds: the other parts take
 * hours at most.
 */
const spareSeconds = 86_400

/** Signs tokens that outlive the run. Without a secret, users sign in by `Dev`. */
function createAuthorizer({ rate = [], step }: DriveOptions): DriveParts['authorize'] {
  const { auth } = configFor('none')
  const expiresAt = new Date(Date.now() + (rate.length * step + spareSeconds) * 1000)
  return async (handle) =>
    auth.main?.secret === undefined
      ? `Dev ${handle}`
      : `Bearer ${await signToken(auth, { subject: handle, expiresAt })}`
}

function readUrl(text: string, before: readonly URL[] = []): readonly URL[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const more = url && [url.username, url.password, url.search, url.hash].join('')
  if (!url || !['http:', 'https:'].includes(url.protocol) || more !== '') {
    throw new InvalidArgumentError(
      'It must be an http or https address without user, password, query and fragment.',
    )
  }
  if (url.pathname === '/') url.pathname = '/graphql'
  return [...before, url]
}

function readPrefix(text: string): string {
  if (parseHandle(`${text}-000001`) !== undefined) return text
  throw new InvalidArgumentError(`It is not the begin of a handle: ${handleRule}.`)
}

const readRates = (text: string) => withSentence(() => parseRates(text))
const readMix = (text: string) => withSentence(() => parseMix(text))
const readWarmUp = (text: string) => (text === '0' ? 0 : durationSeconds(text))

/** Turns the error of a parser into one of the command line. */
function withSentence<Value>(parse: () => Value): Value {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(`It ${error.message}.`)
    throw error
  }
}
