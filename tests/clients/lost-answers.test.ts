import { describe, expect, test } from 'vitest'
import { patient } from '../support/patience.ts'
import { handle } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { holdRequests, loseAnswers } from './routes.ts'
import { createWorld, newHandle, numbered } from './world.ts'

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('a second press of Post after a lost answer makes one post', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, alert, news, shows, poll } = await open(alice, { polls: false })
    await shows(['held'])
    const stopLosing = await loseAnswers(page, 'createPost(')
    await page.getByRole('textbox', { name: 'What is new?' }).fill('once')
    const send = page.getByRole('button', { name: 'Post', exact: true })
    await send.click()
    await alert.waitFor()
    await stopLosing()
    await send.click()
    await shows(['once', 'held'])
    await poll()
    expect(await news.count()).toBe(0)
    await page.reload()
    await shows(['once', 'held'])
  })

  test('a post that a poll has brought is shown once when Post is pressed again after a lost answer', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, alert, news, shows, poll } = await open(alice, { polls: false })
    await shows(['held'])
    const stopLosing = await loseAnswers(page, 'createPost(')
    await page.getByRole('textbox', { name: 'What is new?' }).fill('once')
    const send = page.getByRole('button', { name: 'Post', exact: true })
    await send.click()
    await alert.waitFor()
    await stopLosing()
    await poll()
    await news.click()
    await shows(['once', 'held'])
    await send.click()
    await expect
      .poll(() => page.getByRole('textbox', { name: 'What is new?' }).inputValue())
      .toBe('')
    await shows(['once', 'held'])
    await write(bob, ['by another'])
    await poll()
    await expect.poll(() => news.textContent()).toBe('1 new post')
  })

  test('a second press of Comment after a lost answer makes one comment', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['discussed'])
    const { page, alert, post, shows } = await open(alice, { polls: false })
    await shows(['discussed'])
    await post('discussed').getByRole('link', { name: '0 comments' }).click()
    await page.getByRole('textbox', { name: 'Write a comment' }).fill('I agree')
    const stopLosing = await loseAnswers(page, 'addComment(')
    const send = page.getByRole('button', { name: 'Comment', exact: true })
    await send.click()
    await alert.waitFor()
    await stopLosing()
    await send.click()
    const comments = page.getByRole('region', { name: 'Comments' }).getByTestId('comment')
    await expect.poll(() => comments.count()).toBe(1)
    await page.reload()
    await post('discussed').getByRole('link', { name: '1 comment' }).waitFor()
  })

  test('a lost answer to a sign-up is repeated by itself, and makes one account', async () => {
    const { page, alert } = await open(newHandle('lost'), { polls: false })
    await page.getByRole('textbox', { name: 'Name' }).fill('Lost Answer')
    const stopLosing = await loseAnswers(page, 'createUser(')
    const lost = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: 'Create account' }).click()
    await lost
    await stopLosing()
    await page.getByText('No posts yet').waitFor()
    expect(await alert.count()).toBe(0)
  })

  test('a next page that comes after the list was read again leaves no gap', async () => {
    const { alice, bob, write } = await createWorld(app)
    const old = numbered(30, 'old')
    await write(bob, old.toReversed())
    const [deleted] = await write(bob, ['deleted'])
    const { page, posts, shows, texts } = await open(alice, { polls: false })
    await posts.first().waitFor()
    const release = await holdRequests(page, 'after":"')
    await page.reload()
    await posts.nth(19).waitFor()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    const added = numbered(30, 'new')
    await write(bob, added.toReversed())
    if (deleted) await app.services.posts.delete(handle(bob), deleted)
    const readAgain = page.waitForResponse(async (response) =>
      (await response.text().catch(() => '')).includes('new 30'),
    )
    await page.evaluate("window.dispatchEvent(new Event('online'))")
    await readAgain
    release()
    await expect.poll(async () => (await texts())[0], { timeout: patient(20_000) }).toBe('new 30')
    while ((await page.getByTestId('end').count()) === 0) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    }
    await shows([...added, ...old])
  })
})
