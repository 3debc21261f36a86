import type { FollowingMode } from '../config.ts'
import type { Shape } from './shape.ts'

/** One index. A comment in the catalogue names its purpose. */
export interface IndexSpec {
  readonly key: Readonly<Record<string, 1 | -1>>
  /** Required if another index has or had the same key. Default: MongoDB's name for the key. */
  readonly name?: string
  readonly unique?: true
  /** The index contains only matching documents. */
  readonly partialFilterExpression?: Readonly<Record<string, unknown>>
  readonly expireAfterSeconds?: number
  /** No import reads it. An import into a new database builds it at its end, from sorted keys. */
  readonly afterImport?: true
  /** Only databases with this `FOLLOWING` have it. */
  readonly following?: FollowingMode
}

/**
 * Where the first field of a shard key holds the account that decides the shard:
 * - `whole`: its value is the id of an account;
 * - `within`: its value is a document, and this is its first field.
 */
export type AccountPlace = 'whole' | { readonly within: string }

/**
 * The indexes of a collection, its shard key on a sharded cluster, and the shape of its documents.
 * A change takes a migration, but a new optional field takes none. An index whose definition
 * changes gets a new name, so that it is built beside the old one.
 */
export interface CollectionSpec {
  /** What a document is, for docs/explanation/architecture.md. */
  readonly about: string
  readonly indexes: readonly IndexSpec[]
  /** Stores documents in the order of `_id`, without an index on `_id`. */
  readonly clustered?: true
  /**
   * Undefined for a collection that stays on one shard: it is small, or only operators read it.
   * Hashed if new values grow with time, or hold no account.
   */
  readonly shardKey?: Readonly<Record<string, 1 | 'hashed'>>
  /**
   * Required for a shard key that is not hashed: ranges of accounts decide the shard, the same in
   * all collections.
   */
  readonly accountIn?: AccountPlace
  /** The shape of its documents, for the check of integrity and for reads. */
  readonly shape?: Shape
  /** Repairs derive all its documents from others. So a malformed one is deleted. */
  readonly derived?: true
}

declare const stored: unique symbol

/** The type of what a collection stores. */
interface Stores<Doc> {
  readonly [stored]?: Doc
}

export type DocumentOf<Spec> = Spec extends Stores<infer Doc> ? Doc : never

/** A collection of documents of one type. */
export const collectionOf =
  <Doc extends object>() =>
  <const Spec extends CollectionSpec>(spec: Spec): Spec & Stores<Doc> =>
    spec
