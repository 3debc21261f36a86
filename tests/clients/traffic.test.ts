import { describe, expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

/** Requests, preflights and answers without a body of each step. */
type Counts = readonly [requests: number, preflights: number, unchanged: number]

/**
 * Apollo Client sends queries by POST to one URL, and polls by GET. The others send queries by GET, and a browser asks
 * once for each URL. They send hashes, so a server that starts gets each document once more. urql sends a text that is
 * too long for a URL by POST.
 */
const expected: Record<string, Record<string, Counts>> = {
  apollo: {
    'first page': [3, 1, 0],
    'first poll': [1, 1, 0],
    'second poll': [1, 0, 1],
    'third poll': [1, 0, 1],
    like: [1, 0, 0],
    post: [1, 0, 0],
    'new posts': [1, 0, 0],
    profile: [1, 0, 0],
    unfollow: [1, 0, 0],
  },
  relay: {
    'first page': [6, 4, 0],
    'first poll': [2, 1, 0],
    'second poll': [1, 0, 0],
    'third poll': [1, 0, 1],
    like: [1, 0, 0],
    post: [1, 0, 0],
    'new posts': [2, 1, 0],
    profile: [2, 1, 0],
    unfollow: [1, 0, 0],
  },
  urql: {
    'first page': [6, 6, 0],
    'first poll': [2, 2, 0],
    'second poll': [1, 0, 0],
    'third poll': [1, 0, 1],
    like: [1, 1, 0],
    post: [1, 0, 0],
    'new posts': [1, 1, 0],
    profile: [2, 1, 0],
    unfollow: [1, 0, 0],
  },
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('each action sends as many requests and preflights as it must, and polls are answered without a body', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, traffic, post, news, shows, poll } = await open(alice, { polls: false })
    const steps: Record<string, Counts> = {}
    const endStep = async (step: string) => {
      await traffic.settle()
      const { requests, preflights, unchanged, sentBytes, operations } = traffic.take()
      noteFact(`${name}: ${step}: ${operations.join(', ')}: ${sentBytes} bytes sent`)
      steps[step] = [requests, preflights, unchanged]
    }
    await shows(['held'])
    await endStep('first page')
    for (const step of ['first poll', 'second poll', 'third poll']) {
      await poll()
      await endStep(step)
    }
    await post('held').getByRole('button', { name: 'Like' }).click()
    await endStep('like')
    await page.getByRole('textbox', { name: 'What is new?' }).fill('own')
    await page.getByRole('button', { name: 'Post', exact: true }).click()
    await shows(['own', 'held'])
    await endStep('post')
    await write(bob, ['new'])
    await poll()
    await news.waitFor()
    await traffic.settle()
    traffic.take()
    await news.click()
    await shows(['new', 'own', 'held'])
    await endStep('new posts')
    await post('held').getByRole('link', { name: bob }).click()
    await page.getByRole('button', { name: 'Unfollow' }).waitFor()
    await endStep('profile')
    await page.getByRole('button', { name: 'Unfollow' }).click()
    await endStep('unfollow')
    expect(steps).toEqual(expected[name])
  })
})
