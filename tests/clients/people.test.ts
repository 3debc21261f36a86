import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { handle, openAccounts } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('the numbers of followers and followees lead to lists of them, page by page', async () => {
    const { alice, bob, carol } = await createWorld(app)
    const fans = Array.from({ length: 24 }, (_, n) => handle(`fan${n}-${bob}`))
    await openAccounts(app.services, fans)
    for (const fan of fans) await app.services.follows.follow(fan, handle(bob))
    const { page } = await open(alice, { path: `/users/${bob}`, polls: false })
    const shown = () => page.getByTestId('person').locator('.name').allInnerTexts()
    await page.getByRole('link', { name: '25 followers' }).click()
    await expect.poll(shown).toEqual([...fans.toReversed(), alice])
    expect(await page.title()).toBe(`Followers of @${bob} · Feedline`)
    await page.getByTestId('end').waitFor()
    await page.getByRole('link', { name: alice, exact: true }).click()
    await page.getByRole('link', { name: '2 following' }).click()
    await expect.poll(shown).toEqual([carol, bob])
    await page.goBack()
    await page.goBack()
    await expect.poll(async () => (await shown()).length).toBe(25)
  })

  test('a follow and a like are in the lists that were read before', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    const [written] = await write(bob, ['liked'])
    await app.services.follows.follow(handle(bob), handle(carol))
    const { page, post } = await open(alice, { path: `/users/${carol}/followers`, polls: false })
    const shown = () => page.getByTestId('person').locator('.name').allInnerTexts()
    await expect.poll(shown).toEqual([bob, alice])
    await page.goto(new URL(`/posts/${written ? postNodeId(written) : ''}/likes`, page.url()).href)
    await page.getByText('No likes yet').waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await post('liked').getByRole('button', { name: 'Like' }).click()
    await page.getByRole('link', { name: '1 like', exact: true }).click()
    await expect.poll(shown).toEqual([alice])
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('link', { name: '2 following' }).click()
    await page.getByRole('link', { name: carol }).click()
    await page.getByRole('link', { name: '2 followers' }).click()
    await expect.poll(shown).toEqual([bob, alice])
    await page.goBack()
    await page.getByRole('button', { name: 'Unfollow' }).click()
    await page.getByRole('link', { name: '1 follower' }).click()
    await expect.poll(shown).toEqual([bob])
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('link', { name: '1 following' }).click()
    await expect.poll(shown).toEqual([bob])
  })

  test('lists of an unknown user and of an unknown post say so, and empty ones too', async () => {
    const { alice, bob, write } = await createWorld(app)
    const [deleted] = await write(bob, ['deleted'])
    if (!deleted) throw new Error('a post')
    await app.services.posts.delete(handle(bob), deleted)
    const { page } = await open(alice, { path: '/users/no-one/followers', polls: false })
    const site = new URL(page.url()).origin
    await page.getByText('There is no such user').waitFor()
    await page.goto(`${site}/users/no-one/following`)
    await page.getByText('There is no such user').waitFor()
    await page.goto(`${site}/posts/${postNodeId(deleted)}/likes`)
    await page.getByText('There is no such post').waitFor()
    await page.goto(`${site}/users/${alice}/friends`)
    await page.getByText('There is no such page').waitFor()
    await page.goto(`${site}/users/${bob}/following`)
    await page.getByText('Follows no one yet').waitFor()
    await page.goto(`${site}/users/${alice}/followers`)
    await page.getByText('No followers yet').waitFor()
  })
})
