/** The most characters of a stored URL. */
export const urlLengthMax = 2_048

/** The URL in its stored form, or a problem for the error message. */
export type CheckedUrl =
  | { readonly url: string; readonly problem?: never }
  | { readonly url?: never; readonly problem: string }

/**
 * Checks an http or https URL of a client, and converts it to the form that a browser would send, so that the checked URL
 * is the shown one.
 */
export function checkedUrl(given: string): CheckedUrl {
  const tooLong = `must be at most ${urlLengthMax} characters`
  if (given.length > urlLengthMax) return { problem: tooLong }
  if (!given.isWellFormed()) return { problem: 'must be well-formed Unicode' }
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return { problem: 'must be an http or https URL' }
  }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not contain a user name or password' }
  }
  return url.href.length > urlLengthMax ? { problem: tooLong } : { url: url.href }
}
