import { type Extensions, retryPause } from './retry.ts'

/** An answer of GraphQL over HTTP. */
export interface Answer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions?: Extensions }[]
}

// #region fetch-answer
/**
 * Sends a request, and repeats it while it may succeed later. A mutation keeps its clientMutationId, so it takes effect
 * once. An answer may have errors. Throws what `fetch` throws.
 */
export async function fetchAnswer(url: string, request: RequestInit): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, request)
      .then(readAnswer)
      .catch((error: Error) => error)
    const errors = answer instanceof Error ? [] : answer.errors
    const failures = errors?.map(({ extensions = {} }) => extensions)
    const pause = failures && retryPause(failures, tries)
    if (pause !== undefined) await new Promise((resolve) => setTimeout(resolve, pause))
    else if (answer instanceof Error) throw answer
    else return answer
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
