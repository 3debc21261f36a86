import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { GivenAttachment } from '../../src/posts/content.ts'
import { handle } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

const site = 'https://pictures.example'
/** Red above blue. */
const blurhash = '9~LjfL|T'

/**
 * Answers requests for pictures: `/missing…` fails, and the others wait until the result is called.
 */
async function servePictures(page: Page): Promise<() => void> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(`${site}/**`, async (route) => {
    const url = new URL(route.request().url())
    if (url.pathname.startsWith('/missing')) return route.fulfill({ status: 404 })
    if (url.pathname.startsWith('/refused')) return route.abort()
    if (url.pathname.startsWith('/text'))
      return route.fulfill({ contentType: 'text/html', body: '<p>no picture' })
    await released
    const body = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="green"/></svg>`
    await route.fulfill({ contentType: 'image/svg+xml', body })
  })
  return release
}

const image = (name: string, more: Partial<GivenAttachment> = {}): GivenAttachment => ({
  ...{ url: `${site}/${name}`, kind: 'IMAGE' },
  ...more,
})

const sizeOf = async (locator: Locator) => {
  const { width = 0, height = 0 } = (await locator.boundingBox()) ?? {}
  return [Math.round(width), Math.round(height)]
}

/** The colours at the top and at the bottom of a drawing: the largest of red, green and blue. */
const colorsOf = (canvas: Locator) =>
  canvas.evaluate((element) => {
    const context = (element as HTMLCanvasElement).getContext('2d')
    const data = context?.getImageData(0, 0, 32, 32).data ?? new Uint8ClampedArray(4)
    return [0, data.length - 4].map((at) => {
      const [red = 0, green = 0, blue = 0] = data.slice(at, at + 3)
      return ['red', 'green', 'blue'][[red, green, blue].indexOf(Math.max(red, green, blue))]
    })
  })

/** Whether each image of a page is one that has come. */
const areShown = (images: Locator) =>
  images.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth > 0))

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)
  const publish = (author: string, attachments: readonly GivenAttachment[], text = '') =>
    app.services.posts.create(handle(author), { text, attachments })

  test('a post of a picture alone has its place and a preview at once, and then the picture, which leads to the whole one', async () => {
    const { alice, bob } = await createWorld(app)
    const dunes = { alt: 'Two dunes', width: 1_200, height: 900, blurhash }
    const written = await publish(bob, [image('dunes', dunes)])
    const { page, posts } = await open(alice, { polls: false })
    const release = await servePictures(page)
    await page.reload({ waitUntil: 'commit' })
    const link = posts.first().getByRole('link', { name: 'Two dunes' })
    const before = await sizeOf(link)
    await expect.poll(() => colorsOf(link.locator('canvas'))).toEqual(['red', 'blue'])
    expect((before[0] ?? 0) / (before[1] ?? 1)).toBeCloseTo(4 / 3, 1)
    release()
    const picture = page.getByRole('img', { name: 'Two dunes' })
    await expect.poll(() => areShown(picture)).toEqual([true])
    expect(await sizeOf(link)).toEqual(before)
    expect(await sizeOf(picture)).toEqual(before)
    expect(await picture.getAttribute('loading')).toBe('lazy')
    expect(await link.getAttribute('href')).toBe(`${site}/dunes`)
    expect(await link.getAttribute('rel')).toContain('noreferrer')
    await page.goto(new URL(`/posts/${postNodeId(written)}`, page.url()).href)
    await expect.poll(() => page.title()).toBe(`${bob} (@${bob}): Two dunes · Feedline`)
  })

  test.each(['missing', 'refused', 'text'])(
    'a picture that does not load (%s) leaves its alternative text in its place',
    async (reason) => {
      const { alice, bob } = await createWorld(app)
      const size = { width: 800, height: 400, blurhash }
      await publish(bob, [image(`${reason}-2`, size)])
      await publish(bob, [image(`${reason}-1`, { ...size, alt: 'A broken bridge' })], 'look')
      await publish(bob, [image('dunes', { ...size, alt: 'Two dunes' })])
      const { page, posts } = await open(alice, { polls: false })
      const release = await servePictures(page)
      release()
      await page.reload()
      await expect.poll(() => areShown(posts.locator('.body img'))).toEqual([true])
      const links = posts.locator('.medium')
      expect(await links.allInnerTexts()).toEqual(['', 'A broken bridge', 'Picture'])
      const sizes = await Promise.all([0, 1, 2].map((place) => sizeOf(links.nth(place))))
      expect(sizes[1]).toEqual(sizes[0])
      expect(sizes[2]).toEqual(sizes[0])
    },
  )

  test('a profile shows its banner, and the initials for a picture that does not load', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    const { users } = app.services
    await users.update(handle(bob), {
      ...{ name: 'Bob Okonkwo', avatarUrl: `${site}/bob`, bannerUrl: `${site}/beach` },
    })
    await users.update(handle(carol), {
      ...{ name: 'Carol Lee', avatarUrl: `${site}/missing`, bannerUrl: `${site}/missing-too` },
    })
    await write(carol, ['by carol'])
    await write(bob, ['by bob'])
    const { page, shows, posts } = await open(alice, { polls: false })
    const release = await servePictures(page)
    release()
    await page.reload()
    await shows(['by bob', 'by carol'])
    const avatars = posts.locator('.avatar')
    await expect.poll(() => avatars.allInnerTexts()).toEqual(['', 'CL'])
    expect(await sizeOf(avatars.first())).toEqual(await sizeOf(avatars.last()))
    await page.getByRole('link', { name: 'Bob Okonkwo' }).click()
    const banner = page.locator('.banner')
    await expect.poll(() => areShown(banner.locator('img'))).toEqual([true])
    const size = await sizeOf(banner)
    await page.goBack()
    await page.getByRole('link', { name: 'Carol Lee' }).click()
    await page.getByRole('heading', { level: 1, name: 'Carol Lee' }).waitFor()
    await expect.poll(() => banner.locator('img').count()).toBe(0)
    expect(await sizeOf(banner)).toEqual(size)
    expect(await page.locator('.profile .avatar').innerText()).toBe('CL')
  })

  test('no picture is higher than the window of a phone, whatever its size and their number', async () => {
    const { alice, bob } = await createWorld(app)
    const sizes = [
      { width: 1, height: 65_535 },
      { width: 65_535, height: 1 },
      { width: 3_000 },
      { height: 3_000 },
      {},
    ]
    for (const size of sizes) await publish(bob, [image('dunes', size)])
    await publish(bob, Array(4).fill(image('dunes', { width: 1, height: 65_535, alt: 'same' })))
    const { page, posts } = await open(alice, { polls: false, width: 360 })
    const release = await servePictures(page)
    release()
    await page.reload()
    await expect.poll(() => posts.count()).toBe(6)
    const boxes = await Promise.all((await posts.locator('.medium').all()).map(sizeOf))
    expect(boxes).toHaveLength(9)
    for (const [width = 0, height = 0] of boxes) {
      expect(width).toBeGreaterThan(100)
      expect(width).toBeLessThan(360)
      expect(height).toBeGreaterThan(80)
      expect(height).toBeLessThan(500)
    }
  })

  test('a video can be played, and a web page is a link', async () => {
    const { alice, bob } = await createWorld(app)
    await publish(bob, [
      { url: `${site}/missing.mp4`, kind: 'VIDEO', alt: 'A wave', blurhash },
      { url: `${site}/story`, kind: 'LINK', alt: 'The story of a wave' },
      { url: `${site}/more`, kind: 'LINK' },
    ])
    const { page, posts } = await open(alice, { polls: false })
    await servePictures(page)
    const video = posts.first().getByLabel('A wave')
    await expect.poll(() => video.evaluate((one) => (one as HTMLVideoElement).controls)).toBe(true)
    const pages = posts.first().locator('a.page')
    expect(await pages.allInnerTexts()).toEqual([
      'The story of a wave\npictures.example',
      'pictures.example',
    ])
    expect(await pages.first().getAttribute('href')).toBe(`${site}/story`)
    await video.click()
    await page.getByRole('textbox', { name: 'What is new?' }).waitFor()
    await video.evaluate((one) => void (one as HTMLVideoElement).play().catch(() => undefined))
    const failed = posts.first().getByRole('link', { name: 'A wave', exact: true })
    expect(await failed.getAttribute('href')).toBe(`${site}/missing.mp4`)
  })
})
