import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import type { FeedService } from '../../feed/timeline/feed-service.ts'
import type { Projection, TimelinePage } from '../../feed/timeline/page.ts'
import { isGraphql } from '../../http/graphql-route.ts'
import type { UserId } from '../../lib/ids.ts'
import { operationLabelOf } from '../../metrics/requests.ts'
import type { KeptPosts } from '../../posts/kept-posts.ts'
import type { Post } from '../../posts/post.ts'
import { beginOperation, endSpan, errorTypeOf, inSpan } from '../../tracing/spans.ts'
import type { KeptAccount } from '../../users/kept-accounts.ts'
import type { ReadDocument, Sender } from '../context.ts'
import { limits } from '../limits.ts'
import { isObject } from '../named-documents.ts'
import { type PersistedDocuments, registersDocument } from '../persisted-documents.ts'
import type { Charge, Client, RateLimiter } from '../rate-limit.ts'
import type { RequestState } from '../request-state.ts'
import { presentPollCursor, type TimelineArgs, timelineWindowOf } from '../timeline-args.ts'
import { Plans } from './plans.ts'
import type { PlannedPage, TimelinePlan } from './timeline-plan.ts'

/** What {@link answerPlanned} works with. */
export interface AnswerPlannedParts {
  readonly schema: GraphQLSchema
  readonly feed: FeedService
  readonly keptPosts: KeptPosts
  readonly limiter: RateLimiter
  readonly persisted: PersistedDocuments
  readonly senderOf: (request: FastifyRequest) => Promise<Sender>
}

/**
 * Answers signed-in queries of one timeline by a plan of their document, byte for byte as graphql-js does, but from texts
 * of posts that are kept. Any other request is left to Apollo, which the rate limits do not charge again. So is the wording
 * of a failure. The commands of {@link FeedService.timeline}. Call it after {@link readDocuments}, and before the route is added.
 */
export function answerPlanned(http: FastifyInstance, parts: AnswerPlannedParts): void {
  const plans = new Plans(parts.schema)
  http.addHook('preHandler', async (request, reply) => {
    const asked = reply.sent ? undefined : await findAsked(parts, plans, request)
    if (!asked) return
    const charge = await chargeOnce(parts.limiter, asked)
    if (charge?.refusal) return
    const body = await renderPlanned(parts, asked)
    // It failed, or a post has a form that only graphql-js shows.
    if (body === undefined) return
    if (request.scope) request.scope.operation = asked.label
    reply.headers(charge?.headers ?? {})
    return reply.type('application/json').send(body)
  })
}

/** A request that a plan answers. */
interface Asked {
  readonly viewer: UserId
  readonly client: Client
  readonly plan: TimelinePlan
  readonly args: TimelineArgs
  readonly place: Place
  readonly cost: number
  /** The operation in logs, metrics and traces. */
  readonly label: string
  readonly read: ReadDocument
  readonly state: RequestState
}

type Place = NonNullable<ReturnType<typeof placeOf>>

/** What a request asks for. Mostly no command. @returns undefined if only Apollo answers it. */
async function findAsked(
  { feed, persisted, senderOf }: AnswerPlannedParts,
  plans: Plans,
  request: FastifyRequest,
): Promise<Asked | undefined> {
  const { read, state } = request
  if (!isGraphql(request) || !read?.document || !state) return undefined
  const operation = operationOf(request)
  const plan = operation && plans.find(read.document, operation.operationName)
  if (!plan || registersDocument(request, persisted)) return undefined
  const { signIn, client } = await senderOf(request)
  const { operationName, variables } = operation
  const prepared = plan.prepare(variables)
  if (!signIn || !prepared || prepared.cost > limits.cost) return undefined
  const place = placeOf(feed, prepared.args)
  if (!place) return undefined
  const label = operationLabelOf(operationName, true)
  return { viewer: signIn.viewer, client, plan, ...prepared, place, label, read, state }
}

