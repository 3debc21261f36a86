import { badInput } from '../errors.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'
import {
  type ConnectionArgs,
  type ConnectionSource,
  type WindowOf,
  windowWith,
} from './connection.ts'
import { compareTexts, pageOfSorted } from './sorted-list.ts'

/** The tag of cursors in lists of names. */
const tag = 'Name'

function parseNameCursor(argument: string, text: string): string {
  const { tag: found, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  if (found !== tag || parts[0] === undefined) {
    throw badInput(argument, 'is not a cursor of this server')
  }
  return parts[0]
}

/**
 * Converts the arguments of a list of names to a window.
 * @throws {DomainError} BAD_USER_INPUT with the names of all wrong arguments.
 */
export const nameWindowOf = (args: ConnectionArgs): WindowOf<string> =>
  windowWith(args, parseNameCursor)

/** A page of a sorted list of names that is completely in memory. */
export function pageOfNames(
  names: readonly string[],
  window: WindowOf<string>,
): ConnectionSource<{ cursor: string; node: { name: string } }> {
  const list = {
    items: names,
    placeOf: (name: string) => name,
    compare: compareTexts,
    cursorOf: (name: string) => encodeOpaque(tag, name),
  }
  const { edges, pageInfo } = pageOfSorted(list, window)
  return { edges: edges.map(({ cursor, item }) => ({ cursor, node: { name: item } })), pageInfo }
}
