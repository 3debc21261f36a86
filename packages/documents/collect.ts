import 'reflect-metadata'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  Source,
  visit,
} from 'graphql'
import type { CollectedDocument } from '../../src/extensions.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { apolloFormat, findProblem, hashOf } from '../../src/graphql/trusted-documents.ts'

/** The form of a file of trusted documents. */
export type DocumentFormat = 'relay' | 'apollo'

/**
 * Reads the operations of all .graphql and .gql files below a folder, by name, each with its
 * fragments from any file. Adds `__typename` to each selection set except the root, as caches of
 * clients need it.
 * @throws {Error} with every problem: a file that is no GraphQL, a name that is missing or used
 * twice, a missing fragment, or an operation that the server would refuse.
 */
export async function collectDocuments(folder: string): Promise<readonly CollectedDocument[]> {
  const names = await readdir(folder, { recursive: true })
  const paths = names.filter((name) => /\.(graphql|gql)$/.test(name)).sort()
  const collection = new Collection()
  for (const path of paths) collection.addFile(path, await readFile(join(folder, path), 'utf8'))
  return collection.finish()
}

/** The text of a file of documents. */
export function formatDocuments(
  documents: readonly CollectedDocument[],
  format: DocumentFormat,
): string {
  const file =
    format === 'relay'
      ? Object.fromEntries(documents.map(({ id, body }) => [id, body]))
      : { format: apolloFormat, version: 1, operations: documents }
  return `${JSON.stringify(file, null, 2)}\n`
}

class Collection {
  private readonly operations = new Map<string, OperationDefinitionNode>()
  private readonly fragments = new Map<string, FragmentDefinitionNode>()
  private readonly problems: string[] = []

  addFile(path: string, text: string): void {
    try {
      for (const node of parse(new Source(text, path)).definitions) {
        if (node.kind === Kind.OPERATION_DEFINITION) this.add(this.operations, node, path)
        else if (node.kind === Kind.FRAGMENT_DEFINITION) this.add(this.fragments, node, path)
        else this.problems.push(`${path}: only operations and fragments are collected`)
      }
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      this.problems.push(`${path}:${error.locations?.[0]?.line ?? 1}: ${error.message}`)
    }
  }

  finish(): readonly CollectedDocument[] {
    const schema = createSchema()
    const names = [...this.operations.keys()].sort()
    const documents = names.map((name) => {
      const document = this.documentOf(this.operations.get(name) as OperationDefinitionNode)
      const body = print(addTypenames(document))
      const problem = findProblem(schema, body)
      if (problem !== undefined) this.problems.push(`${name}: ${problem}`)
      const type = this.operations.get(name)?.operation ?? 'query'
      return { id: hashOf(body), name, type, body }
    })
    if (names.length === 0 && this.problems.length === 0)
      this.problems.push('no file has an operation')
    if (this.problems.length > 0) throw new Error(this.problems.join('; '))
    return documents
  }

  private add<Node extends OperationDefinitionNode | FragmentDefinitionNode>(
    byName: Map<string, Node>,
    node: Node,
    path: string,
  ): void {
    const name = node.name?.value
    if (name === undefined) this.problems.push(`${path}: an operation has no name`)
    else if (byName.has(name)) this.problems.push(`${path}: the name ${name} is used twice`)
    else byName.set(name, node)
  }

  /** An operation with its fragments, in the order of their use. Validation names a missing one. */
  private documentOf(operation: OperationDefinitionNode): DocumentNode {
    const used = new Set<FragmentDefinitionNode>()
    const addFragments = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
      visit(node, {
        FragmentSpread: ({ name }) => {
          const fragment = this.fragments.get(name.value)
          if (!fragment || used.has(fragment)) return
          used.add(fragment)
          addFragments(fragment)
        },
      })
    addFragments(operation)
    return { kind: Kind.DOCUMENT, definitions: [operation, ...used] }
  }
}

const typename: FieldNode = {
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value: '__typename' },
}

const addTypenames = (document: DocumentNode): DocumentNode =>
  visit(document, {
    SelectionSet: (node, _, parent) => {
      const isRoot = (parent as { kind?: string }).kind === Kind.OPERATION_DEFINITION
      const has = node.selections.some(
        (one) => one.kind === Kind.FIELD && !one.alias && one.name.value === '__typename',
      )
      return isRoot || has ? undefined : { ...node, selections: [...node.selections, typename] }
    },
  })
