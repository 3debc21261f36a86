import { describe, expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('each action sends one request, polls are answered without a body, and preflights are kept', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const viewer = await open(alice, { polls: false })
    const { page, traffic, post, news, shows, poll } = viewer
    const counts = async () => {
      await traffic.settle()
      const { requests, preflights, unchanged, sentBytes, operations } = traffic.take()
      noteFact(`${name}: ${operations.join(', ')}: ${sentBytes} bytes sent`)
      return { requests, preflights, unchanged }
    }
    await shows(['held'])
    expect(await counts()).toEqual({ requests: 2, preflights: 1, unchanged: 0 })
    await poll()
    expect(await counts()).toEqual({ requests: 1, preflights: 1, unchanged: 0 })
    await poll()
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 1 })
    await post('held').getByRole('button', { name: 'Like' }).click()
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 0 })
    await page.getByRole('textbox', { name: 'What is new?' }).fill('own')
    await page.getByRole('button', { name: 'Post', exact: true }).click()
    await shows(['own', 'held'])
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 0 })
    await write(bob, ['new'])
    await poll()
    await news.waitFor()
    await counts()
    await news.click()
    await shows(['new', 'own', 'held'])
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 0 })
    await post('held').getByRole('link', { name: bob }).click()
    await page.getByRole('button', { name: 'Unfollow' }).waitFor()
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 0 })
    await page.getByRole('button', { name: 'Unfollow' }).click()
    expect(await counts()).toEqual({ requests: 1, preflights: 0, unchanged: 0 })
  })
})
