/** The answers to GET requests that are kept. */
const keptMax = 50

/**
 * `fetch` that keeps answers with their ETag, and returns the kept one for status 304. For React Native and Node, whose
 * `fetch` does not. One for each viewer.
 */
export function createTaggedFetch(): typeof fetch {
  const kept = new Map<string, { readonly etag: string; readonly answer: Response }>()
  return async (input, init) => {
    const url = String(input)
    if ((init?.method ?? 'GET') !== 'GET') return fetch(input, init)
    const before = kept.get(url)
    const headers = new Headers(init?.headers)
    if (before) headers.set('if-none-match', before.etag)
    const response = await fetch(input, { ...init, headers })
    if (before && response.status === 304) return before.answer.clone()
    const etag = response.headers.get('etag')
    kept.delete(url)
    if (etag && response.ok) kept.set(url, { etag, answer: response.clone() })
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size > keptMax) kept.delete(oldest)
    return response
  }
}
