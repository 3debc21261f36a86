import type { GraphQLSchema } from 'graphql'
import { profileLeaves } from '../entities/account.ts'
import { namesOf } from '../entities/leaves.ts'

/** What one value of a response costs. All other prices are multiples of it. */
export const valuePrice = 1

/**
 * What a value costs that is a few bytes of a text, which is priced as well: the fields of a facet
 * but its user. A page of 100 posts with ten facets each would otherwise cost more than a request
 * may.
 */
export const facetValuePrice = 0.2
export const facetValues: ReadonlySet<string> = new Set(
  ['__typename', 'start', 'end', 'kind', 'handle', 'tag', 'url'].map(
    (field) => `TextFacet.${field}`,
  ),
)

/** What a MongoDB command costs. It takes about as long as twenty values. */
export const commandPrice = 20

/**
 * What FANOUT_ON_READ costs for each further {@link followeesPerPrice} followees: a command that
 * merges 200 lists.
 */
export const fanoutPrice = 100

/** The number of followees whose posts one command of FANOUT_ON_READ merges. */
export const followeesPerPrice = 200

/**
 * How often one timeline fans out on read at most: to create a cache, for the page, and for its
 * refill. The price of an operation with one timeline leaves out their commands for further
 * followees.
 */
export const fanOutsOfTimeline = 3

/**
 * The commands of a mutation: those of its transaction, and the read of the account of a handle.
 */
export const mutationCommands = 14

/** The fields of User that are read from the account. */
export const profileFields = ['handle', 'name', ...namesOf(profileLeaves), 'createdAt'] as const

/** What several fields of an object need. */
export interface Load {
  readonly name: string
  readonly commands: number
}

/** What the fields of an API cost. A key is a type and its field, such as `User.name`. */
export interface Prices {
  /**
   * The loads of objects. A load is batched, so it costs its commands once for each selection set,
   * for any number of objects and of its fields.
   */
  readonly loads: Readonly<Record<string, Load>>
  /**
   * What decides whether an object of a type exists. Other loads answer it as well, by their names:
   * the profile or the counters of an account.
   */
  readonly existence: Readonly<Record<string, { load: Load; others: readonly string[] }>>
  /**
   * The commands of fields that send their own, beyond the loads of the objects that they return.
   */
  readonly fieldCommands: Readonly<Record<string, number>>
  /**
   * What a field costs for each object beyond its commands, because they examine more index keys,
   * or have larger replies of MongoDB, than they return items.
   */
  readonly fieldPrices: Readonly<Record<string, number>>
  /** The most items of lists that have no page size. INPUT: as many as the mutation has users. */
  readonly listSizes: Readonly<Record<string, number | 'INPUT'>>
  /**
   * The commands of mutations of several users for each number of them, beyond those of any
   * mutation.
   */
  readonly batches: Readonly<Record<string, { readonly users: number; readonly commands: number }>>
  /**
   * The commands of a page of each list, with the blocks and deletions that hide its owner and its
   * items. The probe of one side, which `pageInfo` may need, costs as many.
   */
  readonly pageCommands: Readonly<Record<string, number>>
}

/** The fields of a type that one load answers. */
export const loadedBy = (
  load: Load,
  type: string,
  fields: readonly string[],
): Record<string, Load> => Object.fromEntries(fields.map((field) => [`${type}.${field}`, load]))

/** The prices of all parts of an API together. */
export const mergePrices = (all: readonly Partial<Prices>[]): Prices => {
  const merged = <Table extends keyof Prices>(table: Table): Prices[Table] =>
    Object.assign({}, ...all.map((prices) => prices[table]))
  return {
    loads: merged('loads'),
    existence: merged('existence'),
    fieldCommands: merged('fieldCommands'),
    fieldPrices: merged('fieldPrices'),
    listSizes: merged('listSizes'),
    batches: merged('batches'),
    pageCommands: merged('pageCommands'),
  }
}

/** The prices of a schema of `schema.ts`, which holds them as an extension. */
export const pricesOf = ({ extensions }: GraphQLSchema): Prices => extensions.prices as Prices
