import { parse } from 'graphql'
import { describe, expect, test, vi } from 'vitest'
import { Plans } from '../../src/graphql/fast-path/plans.ts'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

describe('the plans of a document', () => {
  test.each([
    ['a planned operation', 'query A { timeline { servedBy } }', 'A'],
    [
      'an operation that only graphql-js answers',
      'query A { timeline { edges { node { likes(first: 1) { totalCount } } } } }',
      'A',
    ],
    [
      'such an operation without a name',
      '{ timeline { edges { node { likes(first: 1) { totalCount } } } } }',
      undefined,
    ],
  ])('are made once for %s', (_, text, name) => {
    const plans = new Plans(schema)
    const document = parse(text)
    const planning = vi.spyOn(schema, 'getQueryType')
    const first = plans.find(document, name)
    expect(planning).toHaveBeenCalledTimes(1)
    expect(plans.find(document, name)).toBe(first)
    expect(planning).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['a timeline', '{ timeline { edges { node { text } } } }', true],
    ['its news', '{ timelineNews(since: "x") { count changed authors { name } } }', true],
    [
      'a field of authors that a command answers',
      '{ timelineNews(since: "x") { authors { followerCount } } }',
      false,
    ],
    ['two fields', '{ timelineNews(since: "x") { count } timeline { servedBy } }', false],
    ['a directive', '{ timelineNews(since: "x") @include(if: true) { count } }', false],
    ['another field', '{ viewer { id } }', false],
  ])('answer %s: %s', (_, text, isPlanned) => {
    expect(new Plans(schema).find(parse(text), undefined) !== undefined).toBe(isPlanned)
  })

  test('are made for no operation that it does not have', () => {
    const plans = new Plans(schema)
    const document = parse('query A { timeline { servedBy } } query B { timeline { servedBy } }')
    const planning = vi.spyOn(schema, 'getQueryType')
    for (const name of ['C', '', undefined]) expect(plans.find(document, name)).toBeUndefined()
    expect(planning).not.toHaveBeenCalled()
  })

  test('are few at a time', () => {
    const plans = new Plans(schema)
    const names = Array.from({ length: 100 }, (_, n) => `Q${n}`)
    const document = parse(names.map((name) => `query ${name} { timeline { servedBy } }`).join(' '))
    const made = names.map((name) => plans.find(document, name))
    expect(new Set(made).size).toBe(names.length)
    const again = names.toReversed().map((name) => plans.find(document, name))
    const kept = again.filter((plan) => made.includes(plan))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThanOrEqual(10)
  })
})
