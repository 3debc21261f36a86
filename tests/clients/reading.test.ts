import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { patient } from '../support/patience.ts'
import { handle } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld, numbered } from './world.ts'

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('a list of 520 posts scrolls to its end without a repeat or a gap', async () => {
    const { alice, bob, fill } = await createWorld(app)
    const expected = numbered(520)
    await fill(bob, expected.toReversed())
    const { page, posts, texts } = await open(alice, { polls: false })
    await posts.first().waitFor()
    while ((await page.getByTestId('end').count()) === 0) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await sleep(50)
    }
    expect(await texts()).toEqual(expected)
  })

  test('new posts are announced with their number, shown on top in order, and not announced again', async () => {
    const { alice, bob, carol, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, news, shows, texts, poll } = await open(alice, { polls: false })
    await shows(['held'])
    await write(carol, ['1 of 3'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('1 new post')
    await write(bob, ['2 of 3'])
    await write(carol, ['3 of 3'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('3 new posts')
    expect(await texts()).toEqual(['held'])
    await news.click()
    await shows(['3 of 3', '2 of 3', '1 of 3', 'held'])
    expect(await page.evaluate('scrollY')).toBe(0)
    await poll()
    expect(await news.count()).toBe(0)
    await write(bob, ['after'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('1 new post')
  })

  test('more than 20 new posts are announced as 20+, and all are shown', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { news, shows, poll } = await open(alice, { polls: false })
    await shows(['held'])
    const expected = numbered(60, 'new')
    await write(bob, expected.toReversed())
    await poll()
    await expect.poll(() => news.textContent()).toBe('20+ new posts')
    await news.click()
    await shows([...expected, 'held'])
  })

  test('a deletion among 70 posts held keeps the others on the page', async () => {
    const { alice, bob, fill, write } = await createWorld(app)
    const expected = numbered(69)
    await fill(bob, expected.toReversed())
    const [deleted] = await write(bob, ['deleted'])
    const { page, posts, poll, shows } = await open(alice, { polls: false })
    await posts.first().waitFor()
    while ((await posts.count()) < 70) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await sleep(50)
    }
    if (deleted) await app.services.posts.delete(handle(bob), deleted)
    await poll()
    await shows(expected)
  })

  test('the timer announces posts while the page is open', async () => {
    const { alice, bob, write } = await createWorld(app)
    const { page, news } = await open(alice)
    await page.getByText('No posts yet').waitFor()
    await write(bob, ['hello'])
    await expect.poll(() => news.textContent(), { timeout: patient(10_000) }).toBe('1 new post')
  })

  test('back restores the list and its place without a request, and forward and reload the post', async () => {
    const { alice, bob, fill } = await createWorld(app)
    await fill(bob, numbered(40).toReversed())
    const { page, posts, post, traffic, texts } = await open(alice, { polls: false })
    await posts.nth(19).waitFor()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await posts.nth(39).waitFor()
    const link = post('post 12').getByRole('link', { name: 'comments' })
    await link.scrollIntoViewIfNeeded()
    await sleep(100)
    const place = await page.evaluate('scrollY')
    await link.click()
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    await traffic.settle()
    traffic.take()
    await page.goBack()
    await expect.poll(async () => (await texts()).length).toBe(40)
    await expect.poll(() => page.evaluate('scrollY')).toBe(place)
    expect(traffic.take().operations).toEqual([])
    await page.goForward()
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    expect(await texts()).toEqual(['post 12'])
    await page.reload()
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    expect(await texts()).toEqual(['post 12'])
  })

  test('back restores the place in a list of posts with long texts and with pictures', async () => {
    const { alice, bob } = await createWorld(app)
    const attachments = [{ url: 'http://127.0.0.1:1/picture', kind: 'IMAGE' as const }]
    for (const text of numbered(6).toReversed()) {
      await app.services.posts.create(handle(bob), { text: `${text}${'\nmore'.repeat(20)}` })
      await app.services.posts.create(handle(bob), { text: `${text} pictured`, attachments })
    }
    const { page, post, posts } = await open(alice, { polls: false })
    await expect.poll(() => posts.count()).toBe(12)
    const last = post('post 1 pictured')
    await last.scrollIntoViewIfNeeded()
    await sleep(100)
    const place = await last.boundingBox()
    await last.getByRole('link', { name: 'comments' }).click()
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    await page.goBack()
    await expect.poll(() => last.boundingBox()).toEqual(place)
  })

  test('an offline page does not poll, says so, and announces what it missed when it is back', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, news, shows, texts, traffic } = await open(alice)
    await shows(['held'])
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    await write(bob, ['missed'])
    // A request of the moment before may be repeated once. Polls would come each second.
    const sentLater = async () => {
      traffic.take()
      await sleep(2_500)
      return traffic.take().requests
    }
    await expect.poll(sentLater, { timeout: patient(15_000) }).toBe(0)
    expect(await texts()).toEqual(['held'])
    await page.context().setOffline(false)
    await expect.poll(() => news.textContent(), { timeout: patient(10_000) }).toBe('1 new post')
    expect(await page.getByText('You are offline').count()).toBe(0)
  })

  test('a slow network shows that the page loads, and then each post once', async () => {
    const { alice, bob, fill } = await createWorld(app)
    const expected = numbered(25)
    await fill(bob, expected.toReversed())
    const { page, feed, posts, traffic, shows } = await open(alice, { polls: false })
    await posts.first().waitFor()
    await traffic.delay(800)
    await page.reload()
    await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true')
    await posts.first().waitFor()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await shows(expected)
    expect(await feed.getAttribute('aria-busy')).toBe('false')
  })

  test('a page that failed says why, and loads when it is tried again', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, alert, shows, post } = await open(alice, { polls: false })
    await shows(['held'])
    await page.context().setOffline(true)
    await post('held').getByRole('link', { name: 'comments' }).click()
    await alert.getByRole('button', { name: 'Try again' }).waitFor()
    await page.context().setOffline(false)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
    expect(await alert.count()).toBe(0)
  })

  test('a user, a post and a path that do not exist are named in a sentence', async () => {
    const { alice, bob, write } = await createWorld(app)
    const { page } = await open(alice, { path: '/users/no-one-here' })
    await page.getByText('There is no such user').waitFor()
    const [post] = await write(bob, ['deleted'])
    if (!post) return expect.fail('a post')
    await app.services.posts.delete(handle(bob), post)
    const other = await open(alice, { path: `/posts/${postNodeId(post)}` })
    await other.page.getByText('There is no such post').waitFor()
  })
})
