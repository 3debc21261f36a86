import { type Config, ConfigError, pathProblem, readCommonConfig, type Use } from './config.ts'
import { uriProblem } from './db/uri.ts'
import { type FeedConfig, feedVariables, readFeedConfig } from './feed/config.ts'
import { type OperationsConfig, operationsVariables, readOperationsConfig } from './http/config.ts'
import type { Variables } from './lib/variables.ts'
import { signIn } from './sign-in.ts'
import { content, database, limitsOfData, serving } from './variables.ts'

/** Everything that can be configured, read once at start. */
export interface AppConfig extends Config {
  readonly feed: FeedConfig
  readonly operations: OperationsConfig
  /** A line for each variable that is set and that this release does not read. */
  readonly warnings: readonly string[]
}

/** The environment variables by the headings of docs/reference/configuration.md. */
export const variableSections: Readonly<Record<string, Variables>> = {
  Serving: serving,
  Operation: operationsVariables,
  'The database': database,
  Timelines: feedVariables,
  'Stored data': limitsOfData,
  'Sign-in': signIn,
  Content: content,
}

/** The names of all environment variables that Feedline reads. */
export const variableNames: readonly string[] = Object.values(variableSections).flatMap(Object.keys)

/** A variable of earlier releases. */
interface Withdrawn {
  /** What holds instead, and what to do. */
  readonly text: string
  /** Whether a process refuses to start with it: ignored, data would seem lost or grow, or others could sign in. */
  readonly isRefused?: true
}

/** Settings of retentions that each reader's timelines had. Ignored, data would grow without a bound. */
const retentionsOfReaders = [
  ...['INBOX_ENTRIES_MAX', 'INBOX_DAYS_MAX', 'SIZED_BUCKET_ENTRIES_MAX', 'SIZED_BUCKET_DAYS_MAX'],
  ...['TIME_BUCKET_ENTRIES_MAX', 'TIME_BUCKET_DAYS_MAX', 'TIMELINE_AWAY_DAYS'],
]
const driftText = 'servers check no samples any more; run feedline reconcile by schedule'

/** Variables of earlier releases. A server and a worker warn of those that are set, or refuse to start. */
const withdrawn: Readonly<Record<string, Withdrawn>> = {
  ...Object.fromEntries(
    retentionsOfReaders.map((name) => {
      const text =
        'all stored timelines keep the entries of the same days; unset it, and set TIMELINE_DAYS_MAX'
      return [name, { text, isRefused: true } as const]
    }),
  ),
  TIMELINES_URI: {
    text: 'this release stores timelines in the database alone; run "feedline timelines move" of the previous release without TIMELINES_URI, and unset it',
    isRefused: true,
  },
  EMBEDDED_MONGODB: {
    text: 'MONGODB_URI says it: embedded, or the database to use; unset EMBEDDED_MONGODB',
    isRefused: true,
  },
  AUTH_DEV: {
    text: 'Dev sign-in follows NODE_ENV, and production has none; unset AUTH_DEV',
    isRefused: true,
  },
  HYBRID_THRESHOLD: {
    text: 'this release has no HYBRID; unset it, and use INBOX',
    isRefused: true,
  },
  MONGOD_BINARY: { text: 'a mongod on the PATH is used first' },
  REQUESTS_MAX: { text: 'at most 100 requests are executed at once, fewer while the core is busy' },
  RATE_LIMIT_ADDRESS_VIEWERS: {
    text: 'signed-in requests of one address share the limits of 20 viewers; a higher RATE_LIMIT_COST raises both',
  },
  RECEIVE_SECONDS: { text: 'a request must arrive, and its answer be read, within 30 s' },
  KEEP_ALIVE_SECONDS: { text: 'an idle connection stays open for 620 s' },
  SLOW_REQUEST_MS: { text: 'requests from 1 s on are logged as slow' },
  STOP_SECONDS: { text: 'after DRAIN_SECONDS, a stop takes at most 15 s' },
  FOLLOWEES_MAX: { text: 'a user may follow 10,000 users' },
  LIKES_THRESHOLD: { text: 'OVERFLOW_THRESHOLD sets it' },
  SHARES_THRESHOLD: { text: 'OVERFLOW_THRESHOLD sets it' },
  COMMENTS_THRESHOLD: { text: 'OVERFLOW_THRESHOLD sets it, to a fifth' },
  OVERFLOW_CAPACITY: { text: 'it is ten times OVERFLOW_THRESHOLD, and 1,000 at most' },
  INBOX_FOLLOWERS_MAX: { text: 'INBOX stores the posts of all authors' },
  DRIFT_SAMPLE: { text: driftText },
  DRIFT_REPAIR: { text: driftText },
}

/**
 * Reads the configuration from environment variables. White space around a value is left out, such as the carriage
 * return of a file from Windows. An empty value counts as absent.
 * @param use what production requires: see {@link Use}.
 * @throws {ConfigError} naming every variable that is wrong.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  use: Use = 'serve',
): AppConfig {
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  )
  const common = readCommonConfig(variables, use)
  const feed = readFeedConfig(variables)
  const operations = readOperationsConfig(variables, common.config)
  const { uri } = common.config.database
  const old = Object.entries(withdrawn).flatMap(([name, { text, isRefused = false }]) =>
    variables[name] === undefined ? [] : [{ isRefused, line: `${name}: ${text}` }],
  )
  const problems = [
    ...[common, feed, operations].flatMap((part) => part.problems),
    ...[uriProblem(uri) ?? pathProblem(uri, variables.MONGODB_DATABASE) ?? []].flat(),
    ...old.flatMap(({ isRefused, line }) => (isRefused ? line : [])),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  const warnings = old.map(({ line }) => `${line}. The variable is ignored`)
  return { ...common.config, feed: feed.config, operations: operations.config, warnings }
}

/** {@link readConfig} of this process, for a command that does not serve. */
export const configFor = (use: Use): AppConfig => readConfig(process.env, use)
