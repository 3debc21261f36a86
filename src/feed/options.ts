import type { Config } from '../config.ts'
import type { StrategyDoc } from '../db/collections.ts'
import type { Registered } from './registry.ts'
import type { MaterialisedName } from './strategies/strategy.ts'

/** The options of a strategy, by name. */
export type Options = Readonly<Record<string, number>>

const dayMs = 86_400_000

/** What a new registration of each strategy takes over from the configuration of the process that makes it. */
export const configuredOptions = (
  feed: Config['feed'],
): Readonly<Record<MaterialisedName, Options>> => ({
  TIME_BUCKETS: { periodMs: Math.round(feed.timeBucketDays * dayMs) },
  SIZED_BUCKETS: {},
  CACHE: { size: feed.cacheSize },
  INBOX: {},
  HYBRID: { threshold: feed.hybridThreshold },
})

/**
 * The value that the database keeps for one option of a strategy.
 * @throws {Error} when the registration has no such option.
 */
export function optionOf({ _id, options }: StrategyDoc, name: string): number {
  const value = options[name]
  if (value === undefined) throw new Error(`the registration of ${_id} has no option "${name}"`)
  return value
}

/** The options that a registration of an older version lacks, as an update sets them. */
export function lacking(
  { options }: StrategyDoc,
  wanted: Options,
): Record<string, number> | undefined {
  const lacks = Object.entries(wanted).filter(([name]) => options[name] === undefined)
  if (lacks.length === 0) return undefined
  return Object.fromEntries(lacks.map(([name, value]) => [`options.${name}`, value]))
}

/** For each option its variable, the value in the variable's unit, and how an operator changes it. */
const variables: Readonly<Record<string, Variable>> = {
  periodMs: { name: 'TIME_BUCKET_DAYS', shown: (ms) => ms / dayMs, change: dropped },
  size: { name: 'CACHE_SIZE', shown: (size) => size, change: dropped },
  threshold: {
    name: 'HYBRID_THRESHOLD',
    shown: (followers) => followers,
    change: () => 'run "feedline timelines threshold NUMBER"',
  },
}

interface Variable {
  readonly name: string
  readonly shown: (value: number) => number
  readonly change: (strategy: string) => string
}

function dropped(strategy: string): string {
  return `run "feedline timelines drop ${strategy}" and start again`
}

/**
 * One sentence for each option whose configured value is not the one that the database keeps. The kept value is used.
 * @param names the strategies that this process serves.
 */
export function optionWarnings(
  registered: Registered,
  configured: Readonly<Record<MaterialisedName, Options>>,
  names: readonly MaterialisedName[],
): string[] {
  return names.flatMap((name) =>
    Object.entries(configured[name]).flatMap(([option, value]) => {
      const kept = registered.get(name)?.options[option]
      const variable = variables[option]
      if (kept === undefined || kept === value || !variable) return []
      const { name: variableName, shown, change } = variable
      return [
        `${variableName} is ${shown(value)} in this process, but the database stores ${shown(kept)} for ${name}. ` +
          `Feedline uses the stored value. To change it, ${change(name)}.`,
      ]
    }),
  )
}
