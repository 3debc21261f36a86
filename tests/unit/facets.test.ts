import tlds from 'tlds' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import { facetsMax, nameFacets } from '../../src/posts/facets.ts'
import { fileEndings } from '../../src/posts/file-names.ts'

/** The parts of a text that its facets cut out, each with what it names. */
const found = (text: string) =>
  nameFacets(text).map(({ kind, start, end, handle, tag, url }) => [
    kind,
    [...text].slice(start, end).join(''),
    handle ?? tag ?? url,
  ])
const mention = (text: string, handle = text.slice(1)) => ['MENTION', text, handle]
const hashtag = (text: string) => ['HASHTAG', text, text.slice(1)]
const link = (text: string, url = text) => ['LINK', text, url]

describe('a mention', () => {
  test.each([
    ['hi @bob', [mention('@bob')]],
    ['@Bob.Lee!', [mention('@Bob.Lee', 'bob.lee')]],
    ['.@bob: (@ann) "@cat" @dan-', ['@bob', '@ann', '@cat', '@dan'].map((one) => mention(one))],
    ['@ann/@bob-@cat.@dan', ['@ann', '@bob', '@cat', '@dan'].map((one) => mention(one))],
    ['こんにちは@bobさん', [mention('@bob')]],
    ['안녕 @bob님', [mention('@bob')]],
    ['😀@bob😀', [mention('@bob')]],
    ['👩‍👩‍👧‍👦@bob', [mention('@bob')]],
    ['❤️@bob', [mention('@bob')]],
    ['＠bob', [mention('＠bob')]],
    ['مرحبا @bob\u200f', [mention('@bob')]],
    [`@${'a'.repeat(64)}`, [mention(`@${'a'.repeat(64)}`)]],
    [`@${'a'.repeat(40)}.${'b'.repeat(40)}`, [mention(`@${'a'.repeat(40)}`)]],
    ['thanks @bob...see you', [mention('@bob')]],
    [
      '@bob.Thanks @bob.smith @BOB.LEE',
      [mention('@bob'), mention('@bob.smith'), mention('@BOB.LEE', 'bob.lee')],
    ],
    ['@1st.Thanks @42.Then', [mention('@1st'), mention('@42')]],
    [
      '@bob--see @cat.-see @dan-.see @eve…see',
      ['@bob', '@cat', '@dan', '@eve'].map((one) => mention(one)),
    ],
    ["@bob. @cat- @dan's @eve’s", ['@bob', '@cat', '@dan', '@eve'].map((one) => mention(one))],
    [
      '@bob,@ann @cat/x @dan_lee @eve.bsky.social',
      ['@bob', '@ann', '@cat', '@dan_lee', '@eve.bsky.social'].map((one) => mention(one)),
    ],
    ['ที่@bobครับ ខ្មែរ@annជា နှင့်@catနှင့်', ['@bob', '@ann', '@cat'].map((one) => mention(one))],
    ['、@BOB。日本@bob...さん', [mention('@BOB', 'bob'), mention('@bob')]],
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test.each([
    ['an address of e-mail', 'bob@example.com <bob.lee+x@example.com> mailto:b@c.d'],
    [
      'an address of e-mail in another script',
      'почта@example.com 用户@example.com 用户@example.Com',
    ],
    ['an address of another server', '@bob@example.social @bob＠example.org'],
    ['a longer word', '@bobé @bob\u0301 @bobж @bob_ @bob_. a@bob é@bob _@bob'],
    ['letters that are equal in upper case alone', '@ſ @ſam'],
    ['a handle that is too long', `@${'a'.repeat(65)}`],
    ['no handle', '@ @. @-a @_a @é @@bob'],
    ['a scheme', '@bob://x'],
  ])('is not found in %s', (_, text) => {
    expect(found(text).filter(([kind]) => kind === 'MENTION')).toEqual([])
  })
})

describe('a hashtag', () => {
  test.each([
    ['#one, #Two!', ['#one', '#Two']],
    ['#日本語、#東京', ['#日本語', '#東京']],
    ['#हिन्दी #ไทยๆ #مرحبا #שלום', ['#हिन्दी', '#ไทยๆ', '#مرحبا', '#שלום']],
    ['#می‌خواهم', ['#می‌خواهم']],
    ['#année_2024 #2024a', ['#année_2024', '#2024a']],
    ['#𝒳 #𠮷野家', ['#𝒳', '#𠮷野家']],
    ['#e\u0328\u0301', ['#e\u0328\u0301']],
    ['❤️#love 1️⃣#one', ['#love', '#one']],
    ['＃タグ', ['＃タグ']],
    ['#スター・ウォーズ #ｽﾀｰ･ｳｫｰｽﾞ', ['#スター・ウォーズ', '#ｽﾀｰ･ｳｫｰｽﾞ']],
    ['#col·lecció #奥黛丽·赫本', ['#col·lecció', '#奥黛丽·赫本']],
    ['#メ～テレ #メ〜テレ #ゲ゠ム', ['#メ～テレ', '#メ〜テレ', '#ゲ゠ム']],
    ['#各〃 #あ゛ #云々 #学問のすゝめ', ['#各〃', '#あ゛', '#云々', '#学問のすゝめ']],
    ['#עַל־יְדֵי #וכו׳ #מ״כ', ['#עַל־יְדֵי', '#וכו׳', '#מ״כ']],
    ['#བོད་སྐད་ #བོད་སྐད', ['#བོད་སྐད་', '#བོད་སྐད']],
    ['#র‍্যাব #ශ්‍රීලංකා', ['#র‍্যাব', '#ශ්‍රීලංකා']],
    ['#ᠬᠠᠨ\u180eᠠ', ['#ᠬᠠᠨ\u180eᠠ']],
    ['#برنامه_نویسی #日本＿語', ['#برنامه_نویسی', '#日本＿語']],
    ['#映画・ #col· #すごい〜', ['#映画', '#col', '#すごい']],
    ['#a・#b (#c)#d', ['#a', '#b', '#c', '#d']],
    ["#l'amour #tag-tag #tag.", ['#l', '#tag', '#tag']],
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected.map(hashtag))
  })

  test.each([
    ['digits only', '#1 #2024 #１２３ #1_ #_ #1·2 #·a'],
    ['a word', 'C#x issue#a é#a'],
    ['an entity of HTML', '&#x27;'],
    ['a heading', '##title #a#b'],
    ['emoji', '#️⃣ #1️⃣ #😀'],
    ['a mark alone', '#\u0301a'],
  ])('is not found in %s', (_, text) => {
    expect(found(text)).toEqual([])
  })
})

describe('a link', () => {
  test.each([
    ['see https://example.com/a.', [link('https://example.com/a')]],
    ['(https://example.com/a_(b))', [link('https://example.com/a_(b)')]],
    ['https://example.com/a: b', [link('https://example.com/a')]],
    ['https://example.com.? Yes', [link('https://example.com', 'https://example.com/')]],
    ['example.com.?! example.comです?', Array(2).fill(link('example.com', 'https://example.com/'))],
    ['**https://example.com/a**', [link('https://example.com/a')]],
    ['“https://example.com/a”…', [link('https://example.com/a')]],
    ['https://example.com/?q=a,b&c=d#e!', [link('https://example.com/?q=a,b&c=d#e')]],
    ['HTTPS://Example.com', [link('HTTPS://Example.com', 'https://example.com/')]],
    ['https://例え.jp', [link('https://例え.jp', 'https://xn--r8jz45g.jp/')]],
    [
      '見て、https://www.ร้าน.com/x',
      [link('https://www.ร้าน.com/x', 'https://www.xn--q3ct9b5e.com/x')],
    ],
    ['https://shop.日本.jp/', [link('https://shop.日本.jp/', 'https://shop.xn--wgv71a.jp/')]],
    ['https://i❤.ws/', [link('https://i❤.ws/', 'https://xn--i-7iq.ws/')]],
    ['https://example。com/', [link('https://example。com/', 'https://example.com/')]],
    ['http://col·lecció.cat', [link('http://col·lecció.cat', 'http://xn--collecci-ioa91d.cat/')]],
    [
      'http://[::1]:3000/a http://127.0.0.1/',
      [link('http://[::1]:3000/a'), link('http://127.0.0.1/')],
    ],
    ['https://example.com:8080/a', [link('https://example.com:8080/a')]],
    ['https://a_b.example.com/', [link('https://a_b.example.com/')]],
    [
      'https://example.com./a https://example.com.',
      [link('https://example.com./a'), link('https://example.com', 'https://example.com/')],
    ],
    ['bücher.de', [link('bücher.de', 'https://xn--bcher-kva.de/')]],
    ['مرحبا https://example.com/\u200f.', [link('https://example.com/')]],
    ['https://bücher.de/ä', [link('https://bücher.de/ä', 'https://xn--bcher-kva.de/%C3%A4')]],
    ['見てhttps://example.comを', [link('https://example.com', 'https://example.com/')]],
    ['https://example.com/a。次', [link('https://example.com/a')]],
    ['https://example.com/a😀', [link('https://example.com/a')]],
    ['https://مثال.إختبار/', [link('https://مثال.إختبار/', 'https://xn--mgbh0fb.xn--kgbechtv/')]],
    [
      'example.com/a, b.dev',
      [link('example.com/a', 'https://example.com/a'), link('b.dev', 'https://b.dev/')],
    ],
    ['http://localhost:3000/a', [link('http://localhost:3000/a')]],
    [
      'docs.rs/serde x.sh/install. setup.py/',
      ['docs.rs/serde', 'x.sh/install', 'setup.py/'].map((one) => link(one, `https://${one}`)),
    ],
    [
      'https://docs.rs http://notes.zip, HTTPS://setup.py#l10',
      [
        link('https://docs.rs', 'https://docs.rs/'),
        link('http://notes.zip', 'http://notes.zip/'),
        link('HTTPS://setup.py#l10', 'https://setup.py/#l10'),
      ],
    ],
    [
      'www.abc.com.py una.edu.py uni.ac.rs. www.blic.rs a.zip.example.com',
      ['www.abc.com.py', 'una.edu.py', 'uni.ac.rs', 'www.blic.rs', 'a.zip.example.com'].map((one) =>
        link(one, `https://${one}/`),
      ),
    ],
    [
      'feedline.dev github.io x.ai t.co notion.so allegro.pl',
      ['feedline.dev', 'github.io', 'x.ai', 't.co', 'notion.so', 'allegro.pl'].map((one) =>
        link(one, `https://${one}/`),
      ),
    ],
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test.each([
    ['a password', 'https://me:secret@example.com/a'],
    ['another scheme', 'ftp://example.com javascript:alert(1) //example.com'],
    ['no top-level domain', 'node.js e.g. 1.2 a.b 127.0.0.1'],
    ['two sentences', 'It ended.So what? Hello.World'],
    ['a user before the host', 'https://bank.com@evil.com/ https://bank.com:日@evil.com/'],
    [
      'what looks like a slash in the host',
      'http://paypal.com\u2044login.evil.com http://paypal.com\u2215login.evil.com http://a.com\u29f8b.evil.com http://a.com\u2571b.evil.com http://a.com\u3033b.evil.com',
    ],
    ['what shows nothing in the host', 'https://paypal.com\u2800\u2800.evil.com/'],
    ['a backslash after the host', 'https://bank.com\\@evil.com https://bank.com\\a'],
    ['a host with an encoded part', 'https://ex%61mple.com/ https://bank.com%2eevil.com/'],
    ['a number that is an address', 'http://0x7f.1/ http://2130706433/ http://１２７.0.0.1/'],
    ['a host with an empty or a hyphened part', 'https://a..com https://-a.com/ https://a-.com/'],
    ['a host with hidden directions or joiners', 'https://a\u202eb.com/ https://a\u200db.com/'],
    ['a port that is none', 'https://example.com:99999/ https://example.com:a'],
    ['a word right after the punctuation', 'https://bank.com,evil.com https://bank.com)evil/'],
    ['a sentence that a browser reads as a part of the host', 'https://example.com。次の文'],
    ['a word of a script without spaces before a domain', '詳しくはexample.com ดูexample.com'],
    ['an emoji beside a domain', '👉example.com https://example.com🎉'],
    [
      'the name of a file',
      'setup.py, notes.zip README.md. (install.sh) `lib.rs` docs.rs Movie.mov',
    ],
    [
      'a file of several dots',
      'main.test.py main.test.ts app.min.map archive.tar.gz archive.tar.zip',
    ],
    ['a file in a folder', './setup.py src/lib.rs ~/notes.zip C:\\notes.zip file:///notes.zip'],
    ['a place in a file', 'setup.py:12 README.md#usage lib.rs#L10 run.sh?'],
    ['what no registry accepts, as a file has it', 'my_script.pl id_rsa.pub data_set.ai a.b_c.so'],
    ['a URL that is too long', `https://example.com/${'a'.repeat(2_048)}`],
  ])('is not found in %s', (_, text) => {
    expect(found(text)).toEqual([])
  })
})

describe('a link ends before', () => {
  const example = link('https://example.com', 'https://example.com/')
  test.each([
    [
      'letters of a script without spaces',
      'https://example.comを見て、次に https://example.com에서',
      2,
    ],
    ['punctuation of such a script', '见https://example.com，以及（https://example.com）。', 2],
    [
      'brackets and quotes',
      '(https://example.com)x <https://example.com> "https://example.com"',
      3,
    ],
    [
      'punctuation and a space',
      'https://example.com, https://example.com… https://example.com?',
      3,
    ],
    ['the end of a possessive', "https://example.com's https://example.com’s.", 2],
    ['another URL', 'https://example.com、https://example.comとhttps://example.com', 3],
    ['a word of such a script that begins a path', 'https://example.com/を', 1],
  ])('%s', (_, text, count) => {
    const [only] = found(text)
    const expected = only?.[1] === example[1] ? example : link('https://example.com/')
    expect(found(text)).toEqual(Array(count).fill(expected))
  })

  test.each([
    [
      'https://ja.wikipedia.org/wiki/日本_(曖昧さ回避)、',
      'https://ja.wikipedia.org/wiki/日本_(曖昧さ回避)',
    ],
    ['https://fa.wikipedia.org/wiki/می‌خواهم.', 'https://fa.wikipedia.org/wiki/می‌خواهم'],
    ['https://example.com/?q=日本&r=서울)', 'https://example.com/?q=日本&r=서울'],
    ['https://en.wikipedia.org/wiki/A–B', 'https://en.wikipedia.org/wiki/A–B'],
    ['https://example.com/aを', 'https://example.com/a'],
    ['https://example.com/a(b', 'https://example.com/a'],
    ['https://example.com/a)b', 'https://example.com/a'],
  ])('what is no part of its path: %s', (text, part) => {
    expect(found(text).map(([, written]) => written)).toEqual([part])
  })
})

test('each ending of files that no domain without a scheme has is a top-level domain', () => {
  const domains = new Set<string>(tlds)
  expect([...fileEndings].filter((ending) => !domains.has(ending))).toEqual([])
})

describe('overlapping facets', () => {
  test.each([
    ['https://example.com/@ann#tag @ann', [link('https://example.com/@ann#tag'), mention('@ann')]],
    ['example.com/#tag', [link('example.com/#tag', 'https://example.com/#tag')]],
    ['#https://example.com/', [link('https://example.com/')]],
    ['@example.com', [mention('@example.com')]],
    ['#example.com', [hashtag('#example')]],
    ['@ann#tag #tag@ann', [mention('@ann'), hashtag('#tag')]],
  ])('of %j: an address comes first, then what begins a word', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })
})

test(`a text has at most ${facetsMax} facets, the first of the text`, () => {
  const text = Array.from({ length: 20 }, (_, n) => `@u${n} #t${n} a${n}.com`).join(' ')
  expect(found(text).map(([, part]) => part)).toEqual(text.split(' ').slice(0, facetsMax))
})

test('facets that were stored are named as they are, and missing ones are found', () => {
  const text = '😀 @Ann @bob'
  const stored = [{ kind: 'MENTION', start: 7, end: 11 }] as const
  const named = { ...stored[0], handle: 'bob', tag: null, url: null }
  expect(nameFacets(text, stored)).toEqual([{ ...named, mentioned: null }])
  const mentionOf = (account: string) =>
    nameFacets(text, [{ ...stored[0], account }]).map(({ mentioned }) => mentioned)
  expect([mentionOf('VluvbKMVL44'), mentionOf('')]).toEqual([['VluvbKMVL44'], [null]])
  expect(nameFacets(text).map(({ handle }) => handle)).toEqual(['ann', 'bob'])
})
