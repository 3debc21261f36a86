import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkDocument, readTokens } from '../../src/graphql/check-document.ts'
import { limits } from '../../src/graphql/limits.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { arbitraryDocument } from '../support/documents.ts'
import { hostileDocuments } from '../support/hostile-documents.ts'
import { lawSeed } from '../support/seed.ts'

const schema = createSchema()

/** Whether a document is valid, or the code and the limit of its first error. */
function outcomeOf(text: string) {
  const { error } = readTokens(text)
  const checked = error ? [error] : checkDocument(schema, text, { introspection: false })
  if ('kind' in checked) return { code: 'OK' }
  const messages = checked.map(({ message }) => message)
  expect(messages.length).toBeLessThanOrEqual(20)
  expect(messages.join()).not.toMatch(/Validation aborted|Did you mean/)
  const { code, limit } = checked[0]?.extensions ?? {}
  return { code, ...(limit === undefined ? {} : { limit }) }
}

test.each(hostileDocuments)('the document of $name is $outcome', ({ text, outcome }) => {
  const { code, limit } = outcomeOf(text)
  expect(limit ?? code).toBe(outcome)
})

test('the price of a text is one unit for four tokens and for 500 characters, of the tokens that are read', () => {
  expect(readTokens('{ viewer { handle } }').price).toBe(2)
  expect(readTokens(`{ ${'a '.repeat(1_998)}}`)).toMatchObject({ price: 508, error: undefined })
  expect(readTokens(`{ ${'a '.repeat(40_000)}}`).price).toBe(661)
  expect(readTokens('#'.repeat(90_000))).toMatchObject({ price: 180, error: undefined })
  expect(readTokens('{ "').price).toBe(1)
})

test('a document has a valid answer or documented errors, whatever it selects', () => {
  const text = fc.oneof(
    arbitraryDocument(schema, { depthMax: 4, widthMax: 5, wrongPercent: 0 }),
    arbitraryDocument(schema, { depthMax: 3, widthMax: 8, wrongPercent: 10 }),
    fc.string(),
  )
  fc.assert(
    fc.property(text, (one) => {
      const { code, limit } = outcomeOf(one)
      expect([
        'OK',
        'GRAPHQL_PARSE_FAILED',
        'GRAPHQL_VALIDATION_FAILED',
        'LIMIT_EXCEEDED',
      ]).toContain(code)
      expect(code === 'LIMIT_EXCEEDED').toBe(String(limit) in limits)
    }),
    { numRuns: 100, ...lawSeed() },
  )
})
