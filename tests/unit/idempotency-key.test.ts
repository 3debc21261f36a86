import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import { handle } from '../support/services.ts'

const viewer = handle('ann')
const fingerprintOf = (mutation: string, input: object) =>
  createIdempotencyKey(viewer, mutation, { ...input, clientMutationId: 'a' })?.fingerprint.toString(
    'hex',
  )

/**
 * Values as GraphQL delivers them, of few fields and leaves, so that two of them are often alike.
 */
const { input } = fc.letrec<{ value: unknown; input: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, '', 'a', '1', new Date(0), new Date(1)),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('input'),
  ),
  input: fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__'), tie('value'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
}))

/** The same value with the fields of every object in another order. */
function reordered(value: unknown, random: (below: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, random))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const fields = Object.entries(value).map(([name, field]) => [name, reordered(field, random)])
  for (let at = fields.length - 1; at > 0; at--) {
    const other = random(at + 1)
    ;[fields[at], fields[other]] = [fields[other] as never, fields[at] as never]
  }
  return Object.fromEntries(fields)
}

test('the order of fields changes no fingerprint of a mutation', () => {
  const permutations = fc.infiniteStream(fc.nat({ max: 1_000 }))
  fc.assert(
    fc.property(input, permutations, (value, numbers) => {
      const random = (below: number) => (numbers.next().value as number) % below
      const other = reordered(value, random) as object
      expect(fingerprintOf('createPost', other)).toBe(fingerprintOf('createPost', value))
    }),
  )
})

test('two inputs have the same fingerprint only if they are equal, and no two mutations have', () => {
  let alike = 0
  fc.assert(
    fc.property(input, input, (one, other) => {
      const isSame = fingerprintOf('createPost', one) === fingerprintOf('createPost', other)
      if (isSame) alike++
      expect(isSame).toBe(isDeepStrictEqual(one, other))
      expect(fingerprintOf('addComment', one)).not.toBe(fingerprintOf('createPost', one))
    }),
    { numRuns: 1_000, examples: [[{ a: new Date(0) }, { a: new Date(1) }]] },
  )
  expect(alike).toBeGreaterThan(0)
})
