import fc from 'fast-check'
import skeletons from 'unhomoglyph/data.json' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { parseHandle } from '../../src/lib/ids.ts'
import { nameProblem, ReservedNames } from '../../src/users/names.ts'
import { scripts } from '../support/scripts.ts'
import { lawSeed } from '../support/seed.ts'

/** The reserved handles of the standard configuration. */
const standard = readConfig({}).users.reservedHandles

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
    'അവന്\u200d',
    'അവന്\u200d നായര്\u200d',
    'ಶ್ಯಾಮ್\u200c',
    'రామ్\u200c, Jr.',
    'राम्\u200d',
    'ᠴᠠᠭᠠ\u180eᠠ',
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
    ['two joiners at the end of a word', 'അവന്\u200d\u200d'],
    ['a joiner after a vowel sign', 'രാമി\u200d'],
    ['a joiner after a sign without a letter', 'Ann \u0d4d\u200d'],
    ['a joiner after a sign on a Latin letter', 'Ann\u0d4d\u200d'],
    ['a vowel separator at the end of a word', 'ᠴᠠᠭᠠ\u180e'],
    ['a vowel separator and a selector at the end of a word', 'ᠴᠠᠭᠠ\u180e\u180b'],
    ['several selectors', 'ᠴ\u180b\u180b'],
    ['several vowel separators', 'ᠴ\u180e\u180eᠠ'],
    ['a vowel separator between Latin letters', 'An\u180en'],
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

  test.each(['.', '-', '___', '…', '!?', '—', '。', '|', '$', '+', '←', '·', '★', '( )'])(
    'the name %s, of punctuation alone, is refused',
    (name) => {
      expect(nameProblem(name)).toBe('must contain a letter, a digit or an emoji')
    },
  )

  test.each(['7', '٧', 'ⅷ', '山', 'ー', '👍', '❤', '🇩🇪', '#️⃣', '⠁⠝⠝', '(a)', '-1-'])(
    'the name %s is accepted for one letter, digit or emoji',
    (name) => {
      expect(nameProblem(name)).toBeUndefined()
    },
  )

  test('words of letters, marks and digits of each script are accepted', () => {
    const refused = scripts.flatMap(({ name, letters, others }) =>
      [...letters, ...others.map((one) => letters[0] + one)]
        .map((word) => word.normalize('NFC'))
        // A filler shows nothing.
        .filter((word) => nameProblem(word) !== undefined && !/\p{DI}/u.test(word))
        .map((word) => `${name}: ${word}`),
    )
    expect(refused).toEqual([])
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

describe('handles that mean no person', () => {
  const reserved = new ReservedNames([])

  test.each([
    ...['me', 'you', 'self', 'viewer', 'all', 'everyone', 'here', 'anonymous', 'deleted'],
    ...['null', 'undefined', 'nan', 'nil', 'none', 'true', 'false', 'nu.ll', 'n_a_n'],
    ...[
      'constructor',
      'prototype',
      'hasownproperty',
      'tostring',
      'valueof',
      'proto',
      'isprototypeof',
    ],
    ...['login', 'log-in', 'log_out', 'signup', 'sign.up', 'settings', 'home', 'search', 'explore'],
    ...['api', 'graphql', 'healthz', 'livez', 'readyz', 'metrics', 'www', 'robots.txt', 'noreply'],
  ])('%s is reserved as a handle', (handle) => {
    expect(parseHandle(handle)).toBe(handle)
    expect(reserved.hasHandle(handle)).toBe(true)
    expect(reserved.has(handle)).toBe(false)
  })

  test.each([
    ...[
      'ali',
      'nill',
      'mel',
      'mei',
      'neil',
      'null1',
      'me-too',
      'youssef',
      'herb',
      'alla',
      'trueman',
    ],
    ...['homer', 'constructora', 'seif', 'i', 'a', 'm3', 'n0ne', 'falsetto', 'ann', 'object'],
  ])('%s is free, also if it looks like a word that is not', (handle) => {
    expect(reserved.hasHandle(handle)).toBe(false)
  })

  test('each property that every object of JavaScript has is reserved, if it is a handle', () => {
    const names = Object.getOwnPropertyNames(Object.prototype).map((name) => name.toLowerCase())
    const free = names.filter((name) => parseHandle(name) && !reserved.hasHandle(name))
    expect(free).toEqual([])
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

  test.each([
    ['അവന്', 'അവന്\u200d'],
    ['ರಾಮ್', 'ರಾಮ್\u200c'],
    ['ᠴᠠᠭᠠᠠ', 'ᠴᠠᠭᠠ\u180eᠠ'],
  ])('%s is reserved in each spelling', (plain, joined) => {
    expect(new ReservedNames([plain]).has(joined)).toBe(true)
    expect(new ReservedNames([joined]).has(plain)).toBe(true)
  })

  test.each(['ann', 'administrata', 'my admin', 'supporter', 'roots', 'Дмитро', '山田', '', '✨'])(
    '%j is not reserved',
    (name) => {
      expect(reserved.has(name)).toBe(false)
    },
  )

  test.each([
    ...['АDМІN', 'ΑDΜΙΝ', 'ᎪᎠᎷᎥN', 'ꓮꓓꓟꓲꓠ', 'аԁmіո', 'ɑdmın', 'adrnin', 'ADRNIN', 'aԁⅿiɴ', 'ᴀᴅᴍɪɴ'],
    ...['🅐🅓🅜🅘🅝', '🅰🅳🅼🅸🅽', '🄰🄳🄼🄸🄽', '🇦🇩🇲🇮🇳', 'Ⓐⓓⓜⓘⓝ', '⒜⒟⒨⒤⒩', '𝐀𝕕𝔪𝒾𝚗', 'ADMIИ', 'αdmïñ', 'ađmįń'],
    ...['@dm1n', '|admin|', '°admin°', '「admin」', 'a•d•m•i•n'],
    ...['ЅUРРОRТ', 'ѕuррoгt', 'ꜱᴜᴘᴘᴏʀᴛ', '$upp0rt', 'supp0r7', 'ѕυρρσгτ', 'ꓢꓴꓑꓑꓳꓣꓔ', 'ⓢⓤⓟⓟⓞⓡⓣ'],
    ...['ОFFІСІАL', 'оffісіаӏ', 'offiсial', 'offіcіа1', 'ЯООТ', 'гооt', 'ᖇOOT', 'rооτ'],
  ])('%s looks like a reserved name', (name) => {
    expect(reserved.has(name.normalize('NFC'))).toBe(true)
  })

  test('a reserved name with any letter replaced by one that UTS 39 takes for it is reserved', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
    const word = new ReservedNames([letters])
    const missed = Object.entries(skeletons).flatMap(([other, prototype]) => {
      const look = prototype.normalize('NFKD').replace(/\p{M}/gu, '')
      const written = look === 'rn' ? 'm' : look.toLowerCase()
      const place = written === 'l' ? letters.indexOf('i') : letters.indexOf(written)
      const name = `${letters.slice(0, place)}${other}${letters.slice(place + written.length)}`
      return place < 0 || written === '' || word.has(name) ? [] : [`${other} for ${look}`]
    })
    expect(missed).toEqual([])
  })

  test('ordinary names of each script are not reserved', () => {
    const all = new ReservedNames(standard)
    const names = [
      ...[
        'Ann',
        'Róbert',
        'Madeleine',
        'Adina',
        'Damian',
        'Armin',
        'Api Ara',
        'Modesto',
        'Helga',
        'Stefan',
      ],
      ...[
        'Анна',
        'Мария',
        'Максим',
        'Ольга',
        'Роман',
        'Модест',
        'Οδυσσέας',
        'Μαρία',
        'Ρόδη',
        'Արմեն',
      ],
      ...[
        'მარიამ',
        'שרה',
        'מודי',
        'محمد',
        'إدمون',
        'आदित्य',
        'অনিক',
        'மோகன்',
        'สมชาย',
        'ຄຳ',
        'កុសល',
        'မောင်',
      ],
      ...[
        '山田太郎',
        'さくら',
        'アドミン',
        '김철수',
        '王伟',
        'ሰላም',
        'ᏣᎳᎩ',
        'ᐃᓄᒃ',
        'ꆈꌠ',
        'བསྟན་འཛིན',
        'ⵜⴰⵏⵉⵔⵜ',
        'ߒߞߏ',
      ],
    ]
    expect(names.filter((name) => all.has(name))).toEqual([])
    const words = scripts.flatMap(({ letters }) =>
      letters.flatMap((letter, at) => [letter, `${letter}${letters[(at * 7) % letters.length]}a`]),
    )
    expect(words.filter((name) => all.has(name))).toEqual([])
  })

  test('no words reserve no name', () => {
    const none = new ReservedNames([])
    expect([none.has('admin'), none.has('')]).toEqual([false, false])
  })
})
