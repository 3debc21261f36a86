import { beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { timelineFallbacks } from '../../src/metrics/timelines.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, { maintained: ['SIZED_BUCKETS'] })
const [reader, author] = [handle('reader'), handle('author')]
const logged: string[] = []

const read = (strategy: 'SIZED_BUCKETS' | 'FANOUT_ON_READ') =>
  harness.services.feed.timeline(reader, {
    ...{ strategy, window: { limit: 10, backward: false }, projection: 'ref' },
  })

const fallbacks = async () => (await timelineFallbacks.get()).values[0]?.value ?? 0

beforeAll(async () => {
  const { services } = harness
  await openAccounts(services, [reader, author])
  await services.follows.follow(reader, author)
  await services.posts.create(author, { text: 'hello' })
  await harness.rest()
  services.feed.start(createLog('info', { write: (line: string) => void logged.push(line) }))
})

test('a stored timeline that cannot be read is served on read, counted, and logged once in a while', async () => {
  expect((await read('SIZED_BUCKETS')).servedBy).toBe('SIZED_BUCKETS')
  const { modifiedCount } = await harness.services.collections.sized_buckets.updateOne(
    { reader },
    { $set: { entries: [null as never] } },
  )
  expect(modifiedCount).toBe(1)
  const before = await fallbacks()
  const whole = await read('FANOUT_ON_READ')
  for (const page of [await read('SIZED_BUCKETS'), await read('SIZED_BUCKETS')]) {
    expect(page.servedBy).toBe('FANOUT_ON_READ')
    expect(page.items).toEqual(whole.items)
  }
  expect(await fallbacks()).toBe(before + 2)
  expect(logged.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      msg: 'a stored timeline could not be read',
      err: expect.objectContaining({ type: 'TypeError' }),
    }),
  ])
})
