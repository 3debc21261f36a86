import { expect, test } from 'vitest'
import { pollByGet } from '../laws/model/http-poll.ts'
import { useApp } from '../support/app.ts'
import { sameLimits } from '../support/engagement.ts'
import { Poller } from '../support/poller.ts'
import { handle, openAccounts, servicesOver } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const [reader, friend, star] = [handle('reader'), handle('friend'), handle('star')]

test('a removal that ended while a client loaded its page is found when it is made again, while a delivery waits', async () => {
  const { services } = app
  await openAccounts(services, [reader, friend, star])
  for (const author of [friend, star]) await services.follows.follow(reader, author)
  await services.posts.create(friend, { text: 'held' })
  await app.rest()
  // Its delivery holds the watermark, so two cursors of the same posts are equal.
  const earlier = { now: () => Date.now() - 60_000, advance: () => {} }
  const behind = servicesOver(app.database, earlier, sameLimits({ threshold: 3, capacity: 2 }))
  await behind.posts.create(star, { text: 'waits' })

  const costs = { polls: 0, unchanged: 0, bytes: 0, pages: 0 }
  const queries = pollByGet({ reader, strategy: 'INBOX', nextUrl: () => app.url, costs })
  let beforePage = async (): Promise<unknown> => undefined
  const poller = new Poller({
    ...queries,
    timeline: async (window) => {
      await beforePage()
      return queries.timeline(window)
    },
  })
  await poller.load()
  expect(poller.held).toHaveLength(1)
  const { restrictions } = services
  await restrictions.mute(reader, friend)
  beforePage = () => restrictions.unmute(reader, friend)
  expect((await poller.poll()).news.changed).toBe(true)
  expect(poller.held).toHaveLength(1)
  beforePage = async () => undefined
  await restrictions.mute(reader, friend)
  await poller.poll()
  expect(poller.held).toEqual([])
})
