import { Command } from 'commander'
import { feedStrategyNames, readConfig } from '../config.ts'
import { createServices } from '../services.ts'
import { type Difference, Tally } from '../verify/run.ts'
import type { Readers } from '../verify/timelines.ts'
import { verify } from '../verify/verify.ts'
import { openForCommand } from './database.ts'
import { wholeNumber } from './numbers.ts'
import { PartDisplays } from './progress.ts'

/** How many differences are shown at most. */
const shownMax = 100

interface VerifyOptions {
  readonly readers: Readers
  readonly json?: true
}

/** `feedline verify`: whether what is stored keeps the laws. */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Look through the database for what must not be: nothing is changed.')
    .option(
      '--readers <n>',
      'compare the timelines of so many readers, taken at random, or of "all"',
      readersOf,
      100,
    )
    .option(
      '--json',
      'print one JSON object: checked, off, repaired (0), differences, byKind, sample, inFlight, seconds',
    )
    .addHelpText('after', help)
    .action(run)

const help = `
Counters are compared with edges and posts, edges with their history and with blocks, counts of
likes, comments and shares with what is stored, and the stored timelines with what they would be
if they were assembled when read. The server may go on serving: what differs is looked at again.
"In flight" is what is not so yet and will be once a job that waits has been run.

It ends with 1 when anything differs, showing the first ${shownMax}.

Examples:
  $ feedline verify
  $ feedline verify --readers all --json`

const readersOf = (text: string): Readers =>
  text === 'all' ? 'all' : wholeNumber(0, 100_000)(text)

async function run({ readers, json }: VerifyOptions): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig()
  await using database = await openForCommand(config, false)
  // Every strategy can be asked for; and no cache lives longer because of this look.
  const feed = { ...config.feed, maintained: feedStrategyNames, cacheAwayDays: 0 }
  const services = createServices(
    database.client,
    database.db,
    { ...config, feed },
    [],
    database.clock.now,
  )
  const tally = new Tally()
  const found: Found = { differences: 0, byKind: {}, sample: [] }
  using displays = new PartDisplays('checked')
  for await (const difference of verify(
    services,
    { readers, onProgress: displays.update },
    tally,
  )) {
    note(found, difference)
  }
  displays[Symbol.dispose]()
  const seconds = Math.round(performance.now() - startedAt) / 1000
  const { checked, inFlight } = tally
  console.log(
    json
      ? JSON.stringify({
          checked,
          off: found.differences,
          repaired: 0,
          ...found,
          inFlight,
          seconds,
        })
      : report(found, tally, seconds),
  )
  if (found.differences > 0) process.exitCode = 1
}

/** What a run found: of all differences the number, of the first ones all. */
interface Found {
  differences: number
  readonly byKind: Record<string, number>
  readonly sample: Difference[]
}

function note(found: Found, difference: Difference): void {
  const kind = `${difference.law} ${difference.kind}`
  found.differences++
  found.byKind[kind] = (found.byKind[kind] ?? 0) + 1
  if (found.sample.length < shownMax) found.sample.push(difference)
}

function report({ differences, sample }: Found, { checked, inFlight }: Tally, seconds: number) {
  const lines = sample.map(
    ({ law, kind, subject, expected, found }) =>
      `${law} ${kind}  ${subject}: expected ${expected}; found ${found}`,
  )
  const rest = differences - sample.length
  const { users, edges, posts, engagements, timelines, readers } = checked
  return [
    ...lines,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    `Checked ${users} users, ${edges} edges, ${posts} posts, ${engagements} likes, comments and shares, ` +
      `${timelines} timelines of ${readers} readers in ${seconds} s.`,
    `${differences} ${differences === 1 ? 'difference' : 'differences'}, ${inFlight} in flight.`,
  ].join('\n')
}
