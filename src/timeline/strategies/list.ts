import { cache } from './cache.ts'
import type { StrategyDescriptor, StrategyParts } from './descriptor.ts'
import { fanoutOnRead } from './fanout-on-read.ts'
import { inbox } from './inbox.ts'
import type { Setting } from './setting.ts'
import { sizedBuckets } from './sized-buckets.ts'
import type { MaterialisedStrategy, StrategyTexts } from './strategy.ts'
import { timeBuckets } from './time-buckets.ts'

/**
 * Every strategy that stores timelines. A new strategy is a file with its descriptor, and a line
 * here. One that stores nothing is a line in {@link strategies}, and does not compile until
 * `feeds.ts` creates it.
 */
const materialised = [
  timeBuckets,
  sizedBuckets,
  cache,
  inbox,
] as const satisfies readonly StrategyDescriptor[]

/** Every strategy, in the order of the documents. */
export const strategies = [
  fanoutOnRead,
  ...materialised,
] as const satisfies readonly StrategyTexts[]

/** The table of docs/explanation/strategies.md. */
export const strategyTable = (): readonly (readonly string[])[] => [
  ['strategy', 'a post is', 'a page is', 'stored'],
  ...strategies.map(({ name, table }) => [`\`${name}\``, table.post, table.page, table.stored]),
]

type Materialised = (typeof materialised)[number]

/**
 * The strategies that can assemble a timeline. `FeedConfig.maintained` lists the strategies that a
 * process serves.
 */
export type FeedStrategyName = (typeof strategies)[number]['name']
export const feedStrategyNames: readonly FeedStrategyName[] = strategies.map(({ name }) => name)

/** The strategies that store nothing. Every process serves them. */
export type ComputedName = Exclude<FeedStrategyName, MaterialisedName>

/** The strategies that store timelines. */
export type MaterialisedName = Materialised['name']
export const materialisedNames: readonly MaterialisedName[] = materialised.map(({ name }) => name)
export const isMaterialised = (name: FeedStrategyName): name is MaterialisedName =>
  materialisedNames.some((one) => one === name)

/** One value for each strategy that stores timelines. */
export type ByStrategy<T> = Readonly<Record<MaterialisedName, T>>

/** Makes one value for each strategy that stores timelines. */
export const byStrategy = <T>(make: (descriptor: Materialised) => T): ByStrategy<T> =>
  Object.fromEntries(materialised.map((one) => [one.name, make(one)])) as ByStrategy<T>

/** The descriptors of the strategies that store timelines. */
export const descriptors = byStrategy((one): StrategyDescriptor<MaterialisedName> => one)

type SettingNames<D> = D extends Materialised ? keyof D['settings'] : never
/** The names of all strategies' settings. */
export type SettingName = SettingNames<Materialised>

/** The settings of all strategies, by name. */
export const settings = Object.assign({}, ...materialised.map((one) => one.settings)) as Readonly<
  Record<SettingName, Setting>
>

/** The values of all strategies' settings. */
export type SettingValues = Readonly<Record<SettingName, number>>

/** The values of settings that differ where a command checks every strategy. */
export const valuesWhenChecked = Object.fromEntries(
  Object.entries<Setting>(settings).flatMap(([name, { whenChecked }]) =>
    whenChecked === undefined ? [] : [[name, whenChecked]],
  ),
) as Partial<SettingValues>

/** Creates every strategy that stores timelines. */
export const createStrategies = (
  parts: StrategyParts,
  values: SettingValues,
): ByStrategy<MaterialisedStrategy> => byStrategy((one) => one.create(parts, values))
