import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nameProblem, ReservedNames } from '../../src/users/names.ts'
import { lawSeed } from '../support/seed.ts'

describe('display names', () => {
  test.each([
    'Ann',
    'José Ñandú',
    'Nguyễn Thị Ánh',
    'Łukasz Żółć',
    'Ἀριστοτέλης',
    'Дмитро Їжак',
    '山田 太郎',
    '葛\u{e0100}城',
    '神\ufe00',
    '김철수',
    'עִבְרִית',
    'בְּרֵאשִׁ֖ית',
    'محمد',
    'می\u200cخواهم',
    'क्\u200dष',
    'ශ්\u200dරී ලංකා',
    'ไทยน้ำ',
    'བོད་ཡིག ཧཱུྃ',
    'Ann 👩‍👩‍👧‍👦',
    '👍🏽 Bo',
    'heart ❤️',
    'text ❤︎',
    '❤\u200d🔥',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿 Wales',
    '🇩🇪',
    '1️⃣',
    "O'Brien-Smith, Jr.",
    'Zoë · 2nd',
  ])('%s is accepted', (name) => {
    expect(nameProblem(name.normalize('NFC'))).toBeUndefined()
  })

  test.each([
    ['a zero-width space', 'Ann\u200b'],
    ['a joiner between Latin letters', 'An\u200dn'],
    ['a non-joiner between Latin letters', 'An\u200cn'],
    ['a joiner at the end of an emoji', '👩\u200d'],
    ['a joiner at the end of a word', 'می\u200c'],
    ['a word joiner', 'A\u2060nn'],
    ['a byte order mark', '\ufeffAnn'],
    ['a soft hyphen', 'A\u00adnn'],
    ['a direction mark', 'Ann\u200e'],
    ['a grapheme joiner', 'A\u034fnn'],
    ['a Hangul filler', 'Ann\u3164'],
    ['a braille blank', 'Ann\u2800'],
    ['a variation selector after a letter', 'Ann\ufe00'],
    ['a supplementary variation selector after a letter', 'Ann\u{e0100}'],
    ['tags without a flag', 'Ann\u{e0061}\u{e007f}'],
    ['an annotation mark', 'Ann\ufff9'],
  ])('a name with %s is refused', (_, name) => {
    expect(nameProblem(name.normalize('NFC'))).toBe('must not contain invisible characters')
  })

  test('a name with more than five marks on a letter is refused', () => {
    expect(nameProblem(`x${'\u0316'.repeat(5)}`)).toBeUndefined()
    expect(nameProblem(`x${'\u0316'.repeat(6)}`)).toMatch(/5 marks/)
    expect(nameProblem(`x${'\u0301\u20dd'.repeat(157)}`.normalize('NFC'))).toMatch(/5 marks/)
  })

  test('a name with an invisible character anywhere in an accepted name is refused', () => {
    const hiding = fc.constantFrom('\u200b', '\u2060', '\u00ad', '\u034f', '\u3164', '\u2800')
    const letters = fc.string({
      unit: fc.constantFrom('a', 'é', 'ж', '山', ' ', '👍'),
      minLength: 1,
    })
    fc.assert(
      fc.property(letters, fc.nat(20), hiding, (name, at, mark) => {
        expect(nameProblem(name)).toBeUndefined()
        const units = [...name]
        units.splice(at % (units.length + 1), 0, mark)
        expect(nameProblem(units.join(''))).toBeDefined()
      }),
      lawSeed(),
    )
  })
})

describe('reserved names', () => {
  const reserved = new ReservedNames(['admin', 'support', 'Official', 'root'])

  test.each([
    'admin',
    'ADMIN',
    'a.d-m_i n',
    'adm1n',
    'admln',
    'r00t',
    'аdmin',
    'ΑDMIN',
    'ｓｕｐｐｏｒｔ',
    'ѕυррοrt',
    '𝓪𝓭𝓶𝓲𝓷',
    'ádmïn',
    'official!!',
    '✨ admin ✨',
  ])('%s is reserved', (name) => {
    expect(reserved.has(name)).toBe(true)
  })

  test.each(['ann', 'administrata', 'my admin', 'supporter', 'roots', 'Дмитро', '山田', '', '✨'])(
    '%j is not reserved',
    (name) => {
      expect(reserved.has(name)).toBe(false)
    },
  )

  test('no words reserve no name', () => {
    const none = new ReservedNames([])
    expect([none.has('admin'), none.has('')]).toEqual([false, false])
  })
})
