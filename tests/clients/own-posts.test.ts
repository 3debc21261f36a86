import { describe, expect, test } from 'vitest'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample, type Viewer } from './example.ts'
import { createWorld } from './world.ts'

async function publish({ page }: Viewer, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'What is new?' }).fill(text)
  await page.getByRole('button', { name: 'Post', exact: true }).click()
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('an own post that a second browser deletes before any poll disappears at the next poll', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const first = await open(alice, { polls: false })
    await first.shows(['held'])
    await publish(first, 'own')
    await first.shows(['own', 'held'])
    const second = await open(alice, { polls: false })
    await second.post('own').getByRole('button', { name: 'Delete' }).click()
    await second.shows(['held'])
    await first.poll()
    await first.shows(['held'])
    await write(bob, ['by another'])
    await first.poll()
    await expect.poll(() => first.news.textContent()).toBe('1 new post')
  })

  test('an own post that a second browser deletes after a poll disappears at the next poll', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const first = await open(alice, { polls: false })
    await first.shows(['held'])
    await publish(first, 'own')
    await first.shows(['own', 'held'])
    await first.poll()
    const second = await open(alice, { polls: false })
    await second.post('own').getByRole('button', { name: 'Delete' }).click()
    await second.shows(['held'])
    await first.poll()
    await first.shows(['held'])
  })

  test('a follow after an own post does not hide the next post of another', async () => {
    const { bob, carol, write } = await createWorld(app)
    await write(carol, ['by carol'])
    const viewer = await open(bob, { polls: false })
    const { page, news, shows, poll } = viewer
    await page.getByText('No posts yet').waitFor()
    await publish(viewer, `hello @${carol}`)
    await shows([`hello @${carol}`])
    await page.getByRole('link', { name: `@${carol}` }).click()
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByRole('button', { name: 'Unfollow' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await shows([`hello @${carol}`, 'by carol'])
    await write(carol, ['new'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('1 new post')
  })

  test('the own posts of a user are not subtracted for the next user who signs in', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    const viewer = await open(carol, { polls: false })
    const { page, news, shows, poll } = viewer
    await page.getByText('No posts yet').waitFor()
    await publish(viewer, 'by carol')
    await shows(['by carol'])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('textbox', { name: 'Handle' }).fill(alice)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'What is new?' }).waitFor()
    await shows(['by carol'])
    await write(bob, ['by bob'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('1 new post')
  })

  test('a post is as long as the server allows, which counts an emoji as one character', async () => {
    const { alice } = await createWorld(app)
    const viewer = await open(alice, { polls: false })
    await viewer.page.getByText('No posts yet').waitFor()
    const flags = '🇩🇪'.repeat(290)
    const field = viewer.page.getByRole('textbox', { name: 'What is new?' })
    await field.fill(flags)
    await viewer.page.getByText('10 left').waitFor()
    await publish(viewer, flags)
    await viewer.shows([flags])
  })
})
