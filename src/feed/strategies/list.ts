import type { AuthorFilter } from './author-filter.ts'
import { cache } from './cache.ts'
import type { StrategyDescriptor, StrategyParts, StrategyTexts } from './descriptor.ts'
import { fanoutOnRead } from './fanout-on-read.ts'
import { hybrid } from './hybrid.ts'
import { inbox } from './inbox.ts'
import type { Setting } from './setting.ts'
import { sizedBuckets } from './sized-buckets.ts'
import type { MaterialisedStrategy } from './strategy.ts'
import { timeBuckets } from './time-buckets.ts'

/** Every strategy that stores timelines. A new strategy is a file with its descriptor, and a line here. */
const materialised = [
  timeBuckets,
  sizedBuckets,
  cache,
  inbox,
  hybrid,
] as const satisfies readonly StrategyDescriptor[]

/** Every strategy, in the order of the documents. */
export const strategies = [
  fanoutOnRead,
  ...materialised,
] as const satisfies readonly StrategyTexts[]

type Materialised = (typeof materialised)[number]

/** The strategies that can assemble a timeline. `FeedConfig.maintained` lists the strategies that a process serves. */
export type FeedStrategyName = (typeof strategies)[number]['name']
export const feedStrategyNames: readonly FeedStrategyName[] = strategies.map(({ name }) => name)

/** The strategies that store timelines. */
export type MaterialisedName = Materialised['name']
export const materialisedNames: readonly MaterialisedName[] = materialised.map(({ name }) => name)
export const isMaterialised = (name: FeedStrategyName): name is MaterialisedName =>
  name !== fanoutOnRead.name

/** Whether a strategy stores the posts of all authors, so that its timelines change only by writes to them. */
export const storesAllPosts = (name: FeedStrategyName): boolean =>
  isMaterialised(name) && descriptors[name].authors === 'all'

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

/** The filters of the strategies that do not store the posts of all authors. */
export type AuthorFilters = ReadonlyMap<MaterialisedName, AuthorFilter>

/** Creates the filter of each strategy that has one. */
export const createFilters = (parts: StrategyParts): AuthorFilters =>
  new Map(
    materialised.flatMap(({ name, authors }) =>
      authors === 'all' ? [] : [[name, authors(parts)] as const],
    ),
  )

/** The other strategies that store in a collection of this one. */
export const sharersOf = (name: MaterialisedName): readonly MaterialisedName[] =>
  materialisedNames.filter(
    (other) =>
      other !== name &&
      descriptors[other].collections.shared.some((one) =>
        descriptors[name].collections.shared.includes(one),
      ),
  )
