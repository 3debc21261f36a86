import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseHandle } from '../../src/lib/ids.ts'
import { checkedText } from '../../src/lib/text.ts'
import { parseUrl } from '../../src/lib/url.ts'
import { facetsMax, findFacets, nameFacets } from '../../src/posts/facets.ts'
import { scripts } from '../support/scripts.ts'
import { lawSeed } from '../support/seed.ts'

/** Texts of what may stand at or beside a facet. */
const pieces = fc.constantFrom(
  ...[
    '@',
    '＠',
    '#',
    '＃',
    '.',
    '-',
    '_',
    '/',
    ':',
    '//',
    ' ',
    '\n',
    '(',
    ')',
    '"',
    ',',
    '。',
    '、',
    '&',
    '?',
  ],
  ...[
    'a',
    'Bob',
    'é',
    'e\u0301',
    '\u0301',
    'ſ',
    '1',
    '１',
    'ж',
    'ש',
    'م',
    'ह',
    'ि',
    '日',
    'カ',
    'ー',
    '한',
    'ก',
    '𠮷',
    '𝒳',
  ],
  ...[
    '😀',
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    '1️⃣',
    '❤️',
    '\u200d',
    '\u200c',
    '\u200f',
    '\u202e',
    '\ufe0f',
    '\u20e3',
    '\u200b',
  ],
  ...[
    'http://',
    'https://',
    'www.',
    'example.com',
    '.dev',
    'mailto:',
    'xn--',
    'me:pw@',
    '%zz',
    '[::1]',
    ' @Bob',
    ' #tag',
    ' https://x.com/a',
  ],
)
const texts = fc
  .array(
    fc.oneof({ weight: 9, arbitrary: pieces }, fc.string({ unit: 'grapheme', maxLength: 3 })),
    {
      maxLength: 40,
    },
  )
  .map(
    (parts) =>
      checkedText(parts.join(''), {
        form: 'lines',
        mayBeBlank: true,
        graphemesMax: 300,
        bytesMax: 3_000,
      }).text,
  )
  .filter((text) => text !== undefined)

/** What `docs/reference/facets.md` allows between the letters of a tag, and at its end too. */
const [inside, appended] = ['·・･゠～〜־\u200c\u200d\u180e', '׳״་༌〃゛゜ꙿ']
const word = String.raw`[\p{L}\p{M}\p{N}\p{Pc}${appended}]`
const tagForm = new RegExp(`^(?:${word}|[${inside}](?=[^]))*$`, 'v')

test('facets are in order, do not overlap, and cut out what their kind says', () => {
  let count = 0
  const property = fc.property(texts, (text) => {
    const points = [...text]
    let last = 0
    for (const { kind, start, end, handle, tag, url } of nameFacets(text)) {
      expect(start).toBeGreaterThanOrEqual(last)
      expect(end).toBeGreaterThan(start)
      expect(end).toBeLessThanOrEqual(points.length)
      const part = points.slice(start, end).join('')
      expect([handle, tag, url].filter((one) => one !== null)).toHaveLength(1)
      if (kind === 'MENTION') expect(parseHandle(part.slice(1).toLowerCase())).toBe(handle)
      if (kind === 'HASHTAG') expect(part.slice(1)).toBe(tag)
      if (kind === 'HASHTAG') expect(tag).toMatch(tagForm)
      if (kind === 'HASHTAG') expect(tag).toMatch(/\p{L}/u)
      if (kind === 'LINK') expect(parseUrl(url ?? '')).toBeDefined()
      if (kind === 'LINK') expect(part).not.toMatch(/[\s.,:;!?。、"]$/u)
      if (kind === 'MENTION') expect(points[start - 1] ?? ' ').not.toMatch(/[a-z0-9é_@]/i)
      last = end
      count++
    }
  })
  fc.assert(property, { numRuns: 2_000, ...lawSeed() })
  expect(count).toBeGreaterThan(300)
})

test('what precedes and follows a facet moves it, and does not change it', () => {
  const apart = fc.constantFrom('', '😀 ', '日本。 ', 'e\u0301 ', '🇩🇪\n', 'שלום ', '𠮷 ')
  const parts = fc.constantFrom('@Ann', '#日本', '#𝒳', 'https://example.com/a', 'b.dev')
  const property = fc.property(apart, parts, apart, (before, part, after) => {
    const text = `${before}${part} ${after}`.normalize('NFC')
    const start = [...before.normalize('NFC')].length
    const [facet] = findFacets(text)
    expect(facet).toMatchObject({ start, end: start + [...part].length })
  })
  fc.assert(property, { numRuns: 500, ...lawSeed() })
})

/** Parts whose repeats make a search for facets begin, or go back, at every character. */
const hostile = [
  ...[
    '@',
    '#',
    '@a',
    '@a.',
    '@a-',
    '@_',
    '#a',
    '#a#',
    'a@',
    'a@b.',
    '@a.b',
    '#\u0301',
    '#a\u200d',
    '.',
    'a.',
    'a-',
  ],
  ...[
    'a.com',
    'a.com ',
    'http://',
    'http://a.',
    'https://x.com/',
    'mailto:',
    'mailto:a@b.c',
    'xn--',
    '日.',
    '😀',
  ],
  ...[
    'x.com/(',
    'x.com/()',
    'x.com/([{',
    'x.com/"',
    "x.com/'",
    'x.com/!',
    ':',
    '//',
    '1.',
    '[::',
    'a:b@',
    '-',
    '*',
  ],
  ...[
    'a.com、日',
    'a.com(',
    'https://a.com、日',
    'https://あ。',
    'a・',
    '#a・',
    '@a--',
    '❤',
    '\u200b',
    '/日',
  ],
]

test('a text ten times as long as a text may be ends, whatever it repeats', () => {
  const bytes = 30_000
  const openings = ['', 'https://x.com/', 'https://', '@', '#', 'a@', 'a.com、日']
  for (const opening of openings) {
    for (const part of hostile) {
      const text = opening + part.repeat(bytes / Buffer.byteLength(part))
      expect(findFacets(text).length).toBeLessThanOrEqual(facetsMax)
    }
  }
})

test('letters, marks and digits of each script are one tag, and its folded form is one tag too', () => {
  const others: string[] = []
  for (const { name, letters, others: more } of scripts) {
    for (const one of [...letters, ...more]) {
      const tag = `${letters[0]}${one}${letters.at(-1)}`.normalize('NFC')
      const folded = tag.normalize('NFKC').toLowerCase().normalize('NFKC')
      // Some ligatures are several words.
      const written = / /.test(folded) ? [tag] : [tag, folded]
      const tags = written.map((each) => nameFacets(`a #${each} b`).map((facet) => facet.tag))
      if (
        !isDeepStrictEqual(
          tags,
          written.map((each) => [each]),
        )
      )
        others.push(`${name}: ${tag}`)
    }
  }
  expect(others).toEqual([])
})
