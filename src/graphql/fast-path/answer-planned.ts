import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { isGraphql } from '../../http/graphql-route.ts'
import type { UserId } from '../../lib/ids.ts'
import { operationLabelOf } from '../../metrics/requests.ts'
import { countTimelineOperation, type TimelineAnswer } from '../../metrics/timelines.ts'
import { beginOperation, endSpan, errorTypeOf, inSpan } from '../../tracing/spans.ts'
import type { Context } from '../context.ts'
import { limits } from '../limits.ts'
import { isObject, parametersIn } from '../named-documents.ts'
import { type PersistedDocuments, registersDocument } from '../persisted-documents.ts'
import type { Charge, RateLimiter } from '../rate-limit.ts'
import type { PlannedServices } from './field-plan.ts'
import type { PreparedOperation } from './operation-plan.ts'
import { Plans } from './plans.ts'

/** What {@link answerPlanned} works with. */
export interface AnswerPlannedParts {
  readonly schema: GraphQLSchema
  readonly services: PlannedServices
  readonly limiter: RateLimiter
  readonly persisted: PersistedDocuments
  /**
   * The context in which Apollo answers the request if no plan does, so that nothing is loaded
   * twice.
   */
  readonly contextOf: (request: FastifyRequest) => Promise<Context>
}

/**
 * Answers signed-in queries of one timeline, or of its news, by a plan of their document, byte for
 * byte as graphql-js does, but from texts of posts that are kept. Any other request is left to
 * Apollo, which the rate limits do not charge again. So is the wording of a failure. The commands
 * of {@link FeedService.timeline}, or of {@link NewsReader.findNews}. Call it after
 * {@link readDocuments}, and before the route is added.
 */
export function answerPlanned(http: FastifyInstance, parts: AnswerPlannedParts): void {
  const plans = new Plans(parts.schema)
  http.addHook('preHandler', async (request, reply) => {
    const asked = reply.sent ? undefined : await findAsked(parts, plans, request)
    if (!asked) return
    const answer = typeof asked === 'string' ? asked : await answerAsked(parts, asked)
    countTimelineOperation(typeof answer === 'string' ? answer : answer.by)
    if (typeof answer === 'string') return
    if (request.scope) request.scope.operation = answer.label
    reply.headers(answer.headers)
    return reply.type('application/json').send(answer.body)
  })
}

/** Why an operation of a timeline is left to Apollo. */
type LeftBecause = Exclude<TimelineAnswer, Asked['by']>

/** A request that a plan answers. */
interface Asked extends PreparedOperation {
  readonly ctx: Context
  readonly viewer: UserId
  readonly by: 'fast_path' | 'fast_path_in_part'
  /** The operation in logs, metrics and traces. */
  readonly label: string
}

/** An answer by a plan. */
interface Answered extends Pick<Asked, 'by' | 'label'> {
  readonly body: string
  readonly headers: object
}

/**
 * What a request asks for. Mostly no command. @returns undefined if it has no operation of a
 * timeline.
 */
async function findAsked(
  { services, persisted, contextOf }: AnswerPlannedParts,
  plans: Plans,
  request: FastifyRequest,
): Promise<Asked | LeftBecause | undefined> {
  const { read, state } = request
  if (!isGraphql(request) || !read?.document || !state) return undefined
  const operation = operationOf(request)
  const plan = operation && plans.find(read.document, operation.operationName)
  if (!plan) return undefined
  if ('unplanned' in plan) return plan.unplanned
  if (registersDocument(request, persisted)) return 'registration'
  const ctx = await contextOf(request)
  const { viewer } = ctx
  if (viewer === undefined) return undefined
  const { operationName, variables } = operation
  const prepared = plan.prepare(variables, services)
  if (!prepared) return 'arguments'
  if (prepared.cost > limits.cost) return 'limits'
  const label = operationLabelOf(operationName, true)
  const by = plan.isPartial ? 'fast_path_in_part' : 'fast_path'
  return { ctx, viewer, by, ...prepared, label }
}

/** Charges a request and reads its answer. */
async function answerAsked(
  { limiter }: AnswerPlannedParts,
  asked: Asked,
): Promise<Answered | LeftBecause> {
  const charge = await chargeOnce(limiter, asked)
  if (charge?.refusal) return 'limits'
  const { by, label } = asked
  const body = await renderPlanned(asked)
  if (body instanceof Error) return 'failure'
  return body === undefined ? 'incomplete' : { body, headers: charge?.headers ?? {}, by, label }
}

/**
 * Charges a request the rest of its cost. What it was charged already is not charged again, nor by
 * Apollo later.
 */
async function chargeOnce(
  limiter: RateLimiter,
  { ctx: { client, read, state }, cost }: Asked,
): Promise<Charge | undefined> {
  const paid = read?.paid ?? 0
  const charge =
    cost > paid ? await limiter.charge(client, { cost, mutations: 0, paid }) : read?.charge
  state?.noteCharge(cost, charge)
  return charge
}

/** The answer. Undefined if graphql-js has to answer. An error if a read failed. */
async function renderPlanned({
  name,
  answer,
  ctx,
  viewer,
  label,
}: Asked): Promise<string | Error | undefined> {
  const span = beginOperation(`query ${label}`, {
    'graphql.operation.type': 'query',
    'graphql.operation.name': label,
  })
  try {
    const body = await inSpan(name, () => answer(ctx, viewer))
    endSpan(span, undefined)
    return body
  } catch (error) {
    ctx.state?.noteFailure(error as Error)
    endSpan(span, errorTypeOf(error))
    return error as Error
  }
}

/**
 * The operation that a request names, and its variables.
 * @returns undefined for a request that Apollo refuses, or reads in another way.
 */
function operationOf(request: FastifyRequest):
  | {
      readonly operationName: string | undefined
      readonly variables: Readonly<Record<string, unknown>>
    }
  | undefined {
  const { method, body } = request
  const members = method === 'GET' ? parametersOf(request) : isObject(body) ? body : undefined
  if (!members) return undefined
  const { operationName, variables, extensions } = members
  const isUsual =
    (operationName == null || typeof operationName === 'string') &&
    [variables, extensions].every((one) => one == null || isObject(one))
  if (!isUsual) return undefined
  return {
    operationName: (operationName as string | null | undefined) ?? undefined,
    variables: (variables as Readonly<Record<string, unknown>> | null | undefined) ?? {},
  }
}

const jsonType = /^application\/json\s*(;|$)/i

/**
 * The members of a request by GET. Undefined if one of them is there twice or is no JSON, if
 * variables or extensions are no object, and with the content type of anything else than JSON.
 */
function parametersOf(request: FastifyRequest): Readonly<Record<string, unknown>> | undefined {
  if (!jsonType.test(request.headers['content-type'] ?? 'application/json')) return undefined
  const parameters = parametersIn(request)
  const members = ['operationName', 'variables', 'extensions'].map((name) => {
    const [text, ...more] = parameters.getAll(name)
    return { name, text, isOne: more.length === 0 }
  })
  if (!members.every(({ isOne }) => isOne)) return undefined
  try {
    const parsedMembers = members.flatMap(({ name, text }): [string, unknown][] => {
      if (text === undefined) return []
      return [[name, name === 'operationName' ? text : JSON.parse(text)]]
    })
    // Those of a body may also be null.
    const isUsual = parsedMembers.every(([, value]) => value !== null)
    return isUsual ? Object.fromEntries(parsedMembers) : undefined
  } catch {
    return undefined
  }
}
