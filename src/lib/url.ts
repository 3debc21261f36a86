/** The most characters of a stored URL. */
export const urlLengthMax = 2_048

/**
 * The URL of a text. Undefined if it is none.
 *
 * Not `URL.canParse`: on Node 20, once it is optimised, it refuses URLs with letters such as "ü".
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** The URL in its stored form, or a problem for the error message. */
export type CheckedUrl =
  | { readonly url: string; readonly problem?: never }
  | { readonly url?: never; readonly problem: string }

/**
 * Checks an http or https URL of a client, and converts it to the form that a browser would send,
 * so that the checked URL is the shown one.
 */
export function checkedUrl(input: string): CheckedUrl {
  const tooLong = `must be at most ${urlLengthMax} characters`
  if (input.length > urlLengthMax) return { problem: tooLong }
  if (!input.isWellFormed()) return { problem: 'must be well-formed Unicode' }
  const url = parseUrl(input)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return { problem: 'must be an http or https URL' }
  }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not contain a user name or password' }
  }
  return url.href.length > urlLengthMax ? { problem: tooLong } : { url: url.href }
}
