import { expect, test } from 'vitest'
import { mediaTypeOf } from '../../src/http/media-types.ts'

const [modern, legacy] = ['application/graphql-response+json', 'application/json'] as const

test.each([
  [undefined, legacy],
  ['', legacy],
  ['*/*', legacy],
  ['application/*', legacy],
  ['application/json', legacy],
  ['application/json; charset=utf-8', legacy],
  [modern, modern],
  [modern.toUpperCase(), modern],
  [`${modern}; charset=utf-8`, modern],
  [`${modern}, application/json`, modern],
  [`application/json, ${modern}`, modern],
  [`${modern},application/json;q=0.9`, modern],
  [`application/json, ${modern};q=0.9`, legacy],
  [`${modern};q=0.5, */*;q=0.1`, modern],
  [`text/html, application/json;q=0.9, */*;q=0.8`, legacy],
  ['application/json;q=0, */*', modern],
  [`${modern};q=0, */*`, legacy],
  ['multipart/mixed;deferSpec=20220824, application/json', legacy],
  ['text/html', undefined],
  ['application/json;q=0', undefined],
  ['text/*, image/png', undefined],
  ['nonsense', undefined],
  ['application/json;q=x', legacy],
  ['application/json;charset=utf8', legacy],
  ['application/json; version=1; indent=2', legacy],
  [`${modern};v=1`, modern],
  ['application/*;v=1', legacy],
  ['application/json;q=-1', legacy],
  ['text/html, image/gif, *; q=.2', legacy],
])('an answer to Accept: %s is %s', (accept, type) => {
  expect(mediaTypeOf(accept)).toBe(type)
})
