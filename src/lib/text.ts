const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** What a text must keep to. Both are maxima. */
export interface TextLimits {
  readonly graphemesMax: number
  readonly bytesMax: number
}

/** What a text that is stored may hold. */
export interface TextRules extends TextLimits {
  /** `line`: one line, whose order on screen nothing turns around. `lines`: line breaks and tabs too. */
  readonly form: 'line' | 'lines'
  /** It may be without anything to see. */
  readonly mayBeBlank?: true
}

/** A text as it is stored, or what is wrong with it. */
export type CheckedText =
  | { readonly text: string; readonly problem?: never }
  | { readonly text?: never; readonly problem: string }

const directionMarks = /[\u202a-\u202e\u2066-\u2069]/
const invisible = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * The one way in for text: in NFC, with line feeds for line breaks, and checked.
 * Bytes come first: composing 90 KB of combining marks blocks the process for half a second.
 */
export function checkedText(given: string, rules: TextRules): CheckedText {
  const tooLarge = bytesProblem(given, rules)
  if (tooLarge) return { problem: tooLarge }
  const text = normalise(rules.form === 'lines' ? given.replace(/\r\n?/g, '\n') : given)
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

/** A text without what no reader sees: control and format characters, fillers, variation selectors. */
export const visibleText = (text: string): string => text.replace(invisible, '')

/** Whether there is nothing to see in a text. */
export const isBlank = (text: string): boolean => visibleText(text).trim() === ''

/** The form in which text is stored and compared: NFC, so that the same text has the same bytes. */
export const normalise = (text: string): string => text.normalize('NFC')

/**
 * What is wrong with the length of a text, or undefined.
 * Bytes are checked first and counting stops at the limit: segmenting 100 KB blocks the process for seconds.
 */
export function lengthProblem(text: string, limits: TextLimits): string | undefined {
  const tooLarge = bytesProblem(text, limits)
  if (tooLarge) return tooLarge
  const { graphemesMax } = limits
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
