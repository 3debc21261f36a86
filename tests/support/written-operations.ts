import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kind, type OperationDefinitionNode, parse } from 'graphql'

const folder = join(import.meta.dirname, '../../schema/operations')

/** All operations of schema/operations, as their files define them. */
export async function readOperations(): Promise<OperationDefinitionNode[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.graphql'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  return texts
    .flatMap((text) => parse(text).definitions)
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
}
