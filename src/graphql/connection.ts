import { ArgsType, Field, Int } from 'type-graphql'
import { badInput, checkAll } from '../errors.ts'
import type { TimeId } from '../lib/ids.ts'
import { type Page, pageSizeMax, type Window } from '../lib/page.ts'
import { type CursorCodec, timeCursors } from '../pages/cursor.ts'

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
    description: `Number of items from the end of the list, 0 to ${pageSizeMax}. Only one of first and last may be set.`,
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
 * @throws {DomainError} BAD_USER_INPUT with the names of all wrong arguments.
 * @see https://relay.dev/graphql/connections.htm
 */
export const windowOf = (args: ConnectionArgs): Window => windowWith(args, timeCursors.parse)

/** As {@link windowOf}, for a list with other cursors. */
export function windowWith<Place>(
  { first, after, last, before }: ConnectionArgs,
  parse: (argument: 'after' | 'before', text: string) => Place,
): Window<Place> {
  const checked = checkAll({
    first: () => checkSize('first', first),
    last: () => checkSize('last', last),
    // Relay sends both if the variable of one has a default value.
    both: () => checkOneSize(first, last),
    after: () => (after == null ? undefined : parse('after', after)),
    before: () => (before == null ? undefined : parse('before', before)),
  })
  return {
    limit: checked.first ?? checked.last ?? pageSizeDefault,
    backward: last != null,
    ...(checked.after === undefined ? {} : { after: checked.after }),
    ...(checked.before === undefined ? {} : { before: checked.before }),
  }
}

function checkSize(
  argument: 'first' | 'last',
  size: number | null | undefined,
): number | undefined {
  if (size == null) return undefined
  if (size < 0 || size > pageSizeMax) throw badInput(argument, `must be from 0 to ${pageSizeMax}`)
  return size
}

function checkOneSize(first: number | null | undefined, last: number | null | undefined): void {
  if (first == null || last == null) return
  throw badInput(
    'last',
    'cannot be combined with first. Send one of them, and null for the other. A default value of a variable also counts as sent',
  )
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
class PresentedEdge<Place> {
  constructor(
    private readonly place: Place,
    private readonly codec: CursorCodec<Place>,
  ) {}

  get cursor(): string {
    return this.codec.encode(this.place)
  }
}

/** Converts a page to a Relay connection. */
export const connectionFrom = <
  T extends { readonly id: TimeId; readonly place?: TimeId | undefined },
  Extra extends object,
>(
  page: Page<T>,
  edgeOf: (item: T) => Extra,
) => connectionWith(page, edgeOf, ({ id, place }) => place ?? id, timeCursors)

/** As {@link connectionFrom}, for a list with other places. */
export function connectionWith<T, Place, Extra extends object>(
  page: Page<T>,
  edgeOf: (item: T) => Extra,
  placeOf: (item: T) => Place,
  codec: CursorCodec<Place>,
): ConnectionSource<Extra & { cursor: string }> {
  const edges = page.items.map((item) =>
    Object.assign(new PresentedEdge(placeOf(item), codec), edgeOf(item)),
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
