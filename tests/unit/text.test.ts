import { describe, expect, test, vi } from 'vitest'
import {
  checkedText,
  isBlank,
  lengthProblem,
  normalise,
  type TextRules,
  unicodeProblem,
} from '../../src/lib/text.ts'

const family = '👨‍👩‍👧‍👦'
const limits = { graphemesMax: 3, bytesMax: 100 }

describe('length', () => {
  test.each([
    ['letters', 'abc'],
    ['emoji families', family.repeat(3)],
    ['flags', '🇩🇪🇫🇷🇮🇹'],
    ['combining accents', 'e\u0301'.repeat(3)],
    ['nothing', ''],
  ])('the length of %s is counted in graphemes', (_, text) => {
    expect(lengthProblem(text, limits)).toBeUndefined()
    if (text) expect(lengthProblem(`${text}x`, limits)).toBe('must be at most 3 characters')
  })

  test('the length of a text is also limited in bytes, which are checked first', () => {
    expect(lengthProblem('é'.repeat(50), { graphemesMax: 50, bytesMax: 100 })).toBeUndefined()
    const tooLong = lengthProblem('é'.repeat(51), { graphemesMax: 1, bytesMax: 100 })
    expect(tooLong).toBe('must be at most 100 bytes in UTF-8')
  })
})

test('equal texts have the same normal form', () => {
  expect(normalise('e\u0301')).toBe('é')
})

test('half a surrogate pair is refused, a whole pair is accepted', () => {
  expect(unicodeProblem('a\ud83d')).toContain('surrogate')
  expect(unicodeProblem('\ude00a')).toContain('surrogate')
  expect(unicodeProblem('😀')).toBeUndefined()
})

describe('checked text', () => {
  const line: TextRules = { form: 'line', graphemesMax: 64, bytesMax: 640 }
  const lines: TextRules = { ...line, form: 'lines' }

  test('a text with too many bytes is refused before it is normalised', () => {
    const composing = vi.spyOn(String.prototype, 'normalize')
    expect(checkedText('\u0301\u0323'.repeat(22_500), line).problem).toContain('640 bytes')
    expect(composing).not.toHaveBeenCalled()
    composing.mockRestore()
  })

  test('a text is measured again after normalisation, which may lengthen it', () => {
    const grows = '\u0958'.repeat(3)
    expect(checkedText(grows, { ...line, bytesMax: 9 }).problem).toContain('9 bytes')
    expect(checkedText(grows, { ...line, bytesMax: 18 }).text).toBe('\u0915\u093c'.repeat(3))
  })

  test.each(['a\nb', 'a\tb', 'a\u2028b', 'a\u0000', 'a\u009fb', 'a\u202eb', '\u2066a', '\ud800'])(
    '%j is refused in a one-line text',
    (text) => {
      expect(checkedText(text, line).problem).toBeDefined()
    },
  )

  test.each(['ann', 'Ann\u200dé', 'עברית\u200f', family])('%j is accepted as one line', (text) => {
    expect(checkedText(text, line).text).toBe(text)
  })

  test('a multi-line text may contain line feeds and tabs, and no other control characters', () => {
    expect(checkedText('a\r\nb\r\tc\n', lines).text).toBe('a\nb\n\tc\n')
    expect(checkedText('a\u0000', lines).problem).toContain('control')
    expect(checkedText('a\u0085', lines).problem).toContain('control')
    expect(checkedText('\ud800', lines).problem).toContain('surrogate')
  })

  test('a text must have a visible character, unless it may be blank', () => {
    expect(checkedText('\u200b \u3164', line).problem).toBe('must not be empty')
    expect(checkedText('', { ...line, mayBeBlank: true }).text).toBe('')
  })
})

test.each(['', ' \n\t', '\u200b\u200c\u200d\u2060\ufeff', '\u00ad', '\u3164', '\u202e \ufe0f'])(
  '%j has no visible character',
  (text) => {
    expect(isBlank(text)).toBe(true)
    expect(isBlank(`${text}.`)).toBe(false)
  },
)
