import type { Collection, CollectionOptions, Db, IndexSpecification } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import { engagementCollections } from '../engagement/collections.ts'
import { followCollections } from '../follows/collections.ts'
import { jobCollections } from '../jobs/collections.ts'
import { postCollections } from '../posts/collections.ts'
import { timelineCollections } from '../timeline/collections.ts'
import { accountCollections } from '../users/collections.ts'
import type { CollectionSpec, DocumentOf, IndexSpec } from './collection-spec.ts'
import { coreCollections } from './core-collections.ts'

export * from '../engagement/collections.ts'
export * from '../follows/collections.ts'
export * from '../jobs/collections.ts'
export * from '../posts/collections.ts'
export * from '../timeline/collections.ts'
export * from '../users/collections.ts'
export * from './collection-spec.ts'
export * from './core-collections.ts'

/** The collections of each feature. */
export const featureCollections = {
  accounts: accountCollections,
  follows: followCollections,
  posts: postCollections,
  engagement: engagementCollections,
  timelines: timelineCollections,
}
const allCollections = {
  ...featureCollections,
  jobs: jobCollections,
  core: coreCollections,
}

type All = (typeof allCollections)[keyof typeof allCollections]
type Joined<Each> = (Each extends unknown ? (each: Each) => void : never) extends (
  all: infer Specs,
) => void
  ? Specs
  : never

/** Every collection by its name. */
export const specs = Object.assign({}, ...Object.values(allCollections)) as Joined<All>
type Specs = typeof specs

/** The document type of each collection. */
export type Documents = { [Name in keyof Specs]: DocumentOf<Specs[Name]> }
export type CollectionName = keyof Specs
export type Collections = {
  readonly [Name in CollectionName]: Collection<Documents[Name]>
}

/** The names of all collections. */
export const collectionNames = Object.keys(specs) as CollectionName[]

/** Every collection with its indexes and shard key. */
export const catalogue = (
  following: FollowingMode,
): Readonly<Record<CollectionName, CollectionSpec>> =>
  Object.fromEntries(
    Object.entries<CollectionSpec>(specs).map(([name, spec]) => [
      name,
      {
        ...spec,
        indexes: spec.indexes.filter((index) => (index.following ?? following) === following),
      },
    ]),
  ) as unknown as Record<CollectionName, CollectionSpec>

/** The table of docs/explanation/architecture.md. */
export const collectionTable = (): readonly (readonly string[])[] => [
  ['collection', 'a document is'],
  ...Object.entries<CollectionSpec>(specs).map(([name, { about }]) => [`\`${name}\``, about]),
]

/** The typed handles of all collections. */
export const openCollections = (db: Db, options: CollectionOptions = {}): Collections =>
  Object.fromEntries(
    collectionNames.map((name) => [name, db.collection(name, options)]),
  ) as unknown as Collections

/** An index's specification in the driver's own type. */
export const driverKey = (spec: IndexSpec): IndexSpecification => ({ ...spec.key })
