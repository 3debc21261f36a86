import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/graphql/limits.ts'
import { urlLengthMax } from '../../src/lib/url.ts'
import {
  type Attachment,
  altRules,
  checkContent,
  contentValidators,
  loadValidators,
} from '../../src/posts/content.ts'

const builtIn = contentValidators([])
const image: Attachment = { url: 'https://example.com/a.png', kind: 'IMAGE' }
const family = '👨‍👩‍👧‍👦'

const check = (text: string, attachments?: readonly Attachment[], validators = builtIn) =>
  checkContent({ text, attachments }, validators)
const refused = (argument: string) => ({ code: 'BAD_USER_INPUT', details: { argument } })

describe('text', () => {
  test.each([
    ['300 letters', 'a'.repeat(300)],
    ['100 emoji families, 2,500 bytes', family.repeat(100)],
    ['300 Chinese characters, 900 bytes', '日'.repeat(300)],
  ])('a text with %s is stored', async (_, text) => {
    expect((await check(text)).text).toBe(text.normalize('NFC'))
  })

  test.each([
    ['301 letters', 'a'.repeat(301)],
    ['301 flags', '🇩🇪'.repeat(301)],
    ['121 emoji families, over 3,000 bytes', family.repeat(121)],
    ['one character of over 3,000 bytes', `a${'\u0301'.repeat(1_500)}`],
    ['nothing', ''],
    ['white space', ' \n\t '],
    ['half a surrogate pair', 'a\ud83d'],
    ['nothing that a reader sees', '\u200b\u200d\ufeff\u2060 \ufe0f'],
    ['a control character', 'a\u0007'],
  ])('a text with %s is refused', async (_, text) => {
    await expect(check(text)).rejects.toMatchObject(refused('input.text'))
  })

  test('a text of exactly 3,000 bytes is stored, and one of 3,001 bytes is refused', async () => {
    const accents = '\u0323'.repeat(1_499)
    await expect(check(`q${accents}`)).resolves.toBeDefined()
    const full = `qq${accents}`
    expect(Buffer.byteLength(full)).toBe(3_000)
    await expect(check(full)).resolves.toMatchObject({ text: full })
    await expect(check(`${full}q`)).rejects.toMatchObject(refused('input.text'))
  })

  test('a text may contain line breaks and tabs', async () => {
    expect((await check('a\r\nb\rc\n\td')).text).toBe('a\nb\nc\n\td')
  })

  test('a text is stored in NFC, and may be empty if the post has an attachment', async () => {
    expect((await check('e\u0301')).text).toBe('é')
    expect(await check('', [image])).toEqual({ text: '', attachments: [image], facets: [] })
  })
})

describe('a blocked word', () => {
  const blocked = ['Spam', 'ﬁne', 'Straße', 'ΟΔΟΣ', 'free  money', 'wire-fraud', '!']
  const validators = contentValidators(blocked)

  test.each([
    'spam',
    'SPAM!',
    'buy,spam,now',
    'buy\nspam\tnow',
    'ｓｐａｍ',
    'fine',
    'ﬁne',
    'sp\u200bam',
    'sp\u00ad\ufe0f\ufeffam',
    'STRASSE',
    'strasse',
    'STRAẞE',
    'οδος',
    'get Free Money!',
    'free, money',
    'a wire-fraud',
    'wire fraud',
  ])('a post with the blocked word in "%s" is refused', async (text) => {
    await expect(check(text, [], validators)).rejects.toMatchObject(refused('input.text'))
  })

  test('a blocked word in the alternative text of an attachment is refused', async () => {
    const given = check('a', [image, { ...image, alt: 'some spam' }], validators)
    await expect(given).rejects.toMatchObject(refused('input.attachments.1.alt'))
  })

  test.each(['spammer', 'nospam', 'sp am', 'free the money', 'moneyfree money', 'wirefraud', 'a!'])(
    '"%s" is accepted, although it contains a blocked word as a part',
    async (text) => {
      expect((await check(text, [], validators)).text).toBe(text)
    },
  )
})

