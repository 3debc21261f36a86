import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkedText } from '../../src/lib/text.ts'
import { nameFacets } from '../../src/posts/facets.ts'
import { scripts } from '../support/scripts.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'

/**
 * The host that a browser opens, independent of how facets are found, without the dot of the root,
 * which names the same host. Undefined if it opens none.
 */
function openedHost(address: string): string | undefined {
  try {
    return new URL(/^https?:/i.test(address) ? address : `https://${address}`).host.replace(
      /\.(?=:|$)/,
      '',
    )
  } catch {
    return undefined
  }
}

/**
 * What a reader takes for the address: up to a space or what no host contains, without punctuation
 * at the end.
 */
const readAddress = (text: string, at: number): string =>
  (/^[^\p{White_Space}<>|^]*/u.exec([...text].slice(at).join(''))?.[0] ?? '').replace(
    /(?:[.,:;!?…。\uff0e\uff61)\]}"'»”\p{Cf}]|\p{Variation_Selector})+$/u,
    '',
  )

const linksIn = (text: string) => nameFacets(text).filter(({ kind }) => kind === 'LINK')

/**
 * No word, or one of a script without spaces, an opening bracket, or punctuation after what no host
 * contains.
 */
const beforeAddress =
  /^[\p{P}$+<=>^`|~]*$|[\p{Ps}\p{Pi}"'`]$|[<>|][\p{P}$+<=>^`|~]*$|[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}][\p{P}$+<=>^`|~]+$/u

/** Fails if a link of a text begins within a word, or opens another host than the text shows. */
function expectShownHost(text: string) {
  for (const link of linksIn(text)) {
    const shown = openedHost(readAddress(text, link.start))
    expect([text, openedHost(link.url ?? '')]).toEqual([text, shown])
    expect([...text].slice(3, link.start).join('')).toMatch(beforeAddress)
  }
}

const stored = (text: string): string =>
  checkedText(text, { form: 'lines', mayBeBlank: true, graphemesMax: 300, bytesMax: 3_000 }).text ??
  ''

const script = fc.constantFrom(...scripts)
const word = script.chain(({ letters, others }) =>
  fc
    .tuple(
      fc.constantFrom(...letters),
      fc.array(fc.constantFrom(...letters, ...others), { maxLength: 4 }),
    )
    .map(([first, more]) => first + more.join('')),
)
const ascii = fc.constantFrom('www', 'a', 'x1', 'a-b', 'a_b', 'xn--', '0x7f', '127', '1')
const label = fc.oneof(
  word,
  ascii,
  fc.tuple(fc.oneof(word, ascii), word).map(([a, b]) => a + b),
)
const dots = fc.oneof(
  { weight: 9, arbitrary: fc.constant('.') },
  fc.constantFrom('。', '．', '｡', '..', '…', '·', '・', '‧', '-'),
)
/** What may be put into a host: characters that show nothing, and punctuation and symbols. */
const injected = fc.constantFrom(
  ...'\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u034f\u061c\u180e\u202a\u202e\u2066\u2069\ufe0e\ufe0f',
  ...'!"#$%&\'()*+,-/:;<=>?@[\\]^_`{|}~',
  ...'。．｡·・･‧‐–—…‥、，；：！？（）「」『』＠／＼％＃，“”‘’«»׀׃׳״་།।۔،؛؟՚։፡።᠂᠃⁄∕╱⸱ⸯ',
  ...[
    '❤',
    '❤️',
    '😀',
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    '1️⃣',
    '™',
    '°',
    '%2e',
    '%20',
    'me:pw@',
    '://',
    ':80',
    '\u0301',
    '\u20e3',
  ],
)
const topLevel = fc.oneof(
  fc.constantFrom('com', 'jp', 'ws', 'рф', '中国', 'ไทย', 'みんな', '1'),
  word,
)
const host = fc
  .tuple(
    fc.array(fc.tuple(label, dots), { minLength: 1, maxLength: 3 }),
    topLevel,
    fc.option(fc.tuple(injected, fc.nat())),
  )
  .map(([labels, last, injection]) => {
    const points = [...labels.flat().join(''), ...last]
    // What stands at the end is punctuation of the sentence.
    if (injection) points.splice(injection[1] % points.length, 0, injection[0])
    return points.join('')
  })
const suffix = fc.constantFrom(
  ...[
    '',
    '/',
    '/a',
    '?q',
    '#a',
    ':80',
    ':8080/a',
    ':99999/',
    '.',
    '!',
    ')',
    '…',
    '/a_(b)',
    '\\a',
    '@a.com',
    '%2ea.com/',
  ],
)

describe('a link opens the host that its text shows', () => {
  test('for hosts of all scripts, mixed, with invisible characters and punctuation', () => {
    let links = 0
    const property = fc.property(
      fc.constantFrom('http://', 'HTTPS://'),
      host,
      suffix,
      (scheme, of, end) => {
        const text = stored(`so ${scheme}${of}${end} on`)
        expectShownHost(text)
        links += linksIn(text).length
      },
    )
    // Fewer would often miss the number of links.
    const numRuns = 4_000
    fc.assert(property, { numRuns, ...lawSeed() })
    expect(links).toBeGreaterThan(numRuns / 10)
  })

  test('for domains without a scheme', () => {
    const property = fc.property(host, suffix, (of, end) => {
      expectShownHost(stored(`so ${of}${end} on`))
    })
    fc.assert(property, { numRuns: lawRuns(4_000), ...lawSeed() })
  })

  test('and is found for a word of each script that a browser accepts', () => {
    const missed = scripts.flatMap(({ name, letters, others }) => {
      const written = [...letters.slice(0, 20), ...others.slice(0, 5)].flatMap((one) => [
        `https://www.${one}.com/x`,
        `https://${letters[0]}${one}.jp`,
      ])
      const opened = written.map(stored).filter((url) => openedHost(url) !== undefined)
      const without = opened.filter((url) => linksIn(`so ${url} on`).length !== 1)
      for (const url of opened) expectShownHost(`so ${url} on`)
      return without.map((url) => `${name}: ${url}`)
    })
    expect(missed).toEqual([])
  })
})
