import { expect, test } from 'vitest'
import { checkedUrl, parseUrl } from '../../src/lib/url.ts'

/**
 * Enough for the engine to optimise what is called. Node 20 then changed the answer of
 * `URL.canParse`.
 */
const calls = 20_000

test.each([
  ['https://bücher.de/ä', 'https://xn--bcher-kva.de/%C3%A4'],
  ['https://example.com/é', 'https://example.com/%C3%A9'],
  ['https://example.com/😀', 'https://example.com/%F0%9F%98%80'],
])('the URL %s is accepted however often it is checked', (given, url) => {
  const answers = new Set(Array.from({ length: calls }, () => checkedUrl(given).url))
  expect([...answers]).toEqual([url])
})

test.each([['no url'], ['https://'], ['']])('"%s" is no URL', (text) => {
  expect(parseUrl(text)).toBeUndefined()
})

test('a URL may be relative to a base', () => {
  expect(parseUrl('/ä', 'https://example.com')?.href).toBe('https://example.com/%C3%A4')
})
