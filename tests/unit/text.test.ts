import { describe, expect, test } from 'vitest'
import { lengthProblem, normalise, unicodeProblem } from '../../src/lib/text.ts'

const family = '👨‍👩‍👧‍👦'
const limits = { graphemesMax: 3, bytesMax: 100 }

describe('length', () => {
  test.each([
    ['letters', 'abc'],
    ['emoji families', family.repeat(3)],
    ['flags', '🇩🇪🇫🇷🇮🇹'],
    ['combining accents', 'e\u0301'.repeat(3)],
    ['nothing', ''],
  ])('counts %s as a reader does', (_, text) => {
    expect(lengthProblem(text, limits)).toBeUndefined()
    if (text) expect(lengthProblem(`${text}x`, limits)).toBe('must be at most 3 characters')
  })

  test('is bounded in bytes too, which are checked first', () => {
    expect(lengthProblem('é'.repeat(50), { graphemesMax: 50, bytesMax: 100 })).toBeUndefined()
    const tooLong = lengthProblem('é'.repeat(51), { graphemesMax: 1, bytesMax: 100 })
    expect(tooLong).toBe('must be at most 100 bytes in UTF-8')
  })
})

test('the same text has the same form', () => {
  expect(normalise('e\u0301')).toBe('é')
})

test('half a surrogate pair is no Unicode, a whole one is', () => {
  expect(unicodeProblem('a\ud83d')).toContain('surrogate')
  expect(unicodeProblem('\ude00a')).toContain('surrogate')
  expect(unicodeProblem('😀')).toBeUndefined()
})
