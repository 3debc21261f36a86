import { access, constants, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { log } from '../../src/cli/database.ts'
import { interruption } from '../../src/cli/failure.ts'
import { durationSeconds, wholeNumber } from '../../src/cli/numbers.ts'
import { PartDisplays } from '../../src/cli/progress.ts'
import { signToken } from '../../src/cli/token.ts'
import { configFor } from '../../src/environment.ts'
import { badInput } from '../../src/errors.ts'
import { extend } from '../../src/extensions.ts'
import { handleRule, parseUserId } from '../../src/lib/ids.ts'
import type { Accounts, DriveParts } from './drive.ts'
import {
  arrivalsMax,
  defaultMix,
  type Mix,
  parseMix,
  parseRates,
  plannedArrivals,
  planSteps,
  type Spacing,
  spacings,
} from './plan.ts'
import { formatDrive } from './print.ts'
import { type DriveResult, exitCodeOf, type ShownSettings } from './result.ts'

interface DriveOptions {
  readonly url: readonly URL[]
  readonly users: number
  readonly prefix: string
  readonly usersFile?: string
  readonly follows: number
  readonly posts: number
  readonly rate?: readonly number[]
  readonly step: number
  readonly warmup: number
  readonly mix?: Mix
  readonly arrivals: Spacing
  readonly untilP99?: number
  readonly outstanding: number
  readonly sample: number
  readonly settle: number
  readonly seed: number
  readonly yesWrite?: true
  readonly clean?: true
  readonly json?: string
  readonly report?: string
}

/** `feedline drive`: puts a load on a running deployment, and verifies what it returns. */
const driveCommand = (): Command =>
  new Command('drive')
    .description('Put a load on a running deployment, measure it, and verify its timelines.')
    .requiredOption('--url <url...>', 'addresses of the processes of the deployment', readUrl)
    .option('--rate <rate>', 'arrivals per second: 50, or a ramp: 50..500/6', readRates)
    .option('--step <duration>', 'time of each rate: seconds, or e.g. 30s, 5m', durationSeconds, 30)
    .option('--warmup <duration>', 'time at the first rate that is not measured', readWarmUp, 5)
    .option('--mix <weights>', 'weights of the operations, e.g. home=60,poll=30', readMix)
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
    .option('--outstanding <n>', 'most requests open at once', wholeNumber(1, 10_000), 1_000)
    .option('--users <n>', 'number of accounts that the run uses', wholeNumber(2, 100_000), 100)
    .option('--prefix <text>', 'handles of the accounts: <text>-000001 and so on', 'drive')
    .option('--users-file <file>', 'use existing accounts: a file with one handle a line')
    .option('--follows <n>', 'followees of each created account', wholeNumber(0, 1_000), 10)
    .option(
      '--posts <n>',
      'posts of each created account before the load',
      wholeNumber(0, 1_000),
      5,
    )
    .option('--sample <n>', 'readers, pollers and writers to verify', wholeNumber(1, 100_000), 50)
    .option('--settle <duration>', 'how long deliveries may take at the end', durationSeconds, 60)
    .option('--seed <n>', 'seed of all random choices', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--yes-write', 'write to a deployment in production')
    .option(
      '--clean',
      'delete the accounts of the prefix: after the run, or without --rate at once',
    )
    .option('--json <file>', 'write the result as one JSON object; "-" is stdout')
    .option('--report <file>', 'write the result as an HTML page with plots')
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
  $ feedline drive --url http://a:4000 http://b:4000 --rate 50..500/6 --until-p99 100 --report r.html
  $ feedline drive --url http://localhost:4000 --clean`

async function run(options: DriveOptions, command: Command): Promise<void> {
  checkCombination(options)
  const accounts = await readAccounts(options)
  for (const file of [options.json, options.report]) await checkWritable(file)
  const settings = options.rate && shownSettings(options, accounts, options.rate)
  // No other command but serve needs the schema, which takes long to load.
  const { handlesOf, openClient, runClean, runDrive } = await import('./drive.ts')
  using interrupt = interruption()
  using displays = new PartDisplays('done')
  const parts: DriveParts = {
    urls: options.url,
    mayWriteToProduction: options.yesWrite === true,
    authorize: createAuthorizer(settings),
    version: command.parent?.version() ?? '',
    ...{ log, signal: interrupt.signal },
    onProgress: (part, done, total) => displays.update({ part, done, total }),
  }
  using client = await openClient(parts, handlesOf(accounts))
  try {
    if (settings) {
      const result = await runDrive(client, accounts, settings, parts)
      displays[Symbol.dispose]()
      await writeResult(result, options)
      process.exitCode = exitCodeOf(result)
    }
  } finally {
    if (options.clean) {
      const { deleted, foreign } = await runClean(client, options.users, parts)
      displays[Symbol.dispose]()
      log(`Deleted ${deleted} accounts. Their handles can be used again after a minute.`)
      if (foreign > 0)
        log(`Accounts of the prefix that no run has created, which stay: ${foreign}.`)
    }
  }
  interrupt.signal.throwIfAborted()
}

async function readAccounts({ usersFile, prefix, users }: DriveOptions): Promise<Accounts> {
  if (usersFile === undefined) {
    const isHandle = parseUserId(`${prefix}-000001`) !== undefined
    if (!isHandle)
      throw badInput('--prefix', `"${prefix}" is not the begin of a handle: ${handleRule}`)
    return { prefix, count: users }
  }
  const lines = (await readFile(usersFile, 'utf8')).split('\n').map((line) => line.trim())
  const given = [...new Set(lines.filter((line) => line !== ''))].slice(0, users)
  const handles = given.map((line) => {
    const handle = parseUserId(line)
    if (handle === undefined)
      throw badInput('--users-file', `"${line}" is not a handle: ${handleRule}`)
    return handle
  })
  if (handles.length < 2) throw badInput('--users-file', 'must have at least two handles')
  return { handles }
}

/** @throws {DomainError} BAD_USER_INPUT for options that do not go together. */
function checkCombination(options: DriveOptions): void {
  const { rate, untilP99, clean, usersFile, step, warmup, json, report } = options
  if (!rate && !clean) throw badInput('--rate', 'must be set, unless --clean is')
  if (!rate && (json ?? report) !== undefined) {
    throw badInput('--rate', 'must be set for a result')
  }
  if (clean && usersFile !== undefined) {
    throw badInput('--clean', 'deletes accounts that runs created, and none of a --users-file')
  }
  if (untilP99 !== undefined && isFalling(rate)) {
    throw badInput('--until-p99', 'ends a ramp whose rates rise, and those of --rate fall')
  }
  if (rate && plannedArrivals(planSteps(rate, step, warmup)) > arrivalsMax) {
    throw badInput('--step', `the run would have more than ${arrivalsMax} arrivals`)
  }
}

const isFalling = ([first = 0, ...others]: readonly number[] = []): boolean =>
  others.some((rate) => rate < first)

/** Fails before the load, not after it. */
async function checkWritable(file: string | undefined): Promise<void> {
  if (file === undefined || file === '-') return
  await access(dirname(file), constants.W_OK)
}

function shownSettings(
  options: DriveOptions,
  accounts: Accounts,
  rates: readonly number[],
): ShownSettings {
  const { url, step, warmup, arrivals, outstanding, untilP99, sample, settle, seed } = options
  return {
    urls: url.map(({ href }) => href),
    ...('handles' in accounts
      ? { users: accounts.handles.length, usersFile: options.usersFile ?? '' }
      : { users: accounts.count, prefix: accounts.prefix }),
    followsPerUser: options.follows,
    postsPerUser: options.posts,
    ...{ rates, stepSeconds: step, warmUpSeconds: warmup, spacing: arrivals },
    mix: options.mix ?? defaultMix,
    outstandingMax: outstanding,
    ...(untilP99 === undefined ? {} : { untilP99Ms: untilP99 }),
    ...{ sample, settleSeconds: settle, seed },
  }
}

/** How long a token lives beyond the planned time of the load, in seconds: the other parts take hours at most. */
const spareSeconds = 86_400

/** Signs tokens that outlive the run. Without a secret, users sign in by `Dev`. */
function createAuthorizer(settings: ShownSettings | undefined): DriveParts['authorize'] {
  const { auth } = configFor('none')
  const seconds = settings ? settings.rates.length * settings.stepSeconds : 0
  const expiresAt = new Date(Date.now() + (seconds + spareSeconds) * 1000)
  return async (handle) =>
    auth.secret === undefined
      ? `Dev ${handle}`
      : `Bearer ${await signToken(auth, handle, expiresAt)}`
}

async function writeResult(result: DriveResult, { json, report }: DriveOptions): Promise<void> {
  const text = JSON.stringify(result)
  console.log(json === '-' ? text : formatDrive(result))
  if (json !== undefined && json !== '-') await writeFile(json, `${text}\n`)
  if (report !== undefined) {
    const { renderReport } = await import('./report.ts')
    await writeFile(report, renderReport(result))
    log(`The report is in ${report}.`)
  }
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
