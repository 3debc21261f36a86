import { describe, expect, test, vi } from 'vitest'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import type { PostId } from '../../src/lib/ids.ts'
import { deliveryOf, type Job, useFeedStage } from '../support/feed-stage.ts'
import { storeOf } from '../support/services.ts'

const strategies: MaterialisedName[] = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX']

describe.each(strategies)('a post deleted during its delivery, %s', (name) => {
  const stage = useFeedStage(name, 'author')

  async function scene() {
    const cast = await stage.people('reader', 'author')
    await stage.page(cast.reader)
    await stage.page(cast.author)
    return cast
  }

  /** Deletes the post and retracts it from all timelines, right before the strategy is called. */
  function deleteBefore(method: 'deliver' | 'merge', author: string, id: PostId) {
    const strategy = stage.services.strategies[name]
    const right = strategy[method].bind(strategy) as (...given: unknown[]) => Promise<void>
    return vi.spyOn(strategy, method).mockImplementationOnce(async (...given: unknown[]) => {
      await stage.remove(author as never, id)
      for (const job of await stage.takeJobs()) await stage.run(job)
      await right(...given)
    })
  }

  test('a deleted post leaves no entry when its delivery writes after its retraction', async () => {
    const { reader, author } = await scene()
    await stage.follow(reader, author)
    await stage.rest()
    const id = await stage.post(author)
    const [delivery] = (await stage.takeJobs()) as [Job]
    const held = deleteBefore('deliver', author, id)
    await stage.run(delivery)
    expect(held).toHaveBeenCalled()
    expect(await stage.heldFor(reader)).toEqual([])
    expect(await stage.heldFor(author)).toEqual([])
  })

  test('a deleted post leaves no entry when a killed delivery wrote after its retraction, and is retried', async () => {
    const { reader, author } = await scene()
    await stage.follow(reader, author)
    await stage.rest()
    const id = await stage.post(author)
    await stage.takeJobs()
    await stage.remove(author, id)
    for (const job of await stage.takeJobs()) await stage.run(job)
    await (await storeOf(stage.services, name)).deliver({ id, author }, [author, reader])
    await stage.run(deliveryOf({ id, author }))
    expect(await stage.heldFor(reader)).toEqual([])
    expect(await stage.heldFor(author)).toEqual([])
  })

  test('a deleted post leaves no entry when a back-fill read it before the deletion and writes after it', async () => {
    const { reader, author } = await scene()
    const posts = await stage.stored(author, 3)
    await stage.follow(reader, author)
    const [backfill] = (await stage.takeJobs()) as [Job]
    const held = deleteBefore('merge', author, posts[1] as PostId)
    await stage.run(backfill)
    expect(held).toHaveBeenCalled()
    expect(await stage.heldFor(reader)).toEqual([posts[0], posts[2]])
  })
})
