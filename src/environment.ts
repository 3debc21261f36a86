import { type Config, ConfigError, pathProblem, readCommonConfig, type Use } from './config.ts'
import { uriProblem } from './db/uri.ts'
import { type OperationsConfig, operationsVariables, readOperationsConfig } from './http/config.ts'
import type { Variables } from './lib/variables.ts'
import { signIn } from './sign-in.ts'
import { type FeedConfig, feedVariables, readFeedConfig } from './timeline/config.ts'
import { content, database, limitsOfData, serving } from './variables.ts'

/** Everything that can be configured, read once at start. */
export interface AppConfig extends Config {
  readonly feed: FeedConfig
  readonly operations: OperationsConfig
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

/**
 * Reads the configuration from environment variables. White space around a value is left out, such
 * as the carriage return of a file from Windows. An empty value counts as absent.
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
  const problems = [
    ...[common, feed, operations].flatMap((part) => part.problems),
    ...[uriProblem(uri) ?? pathProblem(uri, variables.MONGODB_DATABASE) ?? []].flat(),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...common.config, feed: feed.config, operations: operations.config }
}

/** {@link readConfig} of this process, for a command that does not serve. */
export const configFor = (use: Use): AppConfig => readConfig(process.env, use)
