import { ArgsType, Field, Int } from 'type-graphql'
import { badInput } from '../errors.ts'
import type { TimeId } from '../lib/ids.ts'
import { type Page, pageSizeMax, type Window } from '../lib/page.ts'
import { cursorOf, parseCursor } from './node-id.ts'

/** The page size of a connection without `first` and `last`. */
export const pageSizeDefault = 20

@ArgsType()
export class ConnectionArgs {
  @Field(() => Int, {
    nullable: true,
    description: `Number of items from the start of the list, 0 to ${pageSizeMax}. Default: ${pageSizeDefault}, unless last is set.`,
  })
  readonly first?: number | null

  @Field(() => String, {
    nullable: true,
    description:
      'Returns only items after this cursor. In a list sorted newest first, these are older.',
  })
  readonly after?: string | null

  @Field(() => Int, {
    nullable: true,
    description: `Number of items from the end of the list, 0 to ${pageSizeMax}. Do not combine it with first.`,
  })
  readonly last?: number | null

  @Field(() => String, {
    nullable: true,
    description:
      'Returns only items before this cursor. In a list sorted newest first, these are newer.',
  })
  readonly before?: string | null
}

/**
 * Converts Relay's four arguments to a window of a list.
 * @throws {DomainError} BAD_USER_INPUT with the name of the argument.
 * @see https://relay.dev/graphql/connections.htm
 */
export function windowOf({ first, after, last, before }: ConnectionArgs): Window {
  if (first != null && last != null) throw badInput('last', 'cannot be combined with first')
  const argument = last == null ? 'first' : 'last'
  const limit = first ?? last ?? pageSizeDefault
  if (limit < 0 || limit > pageSizeMax) throw badInput(argument, `must be from 0 to ${pageSizeMax}`)
  return {
    limit,
    backward: last != null,
    ...(after == null ? {} : { after: parseCursor('after', after) }),
    ...(before == null ? {} : { before: parseCursor('before', before) }),
  }
}

/** A connection as resolvers return it. Its values are plain, so no field below costs a promise. */
export interface ConnectionSource<Edge> {
  readonly edges: readonly Edge[]
  readonly pageInfo: {
    readonly hasNextPage: () => boolean | Promise<boolean>
    readonly hasPreviousPage: () => boolean | Promise<boolean>
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

/** An edge that encodes its cursor only if a client selects it, since a page has many edges. */
class PresentedEdge {
  constructor(private readonly place: TimeId) {}

  get cursor(): string {
    return cursorOf(this.place)
  }
}

/** Converts a page to a Relay connection. */
export function connectionFrom<
  T extends { readonly id: TimeId; readonly place?: TimeId | undefined },
  Extra extends object,
>(page: Page<T>, edgeOf: (item: T) => Extra): ConnectionSource<Extra & { cursor: string }> {
  const edges = page.items.map((item) =>
    Object.assign(new PresentedEdge(item.place ?? item.id), edgeOf(item)),
  )
  return {
    edges,
    pageInfo: {
      hasNextPage: page.hasNextPage,
      hasPreviousPage: page.hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}
