import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kind, type OperationDefinitionNode, parse } from 'graphql'

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

/** Some files of schema/operations, parsed. */
export const readDocuments = async (names: readonly string[]) =>
  Promise.all(
    names.map(async (name) => parse(await readFile(join(folder, `${name}.graphql`), 'utf8'))),
  )

/** The operations of some files of schema/operations, as the files define them. */
export async function readOperations(names: readonly string[]): Promise<OperationDefinitionNode[]> {
  return (await readDocuments(names))
    .flatMap(({ definitions }) => definitions)
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
}
