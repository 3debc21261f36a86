import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeOpaque, encodeOpaque } from '../../src/lib/opaque.ts'

test('every encoded text decodes to the same parts and is safe in a URL', () => {
  const part = fc.string({ unit: 'grapheme', maxLength: 12 })
  fc.assert(
    fc.property(part, fc.array(part, { maxLength: 3 }), (tag, parts) => {
      const text = encodeOpaque(tag, ...parts)
      fc.pre(text.length <= 512)
      expect(text).toMatch(/^[\w-]+$/)
      expect(decodeOpaque(text)).toEqual({ tag, parts })
    }),
  )
})

test('every text is refused or is the only encoding of its parts', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      const decoded = decodeOpaque(text)
      if (decoded) expect(encodeOpaque(decoded.tag, ...decoded.parts)).toBe(text)
    }),
  )
})

const raw = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each([
  ['not base64url', '%%%'],
  ['not JSON', Buffer.from('nope').toString('base64url')],
  ['an object', raw({ $ne: 1 })],
  ['without a tag', raw([])],
  ['with a number', raw(['post', 1])],
  ['with an operator', raw(['post', { $gt: '' }])],
  ['padded', `${encodeOpaque('p')}=`],
  ['with a space', ` ${encodeOpaque('p')}`],
  ['too long', encodeOpaque('p', 'x'.repeat(600))],
])('opaque text that is %s is refused', (_, text) => {
  expect(decodeOpaque(text)).toBeUndefined()
})
