/** How long a fetch of keys takes, its answer included, in milliseconds. */
export const fetchMsMax = 3_000

/** The most bytes of an answer. The largest sets of the known providers have 20 kB. */
const bytesMax = 256 * 1024

const headers = {
  accept: 'application/json, application/jwk-set+json',
  // An idle connection may end at the moment of the next fetch, which would fail.
  connection: 'close',
}

/**
 * Why keys could not be fetched: the end of a sentence that begins with their URL. It repeats no
 * text of an answer.
 */
export class KeysProblem extends Error {}

/**
 * Fetches a text. Follows no redirect, and reads no more than its bounds.
 * @param ended gives up the fetch.
 * @throws {KeysProblem} if the URL does not answer with status 200, within {@link fetchMsMax} and
 *   {@link bytesMax}.
 */
export async function fetchKeys(url: string, ended: AbortSignal): Promise<string> {
  const fetching = new AbortController()
  const end = () => fetching.abort()
  const timer = setTimeout(end, fetchMsMax)
  ended.addEventListener('abort', end)
  try {
    const { signal } = fetching
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    if (response.status !== 200) throw statusProblem(response.status)
    return await readText(response)
  } catch (error) {
    if (error instanceof KeysProblem) throw error
    throw new KeysProblem(fetching.signal.aborted ? tooSlow : reasonOf(error), { cause: error })
  } finally {
    clearTimeout(timer)
    ended.removeEventListener('abort', end)
    // The rest of an answer would keep its connection open.
    end()
  }
}

function statusProblem(status: number): KeysProblem {
  const isRedirect = [301, 302, 303, 307, 308].includes(status)
  const advice = isRedirect ? ', which is not followed: set the URL that it leads to' : ''
  return new KeysProblem(`answers with status ${status}${advice}`)
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Counted as it arrives, because a compressed answer is larger than its length says.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new KeysProblem(`answers with more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const tooSlow = `does not answer within ${fetchMsMax / 1_000} s`

function reasonOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return `cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`
}
