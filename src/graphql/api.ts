import type { NodeReaders } from './nodes.ts'
import type { Prices } from './prices.ts'

/** A class that TypeGraphQL decorates. */
export type Class = abstract new (...args: never[]) => object

/** The GraphQL API of a feature. Nothing may be left out. */
export interface Api {
  /** TypeGraphQL resolvers. They have no state: all state is in the context of the request. */
  readonly resolvers: readonly Class[]
  /** Object types that no resolver returns as such, but an interface or a loader does. */
  readonly types: readonly Class[]
  /** What reads its objects by their global ids. */
  readonly nodes: Partial<NodeReaders>
  /** What its fields cost. `tests/unit/cost.test.ts` finds a field without a price. */
  readonly prices: Partial<Prices>
}
