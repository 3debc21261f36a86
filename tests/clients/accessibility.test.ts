import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { handle, openAccounts } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The serious and critical violations that axe-core finds on a page. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test.each([
    ['light', 1200],
    ['dark', 390],
    ['light', 320],
  ] as const)(
    'no page has a serious violation of accessibility in %s colours, %i pixels wide',
    async (colorScheme, width) => {
      const { alice, bob, carol, write } = await createWorld(app)
      const dora = handle(`dora-${alice}`)
      await openAccounts(app.services, [dora])
      for (const followee of [handle(carol), dora]) {
        await app.services.follows.follow(handle(bob), followee)
      }
      const [written] = await write(bob, [`hello @${alice} @no-one #spring https://example.org`])
      const id = written ? postNodeId(written) : ''
      const url = 'https://pictures.example/missing'
      const picture = { url, kind: 'IMAGE' as const, alt: 'Two dunes' }
      await app.services.posts.create(handle(bob), {
        text: '',
        attachments: [
          ...[picture, { url, kind: 'IMAGE' }],
          ...[{ url, kind: 'VIDEO' } as const, { ...picture, kind: 'LINK' }],
        ] as const,
      })
      await app.services.users.update(handle(bob), { avatarUrl: url, bannerUrl: url })
      const violations: Record<string, string[]> = {}
      if (written) await app.services.engagements.add('likes', handle(carol), written)
      const profile = `/users/${bob}`
      const lists = [`${profile}/followers`, `${profile}/following`, `/posts/${id}/likes`]
      for (const path of ['/', profile, `/posts/${id}`, ...lists, '/edit', '/nowhere']) {
        const { page, posts, poll } = await open(alice, { path, polls: false, width })
        await page.emulateMedia({ colorScheme })
        if (path === '/nowhere') await page.getByText('There is no such page').waitFor()
        else if (path === '/edit') {
          await page.getByRole('textbox', { name: 'Name' }).fill('a'.repeat(65))
          await page.getByRole('button', { name: 'Save' }).click()
          await page.locator('[aria-invalid=true]').waitFor()
        } else if (lists.includes(path)) await page.getByTestId('person').first().waitFor()
        else await posts.first().waitFor()
        if (path === profile) await page.getByTestId('mutuals').waitFor()
        if (path === '/') {
          await page.getByTestId('suggestion').waitFor()
          await write(bob, ['new'])
          await poll()
        }
        violations[path] = await violationsOf(page)
      }
      const { page } = await open(undefined, { width })
      await page.emulateMedia({ colorScheme })
      await page.getByRole('textbox', { name: 'Handle' }).waitFor()
      violations['sign-in'] = await violationsOf(page)
      await page.getByRole('textbox', { name: 'Handle' }).fill(`new-${alice}`)
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Name' }).waitFor()
      violations['new account'] = await violationsOf(page)
      expect(Object.values(violations).flat()).toEqual([])
    },
  )

  test('the keyboard alone writes a post, likes it, opens it and comes back', async () => {
    const { alice } = await createWorld(app)
    const { page, feed, shows } = await open(alice, { polls: false })
    await page.getByText('No posts yet').waitFor()
    const tabTo = async (name: RegExp) => {
      for (let tabs = 0; tabs < 20; tabs++) {
        await page.keyboard.press('Tab')
        const text = await page.evaluate<string>(
          'document.activeElement.placeholder ?? document.activeElement.textContent',
        )
        if (name.test(text)) return
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    await tabTo(/What is new/)
    await page.keyboard.type('by keyboard')
    await page.keyboard.press('Control+Enter')
    await shows(['by keyboard'])
    await tabTo(/Like/)
    await page.keyboard.press('Space')
    await expect.poll(() => feed.getByTestId('like-count').textContent()).toBe('1')
    await tabTo(/0 comments/)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    await page.goBack()
    await shows(['by keyboard'])
  })
})