describe('attachments', () => {
  test('a post has at most four attachments', async () => {
    expect((await check('a', Array(4).fill(image))).attachments).toHaveLength(4)
    await expect(check('a', Array(5).fill(image))).rejects.toMatchObject(
      refused('input.attachments'),
    )
  })

  test.each([
    'javascript:alert(1)',
    'ftp://a.b/c',
    'a.png',
    '',
    `https://a.b/${'x'.repeat(2_048)}`,
    `https://a.b/${'日'.repeat(1_000)}`,
    'https://me:secret@a.b/c',
    'https://me@a.b/c',
    'https://a.b/\ud800',
  ])('an attachment with the URL %s is refused', async (url) => {
    const given = check('a', [image, { ...image, url }])
    await expect(given).rejects.toMatchObject(refused('input.attachments.1.url'))
  })

  test.each([
    ['https://EXAMPLE.com', 'https://example.com/'],
    [' https://example.com/a\tb ', 'https://example.com/ab'],
    ['https://example.com/a/../ä', 'https://example.com/%C3%A4'],
  ])('the attachment URL "%s" is stored as %s', async (url, stored) => {
    expect((await check('a', [{ ...image, url }])).attachments).toEqual([{ ...image, url: stored }])
  })

  test.each(['a', 'é', '界', 'กำ', '😀'])(
    'an alternative text has at most 2,000 characters, such as %s',
    async (character) => {
      const alt = character.repeat(2_000)
      expect(await check('a', [{ ...image, alt }])).toMatchObject({ attachments: [{ alt }] })
      const given = check('a', [{ ...image, alt: `${alt}a` }])
      await expect(given).rejects.toMatchObject(refused('input.attachments.0.alt'))
    },
  )

  test('the most and largest contents fit into a request', async () => {
    const url = 'https://a.example/'.padEnd(urlLengthMax, 'x')
    const alt = '\n'.repeat(1_000) + '\u0316'.repeat((altRules.bytesMax - 1_000) / 2)
    const content = await check('€'.repeat(300), Array(4).fill({ ...image, url, alt }))
    const body = JSON.stringify({ query: 'x'.repeat(5_000), variables: { input: content } })
    expect(Buffer.byteLength(body)).toBeLessThan(limits.bodyBytes)
  })
})

describe('the size and the preview of an attachment', () => {
  const blurhash = 'LEHV6nWB2yk8pyo0adR*.7kCMdnj'
  /** The shortest and the longest, of 1 by 1 and 9 by 9 components. */
  const extremes = [`0${'~'.repeat(5)}`, `|${'0'.repeat(165)}`]

  test.each([
    { width: 1, height: 65_535 },
    { blurhash },
    ...extremes.map((one) => ({ blurhash: one })),
  ])('%j is stored', async (fields) => {
    expect((await check('a', [{ ...image, ...fields }])).attachments).toEqual([
      { ...image, ...fields },
    ])
  })

  test('null is not stored', async () => {
    const given = { ...image, alt: null, width: null, height: null, blurhash: null }
    expect((await checkContent({ text: 'a', attachments: [given] }, builtIn)).attachments).toEqual([
      image,
    ])
  })

  test.each([0, -1, 1.5, 65_536, Number.NaN])('%s pixels are refused', async (pixels) => {
    for (const field of ['width', 'height']) {
      const given = check('a', [{ ...image, [field]: pixels }])
      await expect(given).rejects.toMatchObject(refused(`input.attachments.0.${field}`))
    }
  })

  test.each([
    ['nothing', ''],
    ['too short for any', '00000'],
    ['one character less than its first one says', blurhash.slice(0, -1)],
    ['one character more than its first one says', `${blurhash}0`],
    ['another alphabet', blurhash.replace('*', '&')],
    ['spaces', ` ${blurhash.slice(1)}`],
    ['more than nine components', `}${'0'.repeat(23)}`],
    ['far too many characters', '0'.repeat(100_000)],
  ])('a BlurHash of %s is refused', async (_, given) => {
    const checking = check('a', [image, { ...image, blurhash: given }])
    await expect(checking).rejects.toMatchObject(refused('input.attachments.1.blurhash'))
  })
})

describe('validators of one’s own', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-validators-'))
    const validate = `export const validate = async ({ text }) =>
      text.includes('?') ? 'must not ask' : undefined`
    await writeFile(join(folder, 'asks.mjs'), validate)
    await writeFile(join(folder, 'other.mjs'), 'export const check = 1')
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('validators are loaded from modules and refuse posts with their own messages', async () => {
    const validators = contentValidators([], await loadValidators([join(folder, 'asks.mjs')]))
    await expect(check('why?', [], validators)).rejects.toThrow('input.text: must not ask')
    expect((await check('so.', [], validators)).text).toBe('so.')
  })

  test('a validator may name the invalid argument', async () => {
    const validate = () => ({ at: 'attachments.0.url', problem: 'is not ours' })
    const given = check('a', [image], contentValidators([], [validate]))
    await expect(given).rejects.toMatchObject(refused('input.attachments.0.url'))
  })

  test('a validator module that fails to load or exports no validator is reported with the cause', async () => {
    await expect(loadValidators([join(folder, 'none.mjs')])).rejects.toThrow(
      /cannot load ".*none\.mjs": Cannot find module/,
    )
    await writeFile(join(folder, 'broken.mjs'), "throw new Error('no word list')")
    await expect(loadValidators([join(folder, 'broken.mjs')])).rejects.toThrow(/: no word list$/)
    const without = loadValidators([join(folder, 'other.mjs')])
    await expect(without).rejects.toThrow('exports no function "validate"')
  })
})
