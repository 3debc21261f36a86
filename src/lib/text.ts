const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** What a text must keep to. Both are maxima. */
export interface TextLimits {
  readonly graphemesMax: number
  readonly bytesMax: number
}

/** The form in which text is stored and compared: NFC, so that the same text has the same bytes. */
export const normalise = (text: string): string => text.normalize('NFC')

/**
 * What is wrong with the length of a text, or undefined.
 * Bytes are checked first and counting stops at the limit: segmenting 100 KB blocks the process for seconds.
 */
export function lengthProblem(
  text: string,
  { graphemesMax, bytesMax }: TextLimits,
): string | undefined {
  if (Buffer.byteLength(text) > bytesMax) return `must be at most ${bytesMax} bytes in UTF-8`
  let count = 0
  for (const _ of graphemes.segment(text)) {
    if (++count > graphemesMax) return `must be at most ${graphemesMax} characters`
  }
  return undefined
}

/** Why a text cannot be stored as Unicode, or undefined. */
export const unicodeProblem = (text: string): string | undefined =>
  text.isWellFormed() ? undefined : 'must be well-formed Unicode (it holds half a surrogate pair)'
