import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { print } from 'graphql'
import { afterAll, beforeAll } from 'vitest'
import { type AppConfig, readConfig } from '../../src/environment.ts'
import { createServer } from '../../src/graphql/server.ts'
import { loadTrustedDocuments } from '../../src/graphql/trusted-documents.ts'
import type { OpenRequests } from '../../src/http/open-requests.ts'
import { Readiness } from '../../src/http/readiness.ts'
import { createLog } from '../../src/log.ts'
import { createServices, type Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { type Limits, sameLimits } from './engagement.ts'
import { keepMemory } from './memory.ts'
import type { TestDatabase } from './mongo.ts'
import { useDatabase } from './mongo.ts'
import { drain, subjectOf } from './services.ts'

/**
 * A real HTTP server over a database of the test file, on a client whose commands can be watched.
 */
export interface TestApp {
  readonly database: TestDatabase
  readonly services: Services
  /** `http://127.0.0.1:…`, without a slash at the end. */
  readonly url: string
  /** How many requests the stop of the server would wait for. */
  readonly openRequests: number
  /** The log of the server so far, one JSON object for each line. */
  readonly logged: readonly string[]
  /** Runs every job to its end. */
  readonly rest: () => Promise<void>
  /** Sends a request as `handle`, or anonymously. Fails unless the answer has data and no error. */
  readonly ask: <Data, Variables>(
    handle: string | undefined,
    document: TypedDocumentNode<Data, Variables>,
    ...variables: Variables extends Record<string, never> ? [] : [Variables]
  ) => Promise<Answered<Data>>
  /** Sends a request and returns its answer unchanged. */
  readonly send: (request: GraphqlRequest) => Promise<Answer>
}

/** The data of an answer without errors. Root fields are null only if the answer has an error. */
export type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> }

/**
 * Has a server remember the accounts of these subjects from now on, for 45 seconds. It otherwise
 * reads them in their first requests, and again when it has forgotten them.
 */
export async function knowViewers(
  { send, services }: Pick<TestApp, 'send' | 'services'>,
  ...subjects: readonly string[]
) {
  for (const subject of subjects) services.subjects.forget(subjectOf(subject))
  await Promise.all(subjects.map((as) => send({ as, query: '{ viewer { id } }' })))
}

/** A POST to /graphql. */
export interface GraphqlRequest {
  /** The viewer, who signs in by `Dev`. Undefined: an anonymous request. */
  readonly as?: string | undefined
  readonly query?: string
  readonly variables?: object
  readonly operationName?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the JSON of query, variables and operationName. */
  readonly body?: string
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert on every field they read
  readonly data: any
  readonly errors: readonly AnsweredError[]
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert on every field they read
  readonly extensions?: any
}

/** An element of `errors`. */
export interface AnsweredError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: string
    readonly requestId?: string
    readonly release: string
    readonly argument?: string
    readonly arguments?: readonly { readonly argument: string; readonly message: string }[]
    readonly limit?: string
    readonly retryAfterSeconds?: number
  }
}

/** On a busy machine any request can be slow, and tests count the lines of the log. */
const withoutSlowLines = 600_000

/** Executes at most this number of requests at once. */
export const withRequestsMax =
  (requestsMax: number) =>
  ({ http }: AppConfig): Pick<AppConfig, 'http'> => ({ http: { ...http, requestsMax } })

/** Gives post lists other limits, so that a few entries overflow. */
export const withLimits = (limits: Limits) => () => ({ engagement: sameLimits(limits) })

/**
 * Gives a test file a running server without a worker. The server runs small jobs inline.
 * @param env variables of docs/reference/configuration.md.
 * @param adjust changes what no variable sets.
 * @param database of another server, like that of another process. Default: its own.
 */
export function useApp(
  env: Readonly<Record<string, string>> = {},
  adjust: (config: AppConfig) => Partial<AppConfig> = () => ({}),
  database = useDatabase(),
): TestApp {
  const logged: string[] = []
  let url = ''
  let services: Services | undefined
  let requests: OpenRequests | undefined
  let close = async () => {}
  beforeAll(async () => {
    // The database of the test file, whatever MONGODB_URI says.
    const read = readConfig({ NODE_ENV: 'test', MONGODB_URI: 'embedded', ...env })
    const operations = { ...read.operations, slowMs: withoutSlowLines }
    const config = { ...read, operations, ...adjust(read) }
    const log = createLog('info', { write: (line: string) => void logged.push(line) })
    // Not the function itself, which a test may replace later.
    const now = () => Date.now()
    services = createServices(database.client, database.db, config, { now })
    await registerStrategies(services, config.feed.maintained)
    if (config.feed.maintained.length > 1) services.inline.start(services.tasks, log)
    services.feed.start(log)
    if (config.feed.pageCacheMb > 0) await keepMemory(services)
    const readiness = new Readiness(async () => {})
    const trusted = await loadTrustedDocuments(config.http.trustedDocuments, config)
    const nudge = () => {}
    const server = await createServer({ config, services, log, readiness, nudge, trusted })
    const { http } = server
    requests = server.requests
    url = await http.listen({ host: '127.0.0.1', port: 0 })
    close = async () => {
      const closed = http.close()
      // An answer that a test has not read would keep its connection open for a minute.
      http.server.closeAllConnections()
      await closed
      await services?.memory.close()
    }
  })
  afterAll(async () => close())
  const current = (): Services => {
    if (!services) throw new Error('the server is there from beforeAll on')
    return services
  }
  const send = async ({ as, headers, body, ...request }: GraphqlRequest): Promise<Answer> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(as === undefined ? {} : { authorization: `Dev ${as}` }),
        ...headers,
      },
      body: body ?? JSON.stringify(request),
    })
    const { data, errors = [], extensions } = (await response.json()) as Partial<Answer>
    return { status: response.status, headers: response.headers, data, errors, extensions }
  }
  return {
    database,
    logged,
    send,
    get url() {
      return url
    },
    get services() {
      return current()
    },
    get openRequests() {
      // biome-ignore lint/complexity/useLiteralKeys: it is private
      return requests?.['open'].size ?? 0
    },
    rest: () => drain(current()),
    ask: async (handle, document, ...[variables]) => {
      const { data, errors } = await send({
        as: handle,
        query: print(document),
        variables: (variables as object | undefined) ?? {},
      })
      if (errors.length > 0) throw new Error(JSON.stringify(errors))
      return data
    },
  }
}
