import { describe, expect, test, vi } from 'vitest'
import { handle, namesOf, openAccounts, useServices } from '../support/services.ts'

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
  ['an invisible character', 'An\u200bn'],
  ['stacked marks', `A${'\u0316'.repeat(310)}`],
  ['a reserved name', 'Admin'],
  ['a name that looks reserved', 'Ѕupport'],
])('a user name of %s is refused', async (_, name) => {
  const given = harness.services.users.create(ann, { ...namesOf(ann), name })
  await expect(given).rejects.toMatchObject(refused('input.name'))
})

test.each(['admin', 'ad.min', 'r00t', 'supp0rt'])(
  'the reserved handle %s gets no account',
  async (name) => {
    const { users, collections } = harness.services
    const given = users.create(handle(name), { ...namesOf(handle(name)), name: 'Ann' })
    await expect(given).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await collections.users.countDocuments({ _id: name })).toBe(0)
  },
)

test('the owner of a reserved handle may use its name, and update the profile', async () => {
  await openAccounts(harness.services, [handle('support')])
  const { users } = harness.services
  expect(await users.update(handle('support'), { name: 'Support' })).toMatchObject({
    name: 'Support',
  })
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

describe('the picture and the banner of a profile', () => {
  const { avatarUrl, bannerUrl } = {
    avatarUrl: 'https://pictures.example/ann.png',
    bannerUrl: 'http://pictures.example/wide.jpg',
  }

  test('are stored in the form that a browser sends, kept by other changes, and removed by null', async () => {
    const { users, collections } = harness.services
    const painted = handle('painted')
    const given = { name: 'A', avatarUrl: 'HTTPS://Pictures.example/ann.png', bannerUrl }
    expect(await users.create(painted, { ...namesOf(painted), ...given })).toMatchObject({
      avatarUrl,
      bannerUrl,
    })
    expect(await users.update(painted, { name: 'B' })).toMatchObject({ avatarUrl, bannerUrl })
    expect((await users.byIds([painted])).get(painted)).toMatchObject({ avatarUrl, bannerUrl })
    const removed = await users.update(painted, { avatarUrl: null })
    expect(removed).toMatchObject({ name: 'B', bannerUrl })
    expect(removed).not.toHaveProperty('avatarUrl')
    await users.update(painted, { avatarUrl })
    const emptied = await users.update(painted, { avatarUrl: '' })
    expect(emptied).toMatchObject({ name: 'B', bannerUrl })
    expect(emptied).not.toHaveProperty('avatarUrl')
    expect(await users.delete(painted)).toEqual({ changed: true, handle: painted })
    expect(await collections.users.findOne({ _id: painted })).not.toHaveProperty('bannerUrl')
  })

  test.each(['ann.png', 'data:image/png;base64,AA', `https://a.b/${'x'.repeat(2_048)}`])(
    'are refused with the URL %s, and nothing changes',
    async (url) => {
      const { users } = harness.services
      const before = await users.update(ann, { name: 'Before', avatarUrl })
      for (const field of ['avatarUrl', 'bannerUrl']) {
        const given = users.update(ann, { name: 'Changed', [field]: url })
        await expect(given).rejects.toMatchObject(refused(`input.${field}`))
      }
      expect((await users.byIds([ann])).get(ann)).toEqual(before)
    },
  )
})
