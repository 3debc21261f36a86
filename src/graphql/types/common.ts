import {
  type ClassType,
  Field,
  ID,
  Int,
  InterfaceType,
  ObjectType,
  registerEnumType,
} from 'type-graphql'
import { edgeSources } from '../../db/collections.ts'
import { errorCodes } from '../../errors.ts'
import { feedStrategyNames, strategies } from '../../timeline/strategies/list.ts'

@InterfaceType({
  description: 'An object with a global id. The node query reads it by this id.',
  resolveType: ({ __typename }: { __typename: string }) => __typename,
})
export abstract class Node {
  @Field(() => ID, { description: 'The global id, unique among all objects.' })
  readonly id!: string
}

@ObjectType({ simpleResolvers: true, description: 'Position of a page in its list.' })
export class PageInfo {
  @Field(() => Boolean, {
    description: 'Whether an item follows the last edge of the page. The value is exact.',
  })
  readonly hasNextPage!: boolean

  @Field(() => Boolean, {
    description: 'Whether an item precedes the first edge of the page. The value is exact.',
  })
  readonly hasPreviousPage!: boolean

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the first edge, or null if the page is empty.',
  })
  readonly startCursor!: string | null

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last edge, or null if the page is empty.',
  })
  readonly endCursor!: string | null
}

const cursorDescription =
  'Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy.'

/** The base of an edge type. `node` is null if the item was deleted while the page was read. */
export function edgeOf<N extends object>(node: () => ClassType<N>, item: string) {
  @ObjectType({ simpleResolvers: true })
  abstract class Edge {
    @Field(() => String, { description: cursorDescription })
    readonly cursor!: string

    @Field(node, {
      nullable: true,
      description: `${item}, or null if it was deleted while this page was being read.`,
    })
    readonly node!: N | null
  }
  return Edge
}

/** The base of a connection type: a page of edges, newest first. */
export function connectionOf<E extends object>(edge: () => ClassType<E>) {
  @ObjectType({ simpleResolvers: true })
  abstract class Connection {
    @Field(() => [edge()], {
      description: 'The edges of this page. Their order is the same for first and last.',
    })
    readonly edges!: E[]

    @Field(() => PageInfo, { description: 'Position of this page in the list.' })
    readonly pageInfo!: PageInfo
  }
  return Connection
}

/** The base of a connection type that also counts its list. */
export function countedConnectionOf<E extends object>(
  edge: () => ClassType<E>,
  description: string,
) {
  @ObjectType({ simpleResolvers: true })
  abstract class CountedConnection extends connectionOf(edge) {
    @Field(() => Int, { nullable: true, description })
    readonly totalCount!: number | null
  }
  return CountedConnection
}

/** An enum of the schema whose names are its values. */
export const asEnum = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, name])) as { readonly [N in Name]: N }

export const EdgeSourceEnum = asEnum(edgeSources)
registerEnumType(EdgeSourceEnum, {
  name: 'EdgeSource',
  description: 'Origin of a follow.',
  valuesConfig: {
    FEEDLINE: { description: 'Created in Feedline.' },
    TWITTER: { description: 'Imported from Twitter.' },
    FACEBOOK: { description: 'Imported from Facebook.' },
    MEDIUM: { description: 'Imported from Medium.' },
    IMPORT: { description: 'Imported from an edge list file.' },
  },
})

export const FeedStrategyEnum = asEnum(feedStrategyNames)
registerEnumType(FeedStrategyEnum, {
  name: 'FeedStrategy',
  description:
    'How the server assembles a timeline. The server rejects strategies that it does not maintain.',
  valuesConfig: Object.fromEntries(
    strategies.map(({ name, description }) => [name, { description }]),
  ),
})

export const ErrorCodeEnum = asEnum(Object.keys(errorCodes) as (keyof typeof errorCodes)[])
registerEnumType(ErrorCodeEnum, {
  name: 'ErrorCode',
  description: 'The values of `extensions.code` in an error.',
  valuesConfig: Object.fromEntries(
    Object.entries(errorCodes).map(([code, { meaning }]) => [code, { description: meaning }]),
  ),
})
