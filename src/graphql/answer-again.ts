import { createHash } from 'node:crypto'
import type { ApolloServerPlugin } from '@apollo/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Stamping } from '../db/stamps.ts'
import type { EngagementSummaries } from '../engagement/summaries.ts'
import { etagOf, namesEtag } from '../http/entity-tags.ts'
import { isGraphql } from '../http/graphql-route.ts'
import type { UserId } from '../lib/ids.ts'
import { actForHeader } from './act-for.ts'
import { fillTemplate } from './answer-template.ts'
import type { Context, Sender } from './context.ts'
import { Keeping, type KeptAnswer, type KeptAnswers } from './kept-answers.ts'
import { isObject, readDocumentName, readMembers } from './named-documents.ts'
import type { PersistedDocuments } from './persisted-documents.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for anonymous requests. */
    keeping: Keeping | undefined
    /** The answer from memory. Undefined if the request is executed. */
    kept: KeptAnswer | undefined
  }
}

/** What {@link answerAgain} works with. */
export interface AnswerAgainParts {
  readonly answers: KeptAnswers
  readonly stamping: () => Stamping
  readonly summaries: EngagementSummaries
  readonly limiter: RateLimiter
  readonly persisted: PersistedDocuments
  readonly senderOf: (request: FastifyRequest) => Promise<Sender>
}

/**
 * Answers signed-in requests from memory while nothing that decides the answer has changed, and GET requests whose
 * client has the answer with 304. Kept answers are charged like executed ones. One command, shared, for an answer from
 * memory, and those of {@link EngagementSummaries} if it has holes. Call it before the route is added.
 */
export function answerAgain(http: FastifyInstance, parts: AnswerAgainParts): void {
  const { answers, stamping, summaries, limiter, persisted, senderOf } = parts
  http.decorateRequest('keeping', undefined)
  http.decorateRequest('kept', undefined)
  http.addHook('preHandler', async (request, reply) => {
    if (!isGraphql(request)) return
    // Apollo refuses what cannot be verified.
    const sender = await senderOf(request).catch(() => undefined)
    const viewer = sender?.signIn?.viewer
    const key = viewer === undefined ? undefined : keyOf(request, viewer)
    if (!sender || key === undefined) return
    const keeping = new Keeping(key, answers.isWorthKeeping(key) ? stamping() : undefined)
    request.keeping = keeping
    const kept = registersDocument(request, persisted) ? undefined : answers.find(key)
    if (!kept) return answers.countServed(false)
    // If any of this fails, the execution of the request names the fault.
    const { charge, isCurrent } = await chargeKept(kept, keeping, (cost) =>
      limiter.charge(sender.client, { cost, mutations: 0 }),
    ).catch(() => ({ charge: undefined, isCurrent: undefined }))
    if (isCurrent === false && !answers.outdate(key, kept)) keeping.giveUp()
    const fill = async ({ template }: KeptAnswer) => {
      const { posts, needsViewer } = template
      return fillTemplate(template, await summaries.load(posts, needsViewer ? viewer : undefined))
    }
    const body = isCurrent ? await fill(kept).catch(() => undefined) : undefined
    answers.countServed(body !== undefined)
    if (body === undefined) return
    answers.noteServed(key)
    if (request.scope) request.scope.operation = kept.operation
    request.kept = kept
    reply.headers(charge?.headers ?? {})
    return reply.type(kept.contentType).send(body)
  })
  http.addHook('onSend', async (request, reply, payload) => {
    const { keeping, kept, method } = request
    if (!keeping || reply.statusCode !== 200 || typeof payload !== 'string') return payload
    if (!kept) {
      const contentType = String(reply.getHeader('content-type'))
      keeping.keepIn(answers, payload, { contentType, operation: request.scope?.operation })
    }
    if (method !== 'GET') return payload
    const vary = reply.getHeader('vary')
    reply.headers({
      'cache-control': 'private, no-cache',
      vary: [...(vary ? [String(vary)] : []), ...decidingHeaders].join(', '),
    })
    // Before an equal answer, the client may have read a page that this news is about again.
    if (kept?.isNews ?? keeping.isNews) return payload
    const etag = kept?.etag ?? etagOf(payload)
    reply.header('etag', etag)
    if (!namesEtag(request.headers['if-none-match'], etag)) return payload
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return null
  })
}

/** The headers that decide an answer. */
const decidingHeaders = ['Authorization', actForHeader, 'Accept', 'accept-encoding']

/**
 * Matches each URL with a parameter `query`, whose name may be encoded, and few others. A part of the URL belongs to one
 * match at most, so a long URL takes no longer than its length.
 */
const mayHaveQuery = /[?&](?:query=|[^=&?]*%)/

/** Whether a request brings a document that its execution stores. */
export function registersDocument(request: FastifyRequest, persisted: PersistedDocuments): boolean {
  // Most requests by GET have no document, and need not be parsed.
  if (request.method === 'GET' && !mayHaveQuery.test(request.url)) return false
  const name = readDocumentName(readMembers(request))
  return name?.query !== undefined && name.hash !== undefined && !persisted.has(name.hash)
}

/**
 * Charges a kept answer, if the rate limits allow it, and looks whether anything has changed since. The charge counts also
 * if it has.
 * @returns `isCurrent` undefined if the rate limits refuse the answer.
 */
async function chargeKept(
  { cost, stamp }: KeptAnswer,
  keeping: Keeping,
  chargeCost: (cost: number) => Promise<Charge | undefined>,
) {
  const charge = await chargeCost(cost)
  keeping.noteCharge(cost, charge)
  const isCurrent = charge?.refusal ? undefined : await keeping.stamping?.isCurrent(stamp)
  return { charge, isCurrent }
}

/**
 * Everything of a request that decides its answer, also the headers by which Apollo refuses requests. Undefined for a
 * request whose variables are not plain: no timeline takes such variables.
 */
function keyOf({ method, url, body, headers }: FastifyRequest, viewer: UserId): string | undefined {
  const content = body ?? {}
  if (!isObject(content)) return undefined
  const { operationName, variables } = content
  if (!isObject(variables ?? {})) return undefined
  const name = readDocumentName(content)
  if (!name) return undefined
  const document = [name.query, ...name.ids, name.hash, operationName]
  const values = [...document, ...Object.entries(variables ?? {}).flat()]
  if (!values.every(isPlain)) return undefined
  const asked = [viewer, method, url, headers.accept, headers['content-type']]
  return createHash('sha256')
    .update(JSON.stringify([asked, values]))
    .digest('base64')
}

/** Not a number without a JSON text either. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isFinite(value) : value === null || typeof value !== 'object'

/** Keeps no answer that has errors, nor one of several fields: each has a stamp of its own. */
export const keepPlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { body }, operation, contextValue: { keeping } }) => {
      if (!keeping) return
      const [only, ...more] = operation?.selectionSet.selections ?? []
      const isOneField = only?.kind === 'Field' && more.length === 0
      const hasErrors = body.kind !== 'single' || body.singleResult.errors !== undefined
      if (!isOneField || operation?.operation !== 'query' || hasErrors) keeping.refuse()
    },
  }),
}
