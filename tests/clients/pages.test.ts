import { describe, expect, onTestFinished, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { Handle } from '../../src/lib/ids.ts'
import { handle, openAccounts } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

const focused = 'document.activeElement.tagName + " " + document.activeElement.textContent'

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)
  const rename = (user: string) =>
    app.services.users.update(handle(user), { handle: `${user}-now` as Handle })

  test('each page has a title of its own, and its heading takes the focus when it opens', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    await app.services.follows.setGroups(handle(alice), handle(carol), ['friends'])
    const [written] = await write(bob, [`hello @${carol}`])
    const { page, post, shows } = await open(alice, { polls: false })
    const arrives = async (title: string, heading: string) => {
      await expect.poll(() => page.title()).toBe(`${title} · Feedline`)
      await expect.poll(() => page.evaluate(focused)).toBe(`H1 ${heading}`)
    }
    await shows([`hello @${carol}`])
    expect(await page.title()).toBe('Home · Feedline')
    expect(await page.evaluate(focused)).toMatch(/^BODY/)
    await page.getByRole('link', { name: bob, exact: true }).click()
    await arrives(`${bob} (@${bob})`, bob)
    await page.getByRole('link', { name: `@${carol}` }).click()
    await arrives(`${carol} (@${carol})`, carol)
    await page.goBack()
    await arrives(`${bob} (@${bob})`, bob)
    await page.getByRole('link', { name: 'Home' }).click()
    await arrives('Home', 'Home')
    await page.getByRole('link', { name: 'Home' }).click()
    await arrives('Home', 'Home')
    await post(`hello @${carol}`).getByRole('link', { name: '0 comments' }).click()
    await arrives(`${bob} (@${bob}): hello @${carol}`, `Post by ${bob}`)
    await page.getByRole('link', { name: 'friends' }).click()
    await arrives('friends', 'friends')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await arrives('Sign in', 'Welcome to Feedline')
    await page.getByRole('textbox', { name: 'Handle' }).fill(`new-${alice}`)
    await page.keyboard.press('Enter')
    await arrives('New account', 'New account')
    await page.getByRole('textbox', { name: 'Name' }).fill('New')
    await page.keyboard.press('Enter')
    await arrives('friends', 'friends')
    expect(written).toBeDefined()
  })

  test('an unknown address says so, has a title, and leads home', async () => {
    const { alice } = await createWorld(app)
    const { page } = await open(alice, { polls: false })
    const site = new URL(page.url()).origin
    for (const path of [
      '/nowhere',
      '/users',
      '/users/a/b',
      '/posts/%E0%A4%A',
      '/users/no-one',
      '/%',
    ]) {
      await page.goto(site + path)
      await page.getByText('There is no such').waitFor()
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
      expect(await page.title()).toBe('Not found · Feedline')
      await page.getByRole('link', { name: 'Go to the home timeline' }).click()
      await page.getByText('No posts yet').waitFor()
    }
  })

  test('the first press of Tab offers to skip the navigation', async () => {
    const { alice } = await createWorld(app)
    const { page } = await open(alice, { polls: false })
    await page.getByText('No posts yet').waitFor()
    await page.keyboard.press('Tab')
    const skip = page.getByRole('button', { name: 'Skip to content' })
    expect(await skip.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await skip.isVisible()).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.placeholder')).toBe('What is new?')
  })

  test('a click beside the links of a post opens it, and so does Enter', async () => {
    const { alice, bob, write } = await createWorld(app)
    const [written] = await write(bob, ['opened #spring'])
    const path = `/posts/${written ? postNodeId(written) : ''}`
    const { page, post, shows } = await open(alice, { polls: false })
    const isOpen = () => page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    const pathname = () => page.evaluate('decodeURIComponent(location.pathname)')
    await shows(['opened #spring'])
    await page.getByTestId('post-text').click()
    await isOpen()
    expect(await pathname()).toBe(path)
    await page.getByTestId('post-text').click()
    expect(await pathname()).toBe(path)
    await page.goBack()
    await page.getByRole('textbox', { name: 'What is new?' }).waitFor()
    await post('opened #spring').focus()
    await page.keyboard.press('Enter')
    await isOpen()
    await page.goBack()
    await page.getByRole('textbox', { name: 'What is new?' }).waitFor()
    await post('opened #spring').getByRole('button', { name: 'Like' }).click()
    await page.getByTestId('post-text').dblclick()
    await page.goBack()
    await page.getByTestId('post-text').selectText()
    await page.getByTestId('post-text').dispatchEvent('click')
    expect(await pathname()).toBe('/')
  })

  test('only what leads somewhere looks like a link', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, [`hello #spring @${alice} https://example.org`])
    const { page, posts } = await open(alice, { polls: false })
    await posts.first().waitFor()
    const text = page.getByTestId('post-text')
    const colorOf = (content: string) =>
      text.getByText(content).evaluate((element) => getComputedStyle(element).color)
    const plain = await text.evaluate((element) => getComputedStyle(element).color)
    expect(await colorOf('#spring')).toBe(plain)
    expect(await colorOf(`@${alice}`)).not.toBe(plain)
    expect(await text.getByRole('link').allInnerTexts()).toEqual([
      `@${alice}`,
      'https://example.org',
    ])
  })

  test('a mention leads to the user of then under the handle of now, and is no link once the user is gone', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    const text = `hello @${bob} @${carol} @no-one`
    const [written] = await write(alice, [text])
    if (!written) return expect.fail('a post')
    await app.services.engagements.add('comments', handle(carol), written, { text: `@${bob}` })
    await rename(bob)
    const { page, shows } = await open(alice, { polls: false })
    const links = () =>
      page
        .locator('.text')
        .getByRole('link')
        .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]))
    await shows([text])
    expect(await links()).toEqual([
      [`@${bob}`, `/users/${bob}-now`],
      [`@${carol}`, `/users/${carol}`],
    ])
    await page.getByRole('link', { name: '1 comment' }).click()
    await page.getByTestId('comment').waitFor()
    expect((await links()).at(-1)).toEqual([`@${bob}`, `/users/${bob}-now`])
    await page
      .getByTestId('comment')
      .getByRole('link', { name: `@${bob}` })
      .click()
    await page.getByText(`@${bob}-now`).waitFor()
    await app.services.users.delete(handle(carol))
    await page.reload()
    await page.getByRole('link', { name: 'Home' }).click()
    await shows([text])
    expect(await links()).toEqual([[`@${bob}`, `/users/${bob}-now`]])
  })

  test('a viewer whose handle is not the subject has a profile under the handle', async () => {
    const { alice, bob } = await createWorld(app)
    await rename(alice)
    const { page } = await open(alice, { polls: false })
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('heading', { level: 1, name: alice }).waitFor()
    expect(await page.evaluate('location.pathname')).toBe(`/users/${alice}-now`)
    expect(await page.getByRole('button', { name: 'Follow' }).count()).toBe(0)
    await page.getByRole('link', { name: '2 following' }).click()
    await page.getByRole('link', { name: bob }).click()
    await page.getByRole('button', { name: 'Unfollow' }).waitFor()
  })

  test('sign-in refuses what is no handle, and says why', async () => {
    const { page, alert, traffic } = await open(undefined, { polls: false })
    const field = page.getByRole('textbox', { name: 'Handle' })
    for (const text of ['Ann Marie', 'ann!', 'zoë', '.ann', 'ann-', '@', 'a'.repeat(65)]) {
      await field.fill(text)
      await page.keyboard.press('Enter')
      expect(await alert.innerText()).toMatch(/^A handle has 1 to 64 letters/)
      expect(await field.getAttribute('aria-invalid')).toBe('true')
    }
    expect(traffic.take().requests).toBe(0)
    await field.fill('valid.name')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'New account' }).waitFor()
    expect(await field.inputValue()).toBe('valid.name')
    expect(await alert.count()).toBe(0)
  })

  test('a kept handle that is invalid leads to the sign-in', async () => {
    const { page } = await open('Ann Marie', { polls: false })
    await page.getByRole('textbox', { name: 'Handle' }).waitFor()
  })

  test('a new account finds people, and a followed one is in the home timeline', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    await openAccounts(app.services, [handle('feedline')]).catch(() => undefined)
    for (const followee of [bob, carol].map(handle)) {
      await app.services.follows.follow(handle('feedline'), followee)
      // A further try suggests its own users alone.
      onTestFinished(async () => {
        await app.services.follows.unfollow(handle('feedline'), followee)
      })
    }
    await write(bob, ['by bob'])
    const path = `/users/new-${alice}`
    const { page, shows } = await open(`new-${alice}`, { path, polls: false })
    await page.getByRole('textbox', { name: 'Name' }).fill('New')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'New' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    const names = page.getByRole('region', { name: 'Suggestions' }).getByTestId('suggestion')
    await expect
      .poll(() => names.locator('.name').allInnerTexts())
      .toEqual(['feedline', carol, bob])
    await page.getByRole('button', { name: `Follow ${bob}` }).click()
    await shows(['by bob'])
    await expect.poll(() => names.locator('.name').allInnerTexts()).toEqual(['feedline', carol])
  })
})
