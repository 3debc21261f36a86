import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { UserId } from '../../src/lib/ids.ts'
import { patient } from '../support/patience.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { handle, openAccounts } from '../support/services.ts'

const separate = useSeparateTimelines({ maintained: ['FANOUT_ON_READ', 'INBOX'] }, '&w=1')
const recoveryMsMax = patient(60_000)

test('with w=1, an election of the timelines cluster builds all timelines again', async () => {
  const { services, set } = separate
  const [reader, author] = [handle('reader'), handle('author')] as [UserId, UserId]
  await openAccounts(services, [reader, author])
  await services.follows.follow(reader, author)
  const { id } = await services.posts.create(author, { text: 'hello' })
  await separate.rest()
  const epochOf = async () => (await services.registry.read()).get('INBOX')?.epoch.toHexString()
  const read = () =>
    services.feed.timeline(reader, {
      window: { limit: 10, backward: false },
      ...{ projection: 'ref', strategy: 'INBOX', pending: true },
    })
  const before = await epochOf()
  expect((await read()).servedBy).toBe('INBOX')
  await set.kill()
  await set.start()
  // What an election reverts, is lost on this member too.
  await separate.cluster.db.collection('inbox').deleteMany({})
  const giveUpAt = performance.now() + recoveryMsMax
  while ((await epochOf()) === before) {
    const { items, pending } = await read()
    if (!pending) expect(items.map((item) => item.id)).toEqual([id])
    expect(performance.now()).toBeLessThan(giveUpAt)
    await sleep(100)
  }
  await separate.rest()
  while (services.placement.isAway) await sleep(100)
  // A page shows the state of the rebuild to the next one.
  await read()
  const { items, servedBy } = await read()
  expect([items.map((item) => item.id), servedBy]).toEqual([[id], 'INBOX'])
})
