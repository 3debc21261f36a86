import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { examplesFolder } from '../../scripts/example-site.ts'
import { noteFact } from '../support/facts.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { holdRequests } from './routes.ts'
import { createWorld } from './world.ts'

/** The operations of the session and of the first page. */
const operations = {
  session: /Session|mainQuery/,
  timeline: /HomeTimeline|TimelineQuery/,
}

const expectedStatuses = {
  '/': 200,
  '/users/bob.js': 200,
  '/groups/a%20b': 200,
  '/posts/abc/': 200,
  '/nowhere': 404,
  '/users': 404,
  '/assets/old.js': 404,
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('the page shows where posts will be before its script has come', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, shows } = await open(alice, { polls: false })
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\.js$/, async (route) => {
      await released
      await route.fallback()
    })
    await page.reload({ waitUntil: 'commit' })
    const grey = page.locator('.skeleton .avatar').first()
    await grey.waitFor()
    expect(await grey.boundingBox()).toMatchObject({ width: 44, height: 44 })
    release()
    await shows(['held'])
    expect(await page.locator('.skeleton').count()).toBe(0)
  })

  test('the script and the style are compressed, and kept by the browser', async () => {
    const { alice } = await createWorld(app)
    const { page, traffic } = await open(alice, { polls: false })
    await page.getByText('No posts yet').waitFor()
    const sizes = new Map<string, number>()
    const urls = new Map<string, string>()
    traffic.session.on('Network.responseReceived', ({ requestId, response }) => {
      urls.set(requestId, response.url)
    })
    traffic.session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      sizes.set(new URL(urls.get(requestId) ?? 'none:').pathname, encodedDataLength)
    })
    await traffic.session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await page.reload()
    await page.getByText('No posts yet').waitFor()
    const assets = [...sizes].filter(([path]) => path.startsWith('/assets/'))
    expect(assets.map(([path]) => path.replace(/.*\./, '')).toSorted()).toEqual(['css', 'js'])
    for (const [path, bytes] of assets) {
      const whole = statSync(join(examplesFolder, name, 'dist', path)).size
      noteFact(`${name}: ${path}: ${bytes} of ${whole} bytes sent`)
      expect(bytes).toBeLessThan(whole * 0.4)
    }
  })

  test('the session and the first page are asked for at the same time', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, shows, traffic } = await open(alice, { polls: false })
    await shows(['held'])
    await traffic.settle()
    traffic.take()
    const release = await holdRequests(page, name === 'relay' ? 'mainQuery' : 'Session')
    await page.reload()
    await shows(['held'])
    const sent = traffic.take().operations
    noteFact(`${name}: sent before the first posts: ${sent.join(', ')}`)
    expect(sent.filter((operation) => operations.timeline.test(operation))).toHaveLength(1)
    expect(sent.filter((operation) => operations.session.test(operation))).toHaveLength(1)
    release()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('heading', { level: 1, name: alice }).waitFor()
  })

  test('the server of files answers each address with the app, and others with 404 too', async () => {
    const { page } = await open(undefined, { polls: false })
    const statuses: Record<string, number> = {}
    for (const path of Object.keys(expectedStatuses)) {
      const response = await page.request.get(new URL(path, page.url()).href)
      statuses[path] = response.status()
      expect(response.headers()['content-encoding']).toBe('br')
      expect(await response.text()).toContain('<div id="root">')
    }
    expect(statuses).toEqual(expectedStatuses)
  })
})