/** Charges a request the rest of its cost. What it was charged already is not charged again, nor by Apollo later. */
async function chargeOnce(
  limiter: RateLimiter,
  { client, cost, read, state }: Asked,
): Promise<Charge | undefined> {
  const { paid } = read
  const charge =
    cost > paid ? await limiter.charge(client, { cost, mutations: 0, paid }) : read.charge
  state.noteCharge(cost, charge)
  return charge
}

/** The answer. Undefined if graphql-js has to render a post, and after a failure. */
async function renderPlanned(parts: AnswerPlannedParts, asked: Asked): Promise<string | undefined> {
  const { plan, cost, state, label } = asked
  const span = beginOperation(`query ${label}`, {
    'graphql.operation.type': 'query',
    'graphql.operation.name': label,
  })
  try {
    const body = await inSpan('Query.timeline', async () => {
      const page = await readPlanned(parts, asked)
      return page && plan.render(page, cost, limits.cost)
    })
    endSpan(span, undefined)
    return body
  } catch (error) {
    state.noteFailure(error as Error)
    endSpan(span, errorTypeOf(error))
    return undefined
  }
}

/** The part of a timeline that is asked for. Undefined for wrong arguments, which the resolver refuses. */
function placeOf(feed: FeedService, args: TimelineArgs) {
  const filter = { strategy: args.strategy ?? undefined, group: args.group ?? undefined }
  try {
    feed.checkRequest(filter)
    return { ...timelineWindowOf(args), filter }
  } catch {
    return undefined
  }
}

/** @returns undefined if only graphql-js renders a post or an author. */
async function readPlanned(
  { feed, keptPosts }: AnswerPlannedParts,
  { plan, place: { window, base, filter }, viewer }: Asked,
): Promise<PlannedPage | undefined> {
  const page = await feed.timeline(viewer, { ...plan.needs, ...filter, window })
  const authors = accountsOf(page)
  if (!page.items.every(({ post }) => isRenderable(post, plan.needs.projection, authors)))
    return undefined
  const accountOf = (author: UserId) => authors.get(author) as KeptAccount
  return {
    ...page,
    reader: viewer,
    pollCursor: presentPollCursor(page, window, base),
    follows: (user) => page.facts.some(({ followed }) => followed.has(user)),
    viewerHas: (post) =>
      page.facts.find(({ summaries }) => summaries?.has(post))?.summaries?.get(post)?.viewerHas,
    shownOf: ({ post }) => {
      const { profile } = accountOf(post.author)
      return { post: post as Post, author: profile as NonNullable<typeof profile> }
    },
    renderPost: (by, shown) =>
      keptPosts.renderOnce(shown.post, accountOf(shown.post.author), by.key, () =>
        by.render(shown),
      ),
  }
}

/** The accounts of all authors of a page. */
const accountsOf = ({ facts }: TimelinePage): ReadonlyMap<UserId, KeptAccount> =>
  facts.length === 1 && facts[0]
    ? facts[0].accounts
    : new Map(facts.flatMap(({ accounts }) => [...accounts]))

/** The part of a post without which only graphql-js renders it. A malformed post lacks it. */
const requiredParts = { ref: 'id', text: 'text', content: 'createdAt' } as const

const isRenderable = (
  post: TimelinePage['items'][number]['post'],
  projection: Projection,
  authors: ReadonlyMap<UserId, KeptAccount>,
): boolean => requiredParts[projection] in post && authors.get(post.author)?.profile !== undefined

/**
 * The operation that a request names, and its variables.
 * @returns undefined for a request that Apollo refuses, or reads in another way.
 */
function operationOf({ method, url, body, headers }: FastifyRequest):
  | {
      readonly operationName: string | undefined
      readonly variables: Readonly<Record<string, unknown>>
    }
  | undefined {
  const members =
    method === 'GET'
      ? parametersOf(url, headers['content-type'])
      : isObject(body)
        ? body
        : undefined
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
 * The members of a request by GET. Undefined if one of them is there twice or is no JSON, if variables or extensions are
 * no object, and with the content type of anything else than JSON.
 */
function parametersOf(
  url: string,
  contentType = 'application/json',
): Readonly<Record<string, unknown>> | undefined {
  if (!jsonType.test(contentType)) return undefined
  const parameters = new URL(url, 'http://localhost').searchParams
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
