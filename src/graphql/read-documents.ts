import type { ApolloServerPlugin } from '@apollo/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../errors.ts'
import { isGraphql } from '../http/graphql-route.ts'
import { measureCache } from '../metrics/caches.ts'
import { checkDocument, readTokens } from './check-document.ts'
import type { Context, ReadDocument, Sender } from './context.ts'
import { formatError, requestError, statusOf } from './errors.ts'
import { findTrusted, readName } from './named-documents.ts'
import type { PersistedDocuments } from './persisted-documents.ts'
import type { Charge, Client, RateLimiter } from './rate-limit.ts'
import { RequestState } from './request-state.ts'
import { hashOf, type TrustedDocuments } from './trusted-documents.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined before {@link readDocuments}, and for a request that Apollo refuses. */
    read: ReadDocument | undefined
    /** Undefined for anonymous requests. */
    state: RequestState | undefined
  }
}

/** What {@link readDocuments} works with. */
export interface ReadDocumentsParts {
  readonly schema: GraphQLSchema
  /** Whether clients may ask for the schema. */
  readonly introspection: boolean
  readonly persisted: PersistedDocuments
  readonly trusted: TrustedDocuments | undefined
  readonly limiter: RateLimiter
  readonly senderOf: (request: FastifyRequest) => Promise<Sender>
}

/** The cost of a name that the server has no document of. */
const unknownNamePrice = 1

/**
 * Finds the document of each GraphQL request, and refuses invalid ones. A document that the server
 * has not checked lately is charged before it is parsed, and refused unread if the client has used
 * up its limit. Variables of a large request are charged before they are read. The operation is
 * charged the rest of its cost. Trusted documents are free. No command, or that of the store of
 * rate limits for a new document and for a large request. Call it before the route is added.
 */
export function readDocuments(http: FastifyInstance, parts: ReadDocumentsParts): void {
  const { schema, introspection, persisted, trusted, limiter, senderOf } = parts
  const documents = new DocumentCache()

  const find = async (request: FastifyRequest, client: Client) => {
    const chargeFor = (cost: number) => limiter.charge(client, { cost, mutations: 0 })
    const name = readName(request)
    const trustedText = findTrusted(name, trusted)
    const { query = name.hash === undefined ? undefined : persisted.textOf(name.hash) } = name
    const text = trustedText ?? query
    if (typeof text !== 'string') {
      const charge = name.hash === undefined ? undefined : await chargeFor(unknownNamePrice)
      if (charge?.refusal) throw new RefusedDocument([requestError(charge.refusal)], charge)
      return { document: undefined, trustedText, paid: charge ? unknownNamePrice : 0, charge }
    }
    if (trustedText === undefined && name.hash !== undefined && name.hash !== hashOf(text)) {
      const charge = await chargeFor(unknownNamePrice)
      throw new RefusedDocument([requestError(charge?.refusal ?? hashMismatch())], charge)
    }
    const document = documents.find(text)
    if (document) {
      const paid = trustedText === undefined ? priceOfVariables(request) : 0
      const charge = paid === 0 ? undefined : await chargeFor(paid)
      if (charge?.refusal) throw new RefusedDocument([requestError(charge.refusal)], charge)
      return { document, trustedText, paid, charge }
    }
    const { price: priceOfText, error } = readTokens(text)
    const price = Math.max(priceOfText, priceOfVariables(request))
    const charge = trustedText === undefined ? await chargeFor(price) : undefined
    if (charge?.refusal) throw new RefusedDocument([requestError(charge.refusal)], charge)
    const checked = error ? [error] : checkDocument(schema, text, { introspection })
    if (!('kind' in checked)) throw new RefusedDocument(checked, charge)
    documents.keep(text, checked)
    return { document: checked, trustedText, paid: charge ? price : 0, charge }
  }

  http.decorateRequest('read', undefined)
  http.decorateRequest('state', undefined)
  http.addHook('preHandler', async (request, reply) => {
    if (!isGraphql(request)) return
    // Apollo refuses a token that cannot be verified.
    const sender = await senderOf(request).catch(() => undefined)
    if (!sender) return
    if (sender.signIn) request.state = new RequestState()
    try {
      request.read = await find(request, sender.client)
      reply.headers(request.read.charge?.headers ?? {})
    } catch (error) {
      if (reply.sent) return reply
      if (error instanceof RefusedDocument) return answer(reply, error)
      if (!(error instanceof DomainError)) throw error
      return answer(reply, new RefusedDocument([requestError(error)], undefined))
    }
  })
}

