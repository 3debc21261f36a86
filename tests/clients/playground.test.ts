import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { patient } from '../support/patience.ts'
import { handle, openAccounts } from '../support/services.ts'
import { hasChromium, launchChromium } from './chromium.ts'

describe.skipIf(!hasChromium)('playground', () => {
  const app = useApp({ NODE_ENV: 'development' })
  let browser: Browser
  beforeAll(async () => {
    await openAccounts(app.services, [handle('alice')])
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  test('the page of the dev server has a tab for each example, also after a reload, and runs a query', async () => {
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', ({ message }) => problems.push(message))
    await page.goto(app.url)
    const tabs = page.getByRole('tab')
    const titles = () => tabs.allInnerTexts()
    const expected = [
      'AliceJoins',
      'BobJoins',
      'AliceFollowsBob',
      'BobPosts',
      'AliceReads',
      'AlicePolls',
      'AliceLikes',
      'BobFails',
    ]
    await expect.poll(titles).toEqual(expected)
    await page.reload()
    await expect.poll(titles).toEqual(expected)
    await page.getByRole('tab', { name: 'AliceReads' }).click()
    const result = page.getByRole('region', { name: 'Result Window' })
    // The editor knows the operation of a tab a moment after the click.
    const run = async () => {
      await page.getByRole('button', { name: /^Execute query/ }).click()
      return result.innerText()
    }
    await expect.poll(run, { interval: 500, timeout: patient(10_000) }).toContain('"pollCursor":')
    expect(problems).toEqual([])
  })

  test.each([320, 390])(
    'on a phone of %i pixels, the query and its answer have the width of the page',
    async (width) => {
      const page = await browser.newPage({ viewport: { width, height: 800 } })
      await page.goto(app.url)
      await page.getByRole('tab', { name: 'AliceReads' }).waitFor()
      await page.getByRole('tab', { name: 'AliceReads' }).click()
      await page.getByRole('button', { name: /^Execute query/ }).click()
      const result = page.getByRole('region', { name: 'Result Window' })
      const [query, answer] = [
        await page.locator('.graphiql-query-editor').boundingBox(),
        await result.boundingBox(),
      ]
      expect(query?.width).toBeGreaterThan(width * 0.75)
      expect(answer?.width).toBeGreaterThan(width * 0.75)
      expect(answer?.height).toBeGreaterThan(150)
      expect((query?.y ?? 0) + (query?.height ?? 0)).toBeLessThanOrEqual(answer?.y ?? 0)
      expect((answer?.y ?? 0) + (answer?.height ?? 0)).toBeLessThanOrEqual(800)
      await page.close()
    },
  )
})
