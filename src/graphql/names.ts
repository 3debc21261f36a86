import { badInput } from '../errors.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'
import type { ConnectionArgs, ConnectionSource } from './connection.ts'
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
 * A page of a sorted list of names that is completely in memory.
 * @throws {DomainError} BAD_USER_INPUT with the name of the argument.
 */
export function pageOfNames(
  names: readonly string[],
  args: ConnectionArgs,
): ConnectionSource<{ cursor: string; node: { name: string } }> {
  const list = {
    items: names,
    placeOf: (name: string) => name,
    compare: compareTexts,
    cursorOf: (name: string) => encodeOpaque(tag, name),
    parseCursor: parseNameCursor,
  }
  const { edges, pageInfo } = pageOfSorted(list, args)
  return { edges: edges.map(({ cursor, item }) => ({ cursor, node: { name: item } })), pageInfo }
}
