import { parseUrl } from './url.ts'

/**
 * The origin of a URL as browsers send it: in lower case, without a default port and without a slash at its end. Any
 * scheme may have origins: apps use `capacitor://localhost`, `tauri://localhost` and `chrome-extension://ID`.
 * @returns undefined if the text is no origin: it has a path, a user, a query or a wildcard, or no host.
 */
export function parseOrigin(text: string): string | undefined {
  if (/[?#\\@*\s]/.test(text) || !text.includes('://')) return undefined
  const url = parseUrl(text)
  if (!url?.host || url.protocol === 'file:' || !/^\/?$/.test(url.pathname)) return undefined
  // Other schemes have no `origin` in the standard, but browsers send one.
  return `${url.protocol}//${url.host}`.toLowerCase()
}
