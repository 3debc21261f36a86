/** The answer of a server: data, or code and message of the first error. */
export type Answer =
  | { readonly data: Data; readonly code?: undefined; readonly message?: undefined }
  | { readonly data?: undefined; readonly code: string; readonly message: string }

// biome-ignore lint/suspicious/noExplicitAny: answers have the shape of the document that was sent.
export type Data = Record<string, any>

/** One GraphQL request. */
export interface Request {
  readonly document: string
  readonly variables: Readonly<Record<string, unknown>>
  /** The handle of the viewer. Undefined for an anonymous request. */
  readonly viewer?: string | undefined
}

/**
 * Sends one request. Never throws.
 * @param timeoutMs how long the client waits, in milliseconds. After that, the code is ABANDONED.
 * @returns the code NETWORK if there was no answer in JSON.
 */
export async function sendRequest(
  url: string,
  request: Request,
  timeoutMs: number,
): Promise<Answer> {
  const { document, variables, viewer } = request
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(viewer === undefined ? {} : { authorization: `Dev ${viewer}` }),
      },
      body: JSON.stringify({ query: document, variables }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { data, errors } = (await response.json()) as {
      data?: Data | null
      errors?: { message: string; extensions?: { code?: string } }[]
    }
    const error = errors?.[0]
    if (error) {
      return { code: error.extensions?.code ?? `HTTP_${response.status}`, message: error.message }
    }
    return data ? { data } : { code: `HTTP_${response.status}`, message: 'no data' }
  } catch (error) {
    const { name, message, cause } = error as Error
    const code = name === 'TimeoutError' ? 'ABANDONED' : 'NETWORK'
    return { code, message: cause instanceof Error ? cause.message : message }
  }
}
