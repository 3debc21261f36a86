import { expect, test, vi } from 'vitest'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
const ann = handle('ann')
const refused = (argument: string) => ({ code: 'BAD_USER_INPUT', details: { argument } })

test.each([
  ['nothing', ''],
  ['white space', ' \t'],
  ['nothing that a reader sees', '\u200b\u2060'],
  ['a line break', 'Ann\nLee'],
  ['a control character', 'Ann\u0007'],
  ['an override of the direction', 'Ann\u202eeeL'],
  ['an isolate', '\u2067Ann'],
  ['half a surrogate pair', 'Ann\ud800'],
  ['65 letters', 'a'.repeat(65)],
])('a user name of %s is refused', async (_, name) => {
  const given = harness.services.users.create(ann, { name })
  await expect(given).rejects.toMatchObject(refused('input.name'))
})

test('a user name with too many bytes is refused before it is normalised', async () => {
  const composing = vi.spyOn(String.prototype, 'normalize')
  const given = harness.services.users.update(ann, { name: '\u0301\u0323'.repeat(22_500) })
  await expect(given).rejects.toMatchObject(refused('input.name'))
  expect(composing).not.toHaveBeenCalled()
  composing.mockRestore()
})

test('a profile is stored in NFC and trimmed, and a bio may have several lines', async () => {
  const { users } = harness.services
  await openAccounts(harness.services, [ann])
  const given = { name: ' Zoe\u0301 ', bio: ' one\r\n\ttwo\n' }
  expect(await users.update(ann, given)).toMatchObject({ name: 'Zoé', bio: 'one\n\ttwo' })
  const rung = users.update(ann, { bio: 'ding\u0007' })
  await expect(rung).rejects.toMatchObject(refused('input.bio'))
  expect(await users.update(ann, { bio: '' })).not.toHaveProperty('bio')
})
