import { describe, expect, test, vi } from 'vitest'
import type { PostId } from '../../src/lib/ids.ts'
import { materialisedNames } from '../../src/timeline/strategies/list.ts'
import { deliveryOf, type Job, useFeedFixture } from '../support/feed-fixture.ts'
import { storeOf } from '../support/services.ts'

describe.each(materialisedNames)('a post deleted during its delivery, %s', (name) => {
  const fixture = useFeedFixture(name, 'author')

  async function scene() {
    const users = await fixture.people('reader', 'author')
    await fixture.page(users.reader)
    await fixture.page(users.author)
    return users
  }

  /** Deletes the post and retracts it from all timelines, right before the strategy is called. */
  function deleteBefore(method: 'deliver' | 'merge', author: string, id: PostId) {
    const strategy = fixture.services.strategies[name]
    const right = strategy[method].bind(strategy) as (...given: unknown[]) => Promise<void>
    return vi.spyOn(strategy, method).mockImplementationOnce(async (...given: unknown[]) => {
      await fixture.remove(author as never, id)
      for (const job of await fixture.takeJobs()) await fixture.run(job)
      await right(...given)
    })
  }

  test('a deleted post leaves no entry when its delivery writes after its retraction', async () => {
    const { reader, author } = await scene()
    await fixture.follow(reader, author)
    await fixture.rest()
    const id = await fixture.post(author)
    const [delivery] = (await fixture.takeJobs()) as [Job]
    const held = deleteBefore('deliver', author, id)
    await fixture.run(delivery)
    expect(held).toHaveBeenCalled()
    expect(await fixture.heldFor(reader)).toEqual([])
    expect(await fixture.heldFor(author)).toEqual([])
  })

  test('a deleted post leaves no entry when a killed delivery wrote after its retraction, and is retried', async () => {
    const { reader, author } = await scene()
    await fixture.follow(reader, author)
    await fixture.rest()
    const id = await fixture.post(author)
    await fixture.takeJobs()
    await fixture.remove(author, id)
    for (const job of await fixture.takeJobs()) await fixture.run(job)
    await (await storeOf(fixture.services, name)).deliver({ id, author }, [author, reader])
    await fixture.run(deliveryOf({ id, author }))
    expect(await fixture.heldFor(reader)).toEqual([])
    expect(await fixture.heldFor(author)).toEqual([])
  })

  test('a deleted post leaves no entry when a back-fill read it before the deletion and writes after it', async () => {
    const { reader, author } = await scene()
    const posts = await fixture.stored(author, 3)
    await fixture.follow(reader, author)
    const [backfill] = (await fixture.takeJobs()) as [Job]
    const held = deleteBefore('merge', author, posts[1] as PostId)
    await fixture.run(backfill)
    expect(held).toHaveBeenCalled()
    expect(await fixture.heldFor(reader)).toEqual([posts[0], posts[2]])
  })
})
