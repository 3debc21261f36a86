import { beforeEach, describe, expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { forgetDocuments } from '../support/persisted-documents.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

/** Requests, preflights, answers without a body, and bytes of each step. */
type Counts = readonly [requests: number, preflights: number, unchanged: number, sentBytes: number]

/**
 * Steps that send a poll cursor. It names the posts of the last seconds, so a slow run sends fewer
 * bytes.
 */
const cursorSteps = ['first poll', 'second poll', 'third poll', 'new posts']

/**
 * All send queries by GET, and a browser asks once for each URL. They send hashes, so a server that
 * starts gets each document once more. The session and the timeline are asked for at the same time,
 * so the preflight of their texts is sent once or twice. urql sends a text that is too long for a
 * URL by POST.
 */
const expected: Record<string, Record<string, Counts>> = {
  apollo: {
    'first page': [6, 5, 0, 4_197],
    'first poll': [2, 1, 0, 1_182],
    'second poll': [1, 0, 0, 473],
    'third poll': [1, 0, 1, 473],
    like: [1, 0, 0, 463],
    post: [1, 0, 0, 1_465],
    'new posts': [1, 1, 0, 492],
    profile: [2, 1, 0, 2_368],
    unfollow: [1, 0, 0, 688],
  },
  relay: {
    'first page': [6, 5, 0, 2_856],
    'first poll': [2, 1, 0, 945],
    'second poll': [1, 0, 0, 401],
    'third poll': [1, 0, 1, 401],
    like: [1, 0, 0, 498],
    post: [1, 0, 0, 1_016],
    'new posts': [2, 1, 0, 1_643],
    profile: [2, 1, 0, 1_556],
    unfollow: [1, 0, 0, 590],
  },
  urql: {
    'first page': [6, 6, 0, 4_235],
    'first poll': [2, 2, 0, 1_145],
    'second poll': [1, 0, 0, 375],
    'third poll': [1, 0, 1, 375],
    like: [1, 1, 0, 388],
    post: [1, 0, 0, 1_378],
    'new posts': [1, 1, 0, 394],
    profile: [2, 1, 0, 2_238],
    unfollow: [1, 0, 0, 611],
  },
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  // A first try has stored them.
  beforeEach(({ task }) => (task.result?.retryCount ? forgetDocuments(app) : undefined))

  test('each action sends as many requests, preflights and bytes as it must, and polls are answered without a body', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['held'])
    const { page, traffic, post, news, shows, poll } = await open(alice, { polls: false })
    const steps: Record<string, Counts> = {}
    const endStep = async (step: string) => {
      await traffic.settle()
      const { requests, preflights, unchanged, sentBytes, operations } = traffic.take()
      noteFact(`${name}: ${step}: ${operations.join(', ')}: ${sentBytes} bytes sent`)
      const [, asked = 0, , bytes = 0] = expected[name]?.[step] ?? []
      const isShared = step === 'first page' && preflights === asked - 1
      const isShorter = cursorSteps.includes(step) && sentBytes < bytes && sentBytes > bytes * 0.9
      steps[step] = [
        requests,
        isShared ? asked : preflights,
        unchanged,
        isShorter ? bytes : sentBytes,
      ]
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
