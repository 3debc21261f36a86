import { badInput } from '../errors.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'
import { type ConnectionArgs, type ConnectionSource, windowOf } from './connection.ts'

/** The tag of cursors in lists of names. All other cursors carry an id. */
const tag = 'Name'

function parseNameCursor(argument: string, text: string): string {
  const { tag: found, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  if (found !== tag || parts[0] === undefined) {
    throw badInput(argument, 'is not a cursor of this server')
  }
  return parts[0]
}

/**
 * A page of a sorted list of names that is completely in memory.
 * @throws {DomainError} BAD_USER_INPUT with the name of the argument.
 */
export function pageOfNames(
  names: readonly string[],
  { after, before, ...size }: ConnectionArgs,
): ConnectionSource<{ cursor: string; node: { name: string } }> {
  const { limit, backward } = windowOf(size)
  const from = after == null ? undefined : parseNameCursor('after', after)
  const to = before == null ? undefined : parseNameCursor('before', before)
  const within = names.filter(
    (name) => (from === undefined || name > from) && (to === undefined || name < to),
  )
  const page = backward ? within.slice(Math.max(0, within.length - limit)) : within.slice(0, limit)
  const edges = page.map((name) => ({ cursor: encodeOpaque(tag, name), node: { name } }))
  const [start, end] = [edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null]
  const beyond = within.length > page.length
  return {
    edges,
    pageInfo: {
      hasNextPage: () =>
        (!backward && beyond) || names.some((name) => to !== undefined && name >= to),
      hasPreviousPage: () =>
        (backward && beyond) || names.some((name) => from !== undefined && name <= from),
      startCursor: start,
      endCursor: end,
    },
  }
}
