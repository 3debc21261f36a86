import { describe, expect, test } from 'vitest'
import { facetsMax, nameFacets } from '../../src/posts/facets.ts'

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
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test.each([
    ['an address of e-mail', 'bob@example.com <bob.lee+x@example.com> mailto:b@c.d'],
    ['an address of e-mail in another script', 'почта@example.com 用户@example.com'],
    ['an address of another server', '@bob@example.social'],
    ['a longer word', '@bobé @bob\u0301 @bobж @bob_ a@bob é@bob _@bob'],
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
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected.map(hashtag))
  })

  test.each([
    ['digits only', '#1 #2024 #１２３ #1_ #_'],
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
    ['**https://example.com/a**', [link('https://example.com/a')]],
    ['“https://example.com/a”…', [link('https://example.com/a')]],
    ['https://example.com/?q=a,b&c=d#e!', [link('https://example.com/?q=a,b&c=d#e')]],
    ['HTTPS://Example.com', [link('HTTPS://Example.com', 'https://example.com/')]],
    ['https://例え.jp', []],
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
  ])('is found in %j', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test.each([
    ['a password', 'https://me:secret@example.com/a'],
    ['another scheme', 'ftp://example.com javascript:alert(1) //example.com'],
    ['no top-level domain', 'node.js e.g. 1.2 a.b 127.0.0.1'],
    ['two sentences', 'It ended.So what? Hello.World'],
    ['a URL that is too long', `https://example.com/${'a'.repeat(2_048)}`],
  ])('is not found in %s', (_, text) => {
    expect(found(text)).toEqual([])
  })
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
  expect(nameFacets(text, stored)).toEqual([{ ...stored[0], handle: 'bob', tag: null, url: null }])
  expect(nameFacets(text).map(({ handle }) => handle)).toEqual(['ann', 'bob'])
})
