import { z } from 'zod'
import { parseUrl } from './url.ts'

/**
 * The origin of a URL as browsers send it: in lower case, without a default port and without a slash at its end.
 * @returns undefined if the text is no http(s) origin: it has a path, a user, a query or a wildcard.
 */
export function parseOrigin(text: string): string | undefined {
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.host.includes('*')) return undefined
  return url.href === `${url.origin}/` && !/[?#\\@]/.test(text) ? url.origin : undefined
}

/** A variable that names an origin. */
export const originText = z.string().transform((text, { addIssue }) => {
  const origin = parseOrigin(text)
  if (origin === undefined)
    addIssue(`"${text}" is not an origin: write scheme, host and port, as in https://app.example`)
  return origin ?? ''
})
