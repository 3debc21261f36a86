import { z } from 'zod'
import {
  commaList,
  decimal,
  type Given,
  oneOf,
  readVariables,
  wholeNumber,
} from '../lib/variables.ts'
import { type EntryContent, entryContents } from './entries.ts'
import {
  type FeedStrategyName,
  feedStrategyNames,
  type SettingName,
  type SettingValues,
  settings,
} from './strategies/list.ts'

/** How timelines are stored and served, with the settings of all strategies. */
export interface FeedConfig extends SettingValues {
  readonly strategy: FeedStrategyName
  /** The strategies that a query can name. They always include FANOUT_ON_READ and the default. */
  readonly maintained: readonly FeedStrategyName[]
  /** The part of a post that stored entries contain. */
  readonly entries: EntryContent
  /** Number of followers up to which the process that created a post delivers it. */
  readonly inlineMax: number
  /** Memory for answers with pages and news that are kept while they are unchanged, in MB. */
  readonly pageCacheMb: number
}

const common = z.object({
  FEED_STRATEGY: oneOf(feedStrategyNames).default('FANOUT_ON_READ'),
  FEED_MAINTAINED: commaList.pipe(z.array(oneOf(feedStrategyNames))).default([]),
  TIMELINE_ENTRIES: oneOf(entryContents).default('author'),
  FANOUT_INLINE_MAX: wholeNumber(0, 10_000).default(200),
  PAGE_CACHE_MB: decimal(0, 65_536).default(64),
})
const settingNames = Object.keys(settings) as SettingName[]
const ofStrategies = z.object(
  Object.fromEntries(Object.values(settings).map(({ variable, schema }) => [variable, schema])),
)

/** The names of the environment variables of timelines. */
export const feedVariableNames = [common, ofStrategies].flatMap(({ shape }) => Object.keys(shape))

/** Reads the part of the configuration that concerns timelines. */
export function readFeedConfig(given: Given): { config: FeedConfig; problems: readonly string[] } {
  const { values: e, problems } = readVariables(common, given)
  const own = readVariables(ofStrategies, given)
  const valueFor = (name: SettingName) => own.values[settings[name].variable]
  const maintained = feedStrategyNames.filter(
    (name) =>
      name === 'FANOUT_ON_READ' || name === e.FEED_STRATEGY || e.FEED_MAINTAINED.includes(name),
  )
  const config = {
    strategy: e.FEED_STRATEGY,
    maintained,
    entries: e.TIMELINE_ENTRIES,
    inlineMax: e.FANOUT_INLINE_MAX,
    pageCacheMb: e.PAGE_CACHE_MB,
    ...(Object.fromEntries(settingNames.map((name) => [name, valueFor(name)])) as SettingValues),
  }
  return { config, problems: [...problems, ...own.problems] }
}
