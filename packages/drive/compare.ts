/** What is wrong with a list that the deployment returned. */
export type DifferenceKind =
  | 'MISSING'
  | 'UNEXPECTED'
  | 'REPEATED'
  | 'OUT_OF_ORDER'
  | 'STILL_PENDING'

/** A wrong list of a user. */
export interface Difference {
  /** The handle of the user. */
  readonly reader: string
  /** The list: `timeline INBOX`, `poll`, `posts`, `following` or `likedPosts`. */
  readonly list: string
  readonly kind: DifferenceKind
  /** The id of the post, or the handle of the followee. */
  readonly item?: string
}

type Found = Pick<Difference, 'kind' | 'item'>

/** Compares the ids of a list with the right ones, in order. */
export function compareOrdered(expected: readonly string[], actual: readonly string[]): Found[] {
  const found = [...compareMembers(expected, actual), ...findUnexpected(expected, actual)]
  if (found.length > 0) return found
  const at = expected.findIndex((id, place) => actual[place] !== id)
  return at < 0 ? [] : [{ kind: 'OUT_OF_ORDER', item: actual[at] ?? '' }]
}

/** Finds the items of a list that must be there and are not, and those of them that are there twice. */
export function compareMembers(required: Iterable<string>, actual: readonly string[]): Found[] {
  const counts = new Map<string, number>()
  for (const item of actual) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...new Set(required)].flatMap((item): Found[] => {
    const count = counts.get(item) ?? 0
    if (count === 1) return []
    return [{ kind: count === 0 ? 'MISSING' : 'REPEATED', item }]
  })
}

function findUnexpected(expected: readonly string[], actual: readonly string[]): Found[] {
  const right = new Set(expected)
  return [...new Set(actual)]
    .filter((item) => !right.has(item))
    .map((item) => ({ kind: 'UNEXPECTED', item }))
}
