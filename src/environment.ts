import { type Config, ConfigError, commonVariableNames, readCommonConfig } from './config.ts'
import { type FeedConfig, feedVariableNames, readFeedConfig } from './feed/config.ts'
import {
  type OperationsConfig,
  operationsVariableNames,
  readOperationsConfig,
} from './http/config.ts'

/** Everything that can be configured, read once at start. */
export interface AppConfig extends Config {
  readonly feed: FeedConfig
  readonly operations: OperationsConfig
}

/** The names of all environment variables that Feedline reads. */
export const variableNames: readonly string[] = [
  ...commonVariableNames,
  ...feedVariableNames,
  ...operationsVariableNames,
]

/**
 * Reads the configuration from environment variables; an empty or blank one counts as absent.
 * @throws {ConfigError} naming every variable that is wrong.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): AppConfig {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value]] : [])),
  )
  const common = readCommonConfig(given)
  const feed = readFeedConfig(given)
  const operations = readOperationsConfig(given, common.config)
  const problems = [common, feed, operations].flatMap((part) => part.problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...common.config, feed: feed.config, operations: operations.config }
}
