/**
 * What is wrong with a list that the deployment returned, and the id of the post or the handle of
 * the followee.
 */
export interface Problem {
  readonly kind: 'MISSING' | 'UNEXPECTED' | 'REPEATED' | 'OUT_OF_ORDER' | 'STILL_PENDING'
  readonly item?: string
}

/** Compares the ids of a list with the right ones, in order. */
export function compareOrdered(expected: readonly string[], actual: readonly string[]): Problem[] {
  const right = new Set(expected)
  const unexpected = [...new Set(actual)].filter((item) => !right.has(item))
  const problems = [
    ...compareMembers(expected, actual),
    ...unexpected.map((item) => ({ kind: 'UNEXPECTED' as const, item })),
  ]
  if (problems.length > 0) return problems
  const at = expected.findIndex((id, place) => actual[place] !== id)
  return at < 0 ? [] : [{ kind: 'OUT_OF_ORDER', item: actual[at] ?? '' }]
}

/** Lists the items that must be in a list and are not, and those of them that are there twice. */
export function compareMembers(required: Iterable<string>, actual: readonly string[]): Problem[] {
  const counts = new Map<string, number>()
  for (const item of actual) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...new Set(required)].flatMap((item): Problem[] => {
    const count = counts.get(item) ?? 0
    if (count === 1) return []
    return [{ kind: count === 0 ? 'MISSING' : 'REPEATED', item }]
  })
}
