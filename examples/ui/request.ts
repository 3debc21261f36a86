/** What an error of the server says beside its message. docs/how-to/clients.md has the codes. */
export interface Extensions {
  readonly code?: string
  readonly retryAfterSeconds?: number
}

/** How often a request is sent. With the pauses, that takes between 16 and 25 s, and the time of the answers. */
export const triesMax = 8
const [firstMs, longestMs] = [300, 4_000]
/** A request that should wait longer fails. */
const patienceMs = 30_000
/** Only browsers say that they are offline. */
const browser: { readonly navigator?: { readonly onLine?: boolean } } = globalThis

/**
 * The pause before a failed request is sent again, in milliseconds. Undefined if it is not sent again.
 * @param failures the `extensions` of the errors of its answer. None: it had no answer, or not one of the server.
 * @param tries how often it was sent.
 */
export function retryPause(failures: readonly Extensions[], tries: number): number | undefined {
  if (tries >= triesMax || browser.navigator?.onLine === false) return
  const temporary = failures.filter(({ code }) => code === 'UNAVAILABLE' || code === 'RATE_LIMITED')
  if (failures.length > 0 && temporary.length === 0) return
  const seconds = temporary.map(({ retryAfterSeconds = 0 }) => Number(retryAfterSeconds) || 0)
  const askedMs = Math.max(0, ...seconds) * 1_000
  if (askedMs > patienceMs) return
  const pauseMs = Math.max(askedMs, Math.min(longestMs, firstMs * 2 ** (tries - 1)))
  // Clients that failed at the same moment do not come back at the same moment.
  return pauseMs * (1 + Math.random() / 2)
}

/** An answer of GraphQL over HTTP. */
export interface Answer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions?: Extensions }[]
}

// #region fetch-answer
/**
 * Sends a request, and repeats it while it may succeed later. A mutation keeps its clientMutationId, so it takes effect
 * once. An answer may have errors. Throws what `send` throws.
 */
export async function fetchAnswer(
  url: string,
  request: RequestInit,
  send = fetch,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await send(url, request)
      .then(readAnswer)
      .catch((error: Error) => error)
    const isAnswered = !(answer instanceof Error)
    const errors = isAnswered ? (answer.errors ?? []) : []
    const failures = errors.map(({ extensions = {} }) => extensions)
    const isDone = isAnswered && errors.length === 0
    const pause = isDone ? undefined : retryPause(failures, tries)
    if (pause !== undefined) await new Promise((resolve) => setTimeout(resolve, pause))
    else if (isAnswered) return answer
    else throw answer
  }
}

async function readAnswer(response: Response): Promise<Answer> {
  if (response.headers.get('content-type')?.includes('json')) return response.json()
  const message = `The server answered with status ${response.status}.`
  // A proxy without a server behind it.
  if (response.status >= 502 && response.status <= 504) throw new TypeError(message)
  return { errors: [{ message }] }
}
// #endregion
