import {
  type ClassType,
  Field,
  ID,
  InterfaceType,
  ObjectType,
  registerEnumType,
} from 'type-graphql'
import { feedStrategyNames } from '../../config.ts'
import { edgeSources } from '../../db/collections.ts'
import { errorCodes } from '../../errors.ts'

@InterfaceType({
  description: 'Whatever has an id of its own, and can be read again by it.',
  resolveType: ({ __typename }: { __typename: string }) => __typename,
})
export abstract class Node {
  @Field(() => ID, { description: 'Names this object among all others.' })
  readonly id!: string
}

@ObjectType({ simpleResolvers: true, description: 'Where a page lies in its list.' })
export class PageInfo {
  @Field(() => Boolean, {
    description: 'Whether something comes after the last edge, which is older. Exact.',
  })
  readonly hasNextPage!: boolean

  @Field(() => Boolean, {
    description: 'Whether something comes before the first edge, which is newer. Exact.',
  })
  readonly hasPreviousPage!: boolean

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the first edge; null on an empty page.',
  })
  readonly startCursor!: string | null

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last edge; null on an empty page.',
  })
  readonly endCursor!: string | null
}

const cursorDescription =
  'This place in the list. Stays valid when what stood here is gone, and under every strategy.'

/** The base of an edge type. `node` is null for what vanished while the page was read. */
export function edgeOf<N extends object>(node: () => ClassType<N>, description: string) {
  @ObjectType({ simpleResolvers: true })
  abstract class Edge {
    @Field(() => String, { description: cursorDescription })
    readonly cursor!: string

    @Field(node, {
      nullable: true,
      description: `${description} Null when it vanished this very moment.`,
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
      description: 'The page, newest first whichever way it was asked for.',
    })
    readonly edges!: E[]

    @Field(() => PageInfo, { description: 'Where the page lies in the list.' })
    readonly pageInfo!: PageInfo
  }
  return Connection
}

/** An enum of the schema whose names are its values. */
export const asEnum = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, name])) as { readonly [N in Name]: N }

export const EdgeSourceEnum = asEnum(edgeSources)
registerEnumType(EdgeSourceEnum, {
  name: 'EdgeSource',
  description: 'Where a follow came from.',
  valuesConfig: {
    FEEDLINE: { description: 'Made here.' },
    TWITTER: { description: 'Carried over from Twitter.' },
    FACEBOOK: { description: 'Carried over from Facebook.' },
    MEDIUM: { description: 'Carried over from Medium.' },
    IMPORT: { description: 'Loaded from a file.' },
  },
})

export const FeedStrategyEnum = asEnum(feedStrategyNames)
registerEnumType(FeedStrategyEnum, {
  name: 'FeedStrategy',
  description: 'How a timeline is assembled. A server refuses those that it does not maintain.',
  valuesConfig: {
    FANOUT_ON_READ: { description: 'When it is read, from the posts of everyone followed.' },
    TIME_BUCKETS: { description: 'When posts are written, into one document a reader and period.' },
    SIZED_BUCKETS: {
      description: 'When posts are written, into documents of a fixed number of entries.',
    },
    CACHE: {
      description: 'When posts are written, into one capped document for each active reader.',
    },
    INBOX: { description: 'When posts are written, as one small entry a reader and post.' },
    HYBRID: { description: 'As INBOX, but authors with very many followers are read when asked.' },
  },
})

export const ErrorCodeEnum = asEnum(Object.keys(errorCodes) as (keyof typeof errorCodes)[])
registerEnumType(ErrorCodeEnum, {
  name: 'ErrorCode',
  description: 'What `extensions.code` of an error may be.',
  valuesConfig: Object.fromEntries(
    Object.entries(errorCodes).map(([code, { meaning }]) => [code, { description: meaning }]),
  ),
})
