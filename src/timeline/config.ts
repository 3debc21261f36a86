import { z } from 'zod'
import {
  commaList,
  decimal,
  type Given,
  oneOf,
  readVariables,
  type Variable,
  type Variables,
  wholeNumber,
} from '../lib/variables.ts'
import { type EntryContent, entryContents } from './entries.ts'
import {
  type FeedStrategyName,
  feedStrategyNames,
  isMaterialised,
  type SettingName,
  type SettingValues,
  settings,
} from './strategies/list.ts'
import type { Setting } from './strategies/setting.ts'

/** How timelines are stored and served, with the settings of all strategies. */
export interface FeedConfig extends SettingValues {
  readonly strategy: FeedStrategyName
  /** The strategies that a query can name. They always include FANOUT_ON_READ and the default. */
  readonly maintained: readonly FeedStrategyName[]
  /** The part of a post that stored entries contain. */
  readonly entries: EntryContent
  /**
   * How long stored timelines keep entries, in days after the creation of their posts. 0: for ever.
   */
  readonly timelineDaysMax: number
  /** Number of followers up to which the process that created a post delivers it. */
  readonly inlineMax: number
  /**
   * Memory in MB: half for posts, accounts and relations of pages, half for answers that are sent
   * again while nothing has changed. 0: none is kept.
   */
  readonly pageCacheMb: number
}

/**
 * The environment variables of all strategies, with their texts for
 * docs/reference/configuration.md.
 */
const common = {
  FEED_STRATEGY: {
    schema: oneOf(feedStrategyNames).default('FANOUT_ON_READ'),
    reason:
      'How timelines are assembled unless a query says otherwise: [which strategy](../explanation/strategies.md#choosing)',
    processes: 'own',
  },
  FEED_MAINTAINED: {
    schema: commaList.pipe(z.array(oneOf(feedStrategyNames))).default([]),
    reason:
      'Further strategies that queries may name; `FANOUT_ON_READ` always is one. The database maintains those of all servers',
    processes: 'own',
  },
  TIMELINE_ENTRIES: {
    schema: oneOf(entryContents).default('author'),
    reason:
      'What stored entries hold of a post: [embedding and linking](../explanation/strategies.md#embedding-and-linking). Entries of every kind are read',
    processes: 'own',
  },
  TIMELINE_DAYS_MAX: {
    schema: decimal(0, 3660).default(0),
    reason:
      'Days for which stored timelines [keep entries](../explanation/strategies.md#retention), except `CACHE`, which is bounded. 0: for ever. Of several servers and workers, the shortest decides',
    processes: 'own',
  },
  FANOUT_INLINE_MAX: {
    schema: wholeNumber(0, 10_000).default(2_000),
    reason: 'Audiences up to this size are delivered to with `createPost`, larger ones by workers',
    processes: 'own',
  },
  PAGE_CACHE_MB: {
    schema: decimal(0, 65_536).default(64),
    reason:
      'Memory for posts, accounts and relations of pages. 0: nothing is kept, the log is off, and each post has a job',
    processes: 'own',
  },
} as const satisfies Variables
const settingNames = Object.keys(settings) as SettingName[]
const ofStrategies: Readonly<Record<string, Variable & { readonly schema: Setting['schema'] }>> =
  Object.fromEntries(
    Object.values(settings).map(({ variable, schema, reason, option }) => [
      variable,
      { schema, reason, processes: option ? 'database' : 'own' },
    ]),
  )

/** The environment variables of timelines. */
export const feedVariables: Variables = { ...common, ...ofStrategies }

/** Reads the part of the configuration that concerns timelines. */
export function readFeedConfig(given: Given): { config: FeedConfig; problems: readonly string[] } {
  const { values: e, problems } = readVariables(common, given)
  const own = readVariables(ofStrategies, given)
  const valueFor = (name: SettingName) => own.values[settings[name].variable] as number
  const maintained = feedStrategyNames.filter(
    (name) => !isMaterialised(name) || name === e.FEED_STRATEGY || e.FEED_MAINTAINED.includes(name),
  )
  const config = {
    strategy: e.FEED_STRATEGY,
    maintained,
    entries: e.TIMELINE_ENTRIES,
    timelineDaysMax: e.TIMELINE_DAYS_MAX,
    inlineMax: e.FANOUT_INLINE_MAX,
    pageCacheMb: e.PAGE_CACHE_MB,
    ...(Object.fromEntries(settingNames.map((name) => [name, valueFor(name)])) as SettingValues),
  }
  return { config, problems: [...problems, ...own.problems] }
}
