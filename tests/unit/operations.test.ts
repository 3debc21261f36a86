import { Kind } from 'graphql'
import { expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'
import { filesByTest, readFileNames, readOperations } from '../support/written-operations.ts'

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
