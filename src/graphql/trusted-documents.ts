import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type GraphQLSchema, parse } from 'graphql'
import { z } from 'zod'
import { ConfigError } from '../config.ts'
import { checkDocument, readTokens } from './check-document.ts'
import { createSchema } from './schema.ts'

export const apolloFormat = 'apollo-persisted-query-manifest'

/** The manifest of Apollo. */
const apolloManifest = z.object({
  format: z.literal(apolloFormat),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string().min(1), body: z.string().min(1) })),
})

/** The map of Relay: texts by their ids. */
const relayMap = z.record(z.string().min(1), z.string().min(1))

/** The most problems of a file that an error lists. */
const problemsMax = 10

/** How many documents a file has, and where they are found. */
export class TrustedDocuments {
  private readonly texts: ReadonlySet<string>
  private readonly byId: ReadonlyMap<string, string>

  /** @param isRequired whether no other document is executed. */
  constructor(
    documents: ReadonlyMap<string, string>,
    readonly isRequired: boolean,
  ) {
    this.texts = new Set(documents.values())
    const byHash = Array.from(this.texts, (text) => [hashOf(text), text] as const)
    this.byId = new Map([...byHash, ...documents])
  }

  /** The number of different documents. */
  get size(): number {
    return this.texts.size
  }

  /**
   * The text by an id of the file, or by the SHA-256 of the text. `sha256:` may be in front of
   * either.
   */
  find(id: string): string | undefined {
    return this.byId.get(id) ?? this.byId.get(id.replace(/^sha256:/, ''))
  }

  /** The names of all operations. */
  operationNames(): readonly string[] {
    return [...this.texts].flatMap((text) =>
      parse(text).definitions.flatMap((one) =>
        one.kind === 'OperationDefinition' && one.name ? [one.name.value] : [],
      ),
    )
  }

  has(text: string): boolean {
    return this.texts.has(text)
  }
}

/** The SHA-256 of a document, in hexadecimal digits. */
export const hashOf = (text: string): string => hash('sha256', text)

/**
 * Reads the file of TRUSTED_DOCUMENTS and validates its documents by the schema and the limits of
 * documents. In production, no other document is executed.
 * @throws {ConfigError} that names the variable, and the id of each document that is wrong.
 */
export async function loadTrustedDocuments(
  path: string | undefined,
  { production }: { readonly production: boolean },
): Promise<TrustedDocuments | undefined> {
  if (path === undefined) return undefined
  const problemOf = (problem: string) => `TRUSTED_DOCUMENTS: ${path} ${problem}`
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([problemOf(`cannot be read (${error.code})`)])
  })
  const documents = readDocuments(text)
  if (typeof documents === 'string') throw new ConfigError([problemOf(documents)])
  const schema = createSchema()
  const problems = [...documents].flatMap(([id, document]) => {
    const problem = findProblem(schema, document)
    return problem === undefined ? [] : [problemOf(`has a wrong document "${id}": ${problem}`)]
  })
  if (problems.length > 0) throw new ConfigError(problems.slice(0, problemsMax))
  return new TrustedDocuments(documents, production)
}

/** @returns texts by their ids, or what is wrong with the file. */
function readDocuments(text: string): ReadonlyMap<string, string> | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  const isManifest = (json as { format?: unknown } | null)?.format === apolloFormat
  const read = isManifest ? apolloManifest.safeParse(json) : relayMap.safeParse(json)
  if (!read.success) {
    const [{ path, message } = { path: [], message: '' }] = read.error.issues
    const form = isManifest ? `a manifest of version 1` : 'a JSON object of documents by their ids'
    return `is not ${form}: ${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`
  }
  const entries = isManifest
    ? apolloManifest.parse(json).operations.map(({ id, body }) => [id, body] as const)
    : Object.entries(relayMap.parse(json))
  const documents = new Map(entries)
  if (documents.size === 0) return 'has no document'
  return documents.size < entries.length ? 'has an id twice' : documents
}

/** @returns what is wrong with a document on a server in production: the first problem. */
export function findProblem(schema: GraphQLSchema, text: string): string | undefined {
  const { error } = readTokens(text)
  const checked = error ? [error] : checkDocument(schema, text, { introspection: false })
  if (!('kind' in checked)) return checked[0]?.message
  const hasOperation = checked.definitions.some(({ kind }) => kind === 'OperationDefinition')
  return hasOperation ? undefined : 'it has no operation'
}