/**
 * The bytes of a request whose variables are read before anything is charged, and those of one unit
 * above that.
 */
const [freeBytes, bytesPerPrice] = [4_000, 500]

/**
 * The cost of reading the variables of a large request. The cost of a good operation includes it.
 */
function priceOfVariables({ bodyBytes, url }: FastifyRequest): number {
  const bytes = bodyBytes + url.length
  return bytes <= freeBytes ? 0 : Math.ceil(bytes / bytesPerPrice)
}

const hashMismatch = () =>
  new DomainError('PERSISTED_QUERY_HASH_MISMATCH', 'sha256Hash is not the SHA-256 of the document')

/** The errors with which a document is refused, and what was charged for it. */
class RefusedDocument extends Error {
  constructor(
    readonly errors: readonly GraphQLError[],
    readonly charge: Charge | undefined,
  ) {
    super('the document is refused')
  }
}

function answer(reply: FastifyReply, { errors, charge }: RefusedDocument): FastifyReply {
  const formatted = errors.map((error) => formatError(error.toJSON(), error))
  return reply
    .headers(charge?.headers ?? {})
    .code(statusOf(formatted, reply.request.headers.accept))
    .send({ errors: formatted })
}

/** Makes Apollo execute the document that was read. */
export const documentPlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async ({ request, contextValue: { read } }) => {
    if (read?.trustedText !== undefined) {
      const { persistedQuery: _, ...extensions } = request.extensions ?? {}
      Object.assign(request, { query: read.trustedText, extensions })
    }
    return {
      // Apollo parses and validates only a request without a document.
      didResolveSource: async (context) =>
        void Object.assign(context, { document: read?.document }),
    }
  },
}

/** The most bytes of all documents in memory. */
const bytesMax = 16 * 1024 ** 2

/** What a token takes with its links, its nodes and their locations, at most. */
const tokenBytes = 600

/**
 * The most characters of a text that is a key itself. Texts of other clients may differ from a
 * longer one in its end alone.
 */
const keyLengthMax = 4_000

/** The valid documents that clients sent last, by their texts, with a bound in bytes. */
class DocumentCache {
  private readonly documents = new LRUCache<string, DocumentNode>({
    maxSize: bytesMax,
    sizeCalculation: sizeOf,
  })
  private readonly countRead: (isHit: boolean) => void

  constructor() {
    this.countRead = measureCache('documents', () => this.documents.calculatedSize).countRead
  }

  find(text: string): DocumentNode | undefined {
    const document = this.documents.get(keyOf(text))
    this.countRead(document !== undefined)
    return document
  }

  keep(text: string, document: DocumentNode): void {
    this.documents.set(keyOf(text), document)
  }
}

/**
 * No text is the hash of another. An unpaired surrogate is hashed as U+FFFD, so such a text is its
 * own key.
 */
const keyOf = (text: string): string =>
  text.length <= keyLengthMax || !text.isWellFormed() ? text : hashOf(text)

/**
 * The bytes of a document in memory: its nodes, and what their locations keep, which are its text
 * and its tokens. Comments and white space are in no node.
 */
function sizeOf(document: DocumentNode): number {
  let bytes = 2 * (document.loc?.source.body.length ?? 0)
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    bytes += tokenBytes
  }
  return bytes
}
