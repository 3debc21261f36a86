import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'

const folder = join(import.meta.dirname, '../../schema/operations')

/** The files of schema/operations, by the test file of tests/e2e that executes their operations. */
export const filesByTest = {
  operations: ['engagement', 'limits', 'node', 'post', 'timeline'],
  'people-operations': ['account', 'relation', 'user', 'viewer'],
  'app-operations': ['app'],
} as const

/** The names of all files, without their ending. */
export const readFileNames = async (): Promise<string[]> =>
  (await readdir(folder)).flatMap((name) =>
    name.endsWith('.graphql') ? [name.slice(0, -'.graphql'.length)] : [],
  )

/** What some files of schema/operations define. */
export async function readDefinitions(names: readonly string[]): Promise<DefinitionNode[]> {
  const texts = await Promise.all(
    names.map((name) => readFile(join(folder, `${name}.graphql`), 'utf8')),
  )
  return texts.flatMap((text) => parse(text).definitions)
}

/** The operations of some files of schema/operations, as the files define them. */
export const readOperations = async (
  names: readonly string[],
): Promise<OperationDefinitionNode[]> =>
  (await readDefinitions(names)).filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  )
