import type { FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import type { TrustedDocuments } from './trusted-documents.ts'

type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members of a request that name a document: of GraphQL over HTTP, and of Relay. */
const idFields = ['documentId', 'doc_id', 'id'] as const

/**
 * Everything by which the body of a request names its document. It decides which document is
 * executed.
 */
export interface DocumentName {
  readonly query: unknown
  /** The values of {@link idFields}. */
  readonly ids: readonly unknown[]
  /** Apollo's name of a document that a client stored, or of a trusted one. */
  readonly hash: string | undefined
}

/**
 * Reads how a body names its document. null counts as absent.
 * @returns undefined for a `persistedQuery` of another form.
 */
export function readDocumentName(body: Fields): DocumentName | undefined {
  const { query, extensions } = body
  const persisted = isObject(extensions) ? (extensions.persistedQuery ?? undefined) : undefined
  const ids = idFields.map((field) => body[field] ?? undefined)
  const name = { query: query ?? undefined, ids }
  if (persisted === undefined) return { ...name, hash: undefined }
  if (!isObject(persisted) || persisted.version !== 1) return undefined
  const { sha256Hash: hash } = persisted
  return typeof hash === 'string' ? { ...name, hash } : undefined
}

/**
 * How a request names its document. @throws {DomainError} BAD_REQUEST for a name of another form.
 */
export function readName(request: FastifyRequest): DocumentName {
  const name = readDocumentName(readMembers(request))
  if (!name) throw badName('extensions.persistedQuery must have version 1 and a sha256Hash')
  return name
}

/**
 * The text of the document that a request names, if it is a trusted one.
 * @returns undefined if the document is in the request, or among those that clients stored.
 * @throws {DomainError} BAD_REQUEST for two names; PERSISTED_QUERY_NOT_IN_LIST for a name that is
 * not in the list, and for each other document where only trusted ones are executed.
 */
export function findTrusted(
  { query, ids, hash }: DocumentName,
  trusted: TrustedDocuments | undefined,
): string | undefined {
  const isRequired = trusted?.isRequired === true
  if (query !== undefined) {
    if (!isRequired) return undefined
    if (typeof query === 'string' && trusted.has(query)) return query
    throw notInList()
  }
  const [id = hash, ...others] = ids.filter((given) => given !== undefined)
  if (others.length > 0) throw badName('The request names its document more than once')
  const text = typeof id === 'string' ? trusted?.find(id) : undefined
  // A client may store a document under its hash.
  if (text !== undefined || (id === hash && !isRequired)) return text
  throw notInList()
}

const badName = (problem: string) => new DomainError('BAD_REQUEST', problem)

const notInList = () =>
  new DomainError(
    'PERSISTED_QUERY_NOT_IN_LIST',
    'The document is not one of the trusted documents of this server',
  )

/**
 * The parameters of requests that are being read. A poll has a long one, and several steps read it.
 */
const parameters = new WeakMap<FastifyRequest, URLSearchParams>()

/** The parameters of the URL of a request. */
export function parametersIn(request: FastifyRequest): URLSearchParams {
  const read = parameters.get(request) ?? new URL(request.url, 'http://localhost').searchParams
  parameters.set(request, read)
  return read
}

/** The members of a request, from its body or from its URL. Apollo refuses malformed ones. */
export function readMembers(request: FastifyRequest): Fields {
  const { method, body } = request
  if (method === 'POST') return isObject(body) ? body : {}
  const fields = Object.fromEntries(
    ['query', 'extensions', ...idFields].map((name) => {
      const values = parametersIn(request).getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
  return { ...fields, extensions: parse(fields.extensions) }
}

function parse(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
