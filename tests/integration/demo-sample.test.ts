import { expect, test } from 'vitest'
import { people } from '../../scripts/demo/people.ts'
import { continueSample } from '../../scripts/demo/sample.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()

test('the demo writes posts without likes, and people like and comment on the recent ones later', async () => {
  const { services } = harness
  const accounts = people.map((person) => handle(person.handle)) as [UserId, ...UserId[]]
  await openAccounts(services, accounts)
  const step = continueSample(services, accounts)
  const answers = async () => {
    const posts = await services.collections.posts.find().sort({ _id: 1 }).toArray()
    return posts.map(({ counts }) => (counts?.likes ?? 0) + (counts?.comments ?? 0))
  }
  await step()
  expect(await answers()).toEqual([0])
  for (let steps = 0; steps < 4; steps++) await step()
  const [first = 0, ...others] = await answers()
  expect(others).toEqual([])
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(4)
  await step()
  expect(await answers()).toEqual([first, 0])
})
