import { expect, test, vi } from 'vitest'
import { checkGroup, checkGroups } from '../../src/follows/groups.ts'

const refused = { code: 'BAD_USER_INPUT' }

test('group names are stored in NFC, trimmed, distinct and sorted', () => {
  expect(checkGroups('groups', [' work ', 'cafe\u0301', 'work'])).toEqual(['café', 'work'])
})

test.each([
  '',
  ' ',
  '\u200b',
  'a\nb',
  'a\u0000',
  '\u202ea',
  'a\ud800',
  'a'.repeat(65),
  '日'.repeat(86),
])('%j is not a valid group name', (name) => {
  expect(() => checkGroup('group', name)).toThrow(expect.objectContaining(refused))
})

test('an oversized group name is refused before it is normalised', () => {
  const composing = vi.spyOn(String.prototype, 'normalize')
  expect(() => checkGroup('group', '\u0301\u0323'.repeat(22_500))).toThrow(/256 bytes/)
  expect(composing).not.toHaveBeenCalled()
  composing.mockRestore()
})
