import fc from 'fast-check'
import {
  buildSchema,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { expect, test } from 'vitest'
import { findConflict } from '../../src/graphql/merged-fields.ts'
import { arbitraryDocument } from '../support/documents.ts'
import { noteFact } from '../support/facts.ts'
import { lawSeed } from '../support/seed.ts'

/** Types whose fields have one name and differ in shape, arguments and nullability. */
const schema = buildSchema(`
  interface Node { id: ID!, name(a: Int, b: [Int], c: In): String, self: Node, size: Int }
  input In { x: Int, y: Int }
  type Dog implements Node {
    id: ID!, name(a: Int, b: [Int], c: In): String, self: Node, size: Int
    weight: Int!, tags: [String], owner: Human, other: Dog
  }
  type Human implements Node {
    id: ID!, name(a: Int, b: [Int], c: In): String, self: Node, size: Int
    weight: String, tags: [String!], owner: Dog, other: [Human]
  }
  union Being = Dog | Human
  type Query { node: Node, dog(id: ID): Dog, human: Human, being: Being, beings: [Being] }
`)
const others = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule)

test('fields conflict in the documents in which graphql-js finds a conflict, and in no other', () => {
  const counts = { conflicts: 0, none: 0, invalid: 0 }
  fc.assert(
    fc.property(
      arbitraryDocument(schema, { depthMax: 3, widthMax: 3, wrongPercent: 0 }),
      (text) => {
        const document = parse(text)
        if (validate(schema, document, others).length > 0) {
          counts.invalid++
          return
        }
        const theirs = validate(schema, document, [OverlappingFieldsCanBeMergedRule])
        counts[theirs.length > 0 ? 'conflicts' : 'none']++
        expect(findConflict(schema, document) !== undefined).toBe(theirs.length > 0)
      },
    ),
    { numRuns: 600, ...lawSeed() },
  )
  noteFact(`merged fields: ${JSON.stringify(counts)}`)
  expect(Math.min(counts.conflicts, counts.none)).toBeGreaterThan(40)
})

test.each([
  [
    '{ a: dog { id } a: human { id } }',
    'Fields "a" conflict because "dog" and "human" are different fields',
  ],
  [
    '{ dog(id: 1) { id } dog { id } }',
    'Fields "dog" conflict because they have differing arguments',
  ],
  [
    '{ being { ... on Dog { weight } ... on Human { weight } } }',
    'Fields "weight" conflict because they return conflicting types "Int!" and "String"',
  ],
])('the error of %s says why', (text, message) => {
  const found = findConflict(schema, parse(text))
  expect(found?.message).toBe(
    `${message}. Use different aliases on the fields to fetch both if this was intentional.`,
  )
  expect(found?.locations).toHaveLength(2)
})

test.each([
  '{ node { ... on Dog { x: __typename } ... on Human { x: weight } ... on Node { x: name } } }',
  '{ being { ... on Dog { x: __typename } ... on Human { x: weight } } }',
  '{ __schema { a: types { name } a: queryType { name } } }',
  '{ __type(name: "Dog") { fields(includeDeprecated: true) { name } fields { name } } }',
  '{ __type(name: "Dog") { fields { name } fields { name } } }',
])('fields that each type has conflict as in graphql-js: %s', (text) => {
  const document = parse(text)
  const theirs = validate(schema, document, [OverlappingFieldsCanBeMergedRule])
  expect(findConflict(schema, document) !== undefined).toBe(theirs.length > 0)
})

test('the order of arguments and of fields of an input has no meaning', () => {
  const text =
    '{ dog { name(a: 1, c: {x: 1, y: 2}) name(c: {y: 2, x: 1}, a: 1) ...f } } fragment f on Node { name(c: {y: 2, x: 1}, a: 1) }'
  expect(findConflict(schema, parse(text))).toBeUndefined()
})
