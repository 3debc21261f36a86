import { Agent as HttpAgent, type IncomingMessage, request as requestByHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import type { DocumentName, Documents } from './documents.ts'

/** A request for a document of `schema/operations`. */
export interface ApiRequest {
  readonly document: DocumentName
  readonly variables: Readonly<Record<string, unknown>>
  /** The number of the acting user. */
  readonly as: number
  /** The tag of an answer that the client holds. */
  readonly etag?: string | undefined
}

/** What became of a request. */
export interface Answer<Data> {
  /** `OK`, `NOT_MODIFIED`, the code of the first error, `HTTP_502` of a proxy, `CONNECTION`, `TIMEOUT` or `CLOSED`. */
  readonly code: string
  /** Present if the code is `OK`. */
  readonly data?: Data
  readonly etag?: string | undefined
  /** The message of the first error. */
  readonly message?: string
  /** What the header Retry-After says. */
  readonly retryAfterSeconds?: number
}

/** Whether an answer has what was asked for: data, or that the data held is still right. */
export const isAnswered = ({ code }: Answer<unknown>): boolean =>
  code === 'OK' || code === 'NOT_MODIFIED'

/** Sends a request. Never rejects. */
export type Ask = <Data>(request: ApiRequest) => Promise<Answer<Data>>

/** What a client needs. */
export interface ClientParts {
  /** The addresses of the processes, which get requests in turn. */
  readonly urls: readonly URL[]
  readonly documents: Documents
  /** The value of the header Authorization of a user by number. */
  readonly authorizationOf: (user: number) => Promise<string>
}

/** How long a request may take, in milliseconds: longer than a server lets it take by default. */
export const requestMsMax = 15_000
/** The most characters of a query by GET. A longer one goes by POST. */
const getLengthMax = 6_000

/**
 * A client of a deployment over HTTP. Queries go by GET, mutations by POST, both as persisted documents: the text is sent
 * only to a process that does not have it. It opens as many connections as requests are open, and keeps them. It asks for
 * no compression, follows no redirect and repeats nothing.
 */
export class ApiClient implements Disposable {
  private readonly agents = {
    'http:': new HttpAgent({ keepAlive: true, scheduling: 'fifo' }),
    'https:': new HttpsAgent({ keepAlive: true, scheduling: 'fifo' }),
  }
  private readonly open = new Set<() => void>()
  private turn = 0
  private isClosed = false

  constructor(private readonly parts: ClientParts) {}

  /** Sends a request to the next process. An answer that the document is not there is followed by its text. */
  readonly ask: Ask = async <Data>(request: ApiRequest): Promise<Answer<Data>> => {
    const url = this.nextUrl()
    const answer = await this.send<Data>(url, request, false)
    return answer.code === 'PERSISTED_QUERY_NOT_FOUND'
      ? this.send<Data>(url, request, true)
      : answer
  }

  /** Sends a document of any text by POST, anonymously, to the next process. */
  askPlainly<Data>(query: string): Promise<Answer<Data>> {
    const body = JSON.stringify({ query })
    return this.exchange(this.nextUrl(), 'POST', { 'content-type': 'application/json' }, body)
  }

  /** Closes all connections. Open requests end with `CLOSED`. */
  [Symbol.dispose](): void {
    this.isClosed = true
    for (const abort of this.open) abort()
    for (const agent of Object.values(this.agents)) agent.destroy()
  }

  private nextUrl(): URL {
    const { urls } = this.parts
    return urls[this.turn++ % urls.length] as URL
  }

  private async send<Data>(
    url: URL,
    request: ApiRequest,
    withText: boolean,
  ): Promise<Answer<Data>> {
    const { document, variables, as, etag } = request
    const { id, type, body: query } = this.parts.documents[document]
    const extensions = { persistedQuery: { version: 1, sha256Hash: id } }
    const headers = {
      authorization: await this.parts.authorizationOf(as),
      ...(etag ? { 'if-none-match': etag } : {}),
    }
    if (type === 'query' && !withText) {
      const parameters = new URLSearchParams({
        operationName: document,
        variables: JSON.stringify(variables),
        extensions: JSON.stringify(extensions),
      })
      const target = new URL(url)
      target.search = parameters.toString()
      if (target.search.length <= getLengthMax) return this.exchange(target, 'GET', headers)
    }
    const members = { operationName: document, variables, extensions, ...(withText && { query }) }
    const posted = { ...headers, 'content-type': 'application/json' }
    return this.exchange(url, 'POST', posted, JSON.stringify(members))
  }

  private async exchange<Data>(
    url: URL,
    method: 'GET' | 'POST',
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer<Data>> {
    if (this.isClosed) return { code: 'CLOSED' }
    const aborting = new AbortController()
    const abort = () => aborting.abort()
    this.open.add(abort)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      abort()
    }, requestMsMax)
    try {
      const options = { method, headers, signal: aborting.signal }
      const response = await this.receive(url, options, body)
      return readAnswer<Data>(response, await readText(response))
    } catch (error) {
      const code = this.isClosed ? 'CLOSED' : isLate ? 'TIMEOUT' : 'CONNECTION'
      return { code, message: `${(error as Error).message}` }
    } finally {
      clearTimeout(timer)
      this.open.delete(abort)
    }
  }

  private receive(url: URL, options: RequestOptions, body = ''): Promise<IncomingMessage> {
    const isSecure = url.protocol === 'https:'
    const agent = this.agents[isSecure ? 'https:' : 'http:']
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...options.headers, ...length }
    return new Promise((resolve, reject) => {
      const send = isSecure ? requestByHttps : requestByHttp
      const sent = send(url, { ...options, headers, agent }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** What Node.js sends beside the body. */
interface RequestOptions {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

interface Body<Data> {
  readonly data?: Data | null
  readonly errors?: readonly {
    readonly message: string
    readonly extensions?: { readonly code?: string }
  }[]
}

function readAnswer<Data>(response: IncomingMessage, text: string): Answer<Data> {
  const { statusCode = 0, headers } = response
  const retryAfter = Number(headers['retry-after'])
  const after = retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}
  const etag = headers.etag
  if (statusCode === 304) return { code: 'NOT_MODIFIED', etag }
  const { data, errors = [] } = parseBody<Data>(text)
  const [error] = errors
  if (error) {
    return {
      code: error.extensions?.code ?? `HTTP_${statusCode}`,
      message: error.message,
      ...after,
    }
  }
  if (statusCode !== 200 || !data) return { code: `HTTP_${statusCode}`, ...after }
  return { code: 'OK', data, etag }
}

function parseBody<Data>(text: string): Body<Data> {
  try {
    return (JSON.parse(text) ?? {}) as Body<Data>
  } catch {
    return {}
  }
}
