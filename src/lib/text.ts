const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The most graphemes and bytes of a text. */
export interface TextLimits {
  readonly graphemesMax: number
  readonly bytesMax: number
}

/** The rules of a stored text. */
export interface TextRules extends TextLimits {
  /** `line`: one line without direction overrides. `lines`: also allows line breaks and tabs. */
  readonly form: 'line' | 'lines'
  /** Allows a text without visible characters. */
  readonly mayBeBlank?: true
}

/** The text in its stored form, or a problem for the error message. */
export type CheckedText =
  | { readonly text: string; readonly problem?: never }
  | { readonly text?: never; readonly problem: string }

const directionMarks = /[\u202a-\u202e\u2066-\u2069]/
const invisible = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Checks a text of a client and converts it to its stored form: NFC, with line feeds for line
 * breaks. Checks the bytes first, because composing 90 KB of combining marks blocks the process for
 * half a second.
 */
export function checkedText(input: string, rules: TextRules): CheckedText {
  const tooLarge = bytesProblem(input, rules)
  if (tooLarge) return { problem: tooLarge }
  const text = normalise(rules.form === 'lines' ? input.replace(/\r\n?/g, '\n') : input)
  const problem =
    unicodeProblem(text) ??
    controlProblem(text, rules.form) ??
    (!rules.mayBeBlank && isBlank(text) ? 'must not be empty' : lengthProblem(text, rules))
  return problem ? { problem } : { text }
}

function controlProblem(text: string, form: TextRules['form']): string | undefined {
  if (form === 'lines') {
    return /[^\P{Cc}\n\t]/u.test(text) ? 'must not contain control characters' : undefined
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return 'must be one line without control characters'
  return directionMarks.test(text)
    ? 'must not contain characters that override the direction of text'
    : undefined
}

/**
 * The text without invisible characters: control and format characters, fillers, variation
 * selectors.
 */
export const visibleText = (text: string): string => text.replace(invisible, '')

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => visibleText(text).trim() === ''

/** The form in which text is stored and compared: NFC, so that the same text has the same bytes. */
export const normalise = (text: string): string => text.normalize('NFC')

/**
 * The problem with the length of a text, or undefined. Checks the bytes first, and stops to count
 * at the limit, because segmenting 100 KB blocks the process for seconds.
 */
export function lengthProblem(text: string, limits: TextLimits): string | undefined {
  const tooLarge = bytesProblem(text, limits)
  if (tooLarge) return tooLarge
  const { graphemesMax } = limits
  // A character has one code unit at least.
  if (text.length <= graphemesMax) return undefined
  let count = 0
  for (const _ of graphemes.segment(text)) {
    if (++count > graphemesMax) return `must be at most ${graphemesMax} characters`
  }
  return undefined
}

const bytesProblem = (text: string, { bytesMax }: TextLimits): string | undefined =>
  Buffer.byteLength(text) > bytesMax ? `must be at most ${bytesMax} bytes in UTF-8` : undefined

/** Why a text cannot be stored as Unicode, or undefined. */
export const unicodeProblem = (text: string): string | undefined =>
  text.isWellFormed()
    ? undefined
    : 'must be well-formed Unicode (it contains half of a surrogate pair)'
