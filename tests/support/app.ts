import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { print } from 'graphql'
import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import { createServer } from '../../src/graphql/server.ts'
import { Metrics } from '../../src/integrity/metrics.ts'
import { createServices, type Services } from '../../src/services.ts'
import type { TestDatabase } from './mongo.ts'
import { useDatabase } from './mongo.ts'
import { drain } from './services.ts'

/** A real HTTP server over a database of a test file's own, on a client whose commands can be watched. */
export interface TestApp {
  readonly database: TestDatabase
  readonly services: Services
  /** `http://127.0.0.1:…`, without a slash at the end. */
  readonly url: string
  /** What the server logged so far, one JSON object a line. */
  readonly logged: readonly string[]
  /** Runs every job to its end. */
  readonly rest: () => Promise<void>
  /** Asks as `handle`, or as nobody; fails unless there is data and no error. */
  readonly ask: <Data, Variables>(
    handle: string | undefined,
    document: TypedDocumentNode<Data, Variables>,
    ...variables: Variables extends Record<string, never> ? [] : [Variables]
  ) => Promise<Answered<Data>>
  /** Sends a request as it is, and gives the answer as it is. */
  readonly send: (request: GraphqlRequest) => Promise<Answer>
}

/** Root fields are null only beside an error, which `ask` does not let pass. */
export type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> }

/** A POST to /graphql. */
export interface GraphqlRequest {
  /** Who signs in by `Dev`; undefined: nobody. */
  readonly as?: string | undefined
  readonly query?: string
  readonly variables?: object
  readonly operationName?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the JSON of query, variables and operationName. */
  readonly body?: string
}

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert on every field they read
  readonly data: any
  readonly errors: readonly AnsweredError[]
}

/** One of `errors`. */
export interface AnsweredError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: string
    readonly requestId?: string
    readonly argument?: string
    readonly limit?: string
  }
}

/**
 * Gives a test file a running server, without a worker; what it promises it does itself where timelines are kept.
 * `env` is as in the README's configuration table.
 */
export function useApp(env: Readonly<Record<string, string>> = {}): TestApp {
  const database = useDatabase()
  const logged: string[] = []
  let url = ''
  let services: Services | undefined
  let close = async () => {}
  beforeAll(async () => {
    const config = readConfig({ NODE_ENV: 'test', ...env })
    const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) })
    services = createServices(database.client, database.db, config)
    await registerStrategies(services, config.feed.maintained)
    if (config.feed.maintained.length > 1) services.inline.start(services.tasks, log)
    const ready = async () => true
    const http = await createServer({
      config,
      services,
      log,
      ready,
      nudge: () => {},
      metrics: new Metrics({ clockSkewSeconds: () => 0 }),
    })
    url = await http.listen({ host: '127.0.0.1', port: 0 })
    close = async () => http.close()
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
    const { data, errors = [] } = (await response.json()) as Partial<Answer>
    return { status: response.status, headers: response.headers, data, errors }
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
