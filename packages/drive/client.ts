import { join } from 'node:path'
import { Agent, request as requestByHttp } from 'undici'
import { type CollectedDocument, collectDocuments } from '../../src/extensions.ts'
import { root } from '../../src/lib/root.ts'

/** A request for a document of `schema/operations`. */
export interface ApiRequest {
  /** The name of an operation. */
  readonly document: string
  readonly variables: Readonly<Record<string, unknown>>
  /** The number of the acting user. */
  readonly as: number
  /** The tag of an answer that the client holds. */
  readonly etag?: string | undefined
}

/** What became of a request. */
export interface Answer<Data> {
  /**
   * `OK`, `NOT_MODIFIED`, the code of the first error, `HTTP_502` of a proxy, `CONNECTION`,
   * `TIMEOUT` or `CLOSED`.
   */
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

/** How long a request may take, in milliseconds: longer than a server lets it take by default. */
export const requestMsMax = 15_000
/** The most characters of a query by GET. A longer one goes by POST. */
const getLengthMax = 6_000

/**
 * A client of a deployment over HTTP. Queries go by GET, mutations by POST, both as persisted
 * documents: the text is sent only to a process that does not have it. It opens as many connections
 * as requests are open, and keeps them. It asks for no compression, follows no redirect and repeats
 * nothing.
 */
export class ApiClient implements Disposable {
  private readonly agent = new Agent()
  private turn = 0
  private isClosed = false

  private constructor(
    private readonly urls: readonly URL[],
    private readonly authorizationOf: (user: number) => Promise<string>,
    private readonly documents: ReadonlyMap<string, CollectedDocument>,
  ) {}

  /**
   * Reads the documents of `schema/operations`. A server that trusts them executes them.
   * @param urls the addresses of the processes, which get requests in turn.
   * @param authorizationOf the value of the header Authorization of a user by number.
   */
  static async open(
    urls: readonly URL[],
    authorizationOf: (user: number) => Promise<string>,
  ): Promise<ApiClient> {
    const documents = await collectDocuments(join(root, 'schema/operations'))
    const byName = new Map(documents.map((document) => [document.name, document]))
    return new ApiClient(urls, authorizationOf, byName)
  }

  /**
   * Sends a request to the next process. An answer that the document is not there is followed by
   * its text.
   */
  readonly ask: Ask = async <Data>(request: ApiRequest): Promise<Answer<Data>> => {
    const url = this.nextUrl()
    const answer = await this.send<Data>(url, request, false)
    return answer.code === 'PERSISTED_QUERY_NOT_FOUND'
      ? this.send<Data>(url, request, true)
      : answer
  }

  /** Sends a document of any text by POST, anonymously, to the next process. */
  askPlainly<Data>(query: string): Promise<Answer<Data>> {
    return this.exchange(this.nextUrl(), {}, { query })
  }

  /** Closes all connections. Open requests end with `CLOSED`. */
  [Symbol.dispose](): void {
    this.isClosed = true
    void this.agent.destroy()
  }

  private nextUrl(): URL {
    return this.urls[this.turn++ % this.urls.length] as URL
  }

  private async send<Data>(url: URL, request: ApiRequest, withText: boolean) {
    const { document, variables, as, etag } = request
    const collected = this.documents.get(document)
    if (!collected) throw new Error(`schema/operations has no operation ${document}`)
    const { id, type, body: query } = collected
    const extensions = { persistedQuery: { version: 1, sha256Hash: id } }
    const headers = {
      authorization: await this.authorizationOf(as),
      ...(etag && { 'if-none-match': etag }),
    }
    if (type === 'query' && !withText) {
      const target = new URL(url)
      target.search = new URLSearchParams({
        operationName: document,
        variables: JSON.stringify(variables),
        extensions: JSON.stringify(extensions),
      }).toString()
      if (target.search.length <= getLengthMax) return this.exchange<Data>(target, headers)
    }
    const members = { operationName: document, variables, extensions, ...(withText && { query }) }
    return this.exchange<Data>(url, headers, members)
  }

  /** Sends a GET, or a POST of a body. */
  private async exchange<Data>(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<Answer<Data>> {
    try {
      const response = await requestByHttp(url, {
        dispatcher: this.agent,
        signal: AbortSignal.timeout(requestMsMax),
        ...(body
          ? {
              method: 'POST',
              headers: { ...headers, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }
          : { headers }),
      })
      return readAnswer(response.statusCode, response.headers, await response.body.text())
    } catch (error) {
      const { name, message } = error as Error
      const code = this.isClosed ? 'CLOSED' : name === 'TimeoutError' ? 'TIMEOUT' : 'CONNECTION'
      return { code, message }
    }
  }
}

interface Body<Data> {
  readonly data?: Data | null
  readonly errors?: readonly {
    readonly message: string
    readonly extensions?: { readonly code?: string }
  }[]
}

function readAnswer<Data>(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  text: string,
): Answer<Data> {
  const etag = headers.etag?.toString()
  if (status === 304) return { code: 'NOT_MODIFIED', etag }
  const { data, errors: [error] = [] } = parseBody<Data>(text)
  if (status === 200 && data && !error) return { code: 'OK', data, etag }
  const retryAfterSeconds = Number(headers['retry-after'])
  return {
    code: error?.extensions?.code ?? `HTTP_${status}`,
    ...(error && { message: error.message }),
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  }
}

function parseBody<Data>(text: string): Body<Data> {
  try {
    return (JSON.parse(text) ?? {}) as Body<Data>
  } catch {
    return {}
  }
}
