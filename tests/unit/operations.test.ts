import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  getNamedType,
  isInputObjectType,
  Kind,
  type NamedTypeNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql'
import { expect, test } from 'vitest'
import { requireId } from '../../scripts/require-id.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { root } from '../support/process.ts'
import {
  filesByTest,
  readDefinitions,
  readFileNames,
  readOperations,
} from '../support/written-operations.ts'

const schema = createSchema()

test('every field of Query and Mutation is used by an operation of schema/operations', async () => {
  const written = await readOperations(await readFileNames())
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    const used = written
      .filter(({ operation }) => schema.getRootType(operation)?.name === root?.name)
      .flatMap(({ selectionSet }) => selectionSet.selections)
      .map((selection) => (selection.kind === Kind.FIELD ? selection.name.value : ''))
    const fields = Object.keys(root?.getFields() ?? {})
    expect(fields.length).toBeGreaterThan(5)
    expect(fields.filter((name) => !used.includes(name))).toEqual([])
  }
})

test('every file of schema/operations that has operations has a test that executes them', async () => {
  const tested: string[] = Object.values(filesByTest).flat()
  const untested = (await readFileNames()).filter((name) => !tested.includes(name))
  expect(await readOperations(untested)).toEqual([])
})

test('a selection without the id of an object that has one is found, also behind a fragment', () => {
  const problemsOf = (text: string) =>
    validate(schema, parse(text), [requireId]).map(({ message }) => message)
  expect(problemsOf('{ viewer { handle } }')).toEqual(['"viewer" selects no id of its Viewer'])
  expect(problemsOf('{ me: viewer { id: handle user { name } } }')).toHaveLength(2)
  expect(problemsOf('{ viewer { ...A } } fragment A on Viewer { handle }')).toHaveLength(1)
  expect(problemsOf('{ node(id: "x") { ... on Post { text author { name } } } }')).toHaveLength(2)
  expect(
    problemsOf('{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { id }'),
  ).toEqual([])
  expect(problemsOf('{ node(id: "x") { ... on Post { id } } limits { pageSizeMax } }')).toEqual([])
})

test('no operation has the name of another one or of a fragment: generators make types of both', async () => {
  const definitions = await readDefinitions(await readFileNames())
  const names = definitions.map((each) => 'name' in each && each.name?.value)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('no operation of the Rust program has an input as a variable, whose new optional field would break its literals', async () => {
  const text = await readFile(join(root, 'examples/rust/operations.graphql'), 'utf8')
  const variables = parse(text).definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
  )
  const types = variables.map(({ type }) => typeFromAST(schema, type as NamedTypeNode))
  expect(types.length).toBeGreaterThan(10)
  expect(types.filter((type) => isInputObjectType(getNamedType(type))).map(String)).toEqual([])
})
