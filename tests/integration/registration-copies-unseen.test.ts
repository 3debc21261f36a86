import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { copyIdOf } from '../../src/feed/registry/registration-copies.ts'
import type { Services } from '../../src/services.ts'
import { ann, ben, page, useCopiedRegistrations } from '../support/copied-registrations.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { commitCopiesLast } from '../support/participants.ts'

const { harness, process } = useCopiedRegistrations()
afterEach(() => {
  vi.restoreAllMocks()
})

describe('while the copies of a transaction are not visible yet', () => {
  const entries = () => harness.services.collections.inbox.countDocuments()
  /** A drop of INBOX whose copies are visible later. The other strategy that shares its entries is gone. */
  const dropHalf = async (mutate: (services: Services) => unknown = () => {}) => {
    await harness.services.registrations.drop('HYBRID')
    return commitCopiesLast(harness.database, async (services) => {
      // The transactions of the removal would wait too, because they read the copies.
      const write = services.copies.write.bind(services.copies)
      const written = vi.spyOn(services.copies, 'write').mockResolvedValue()
      written.mockImplementationOnce(write)
      await mutate(services)
      return services.registrations.drop('INBOX')
    })
  }

  test('a drop removes no entry, so pages of other processes have no gap', async () => {
    const services = process()
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf()
    await sleep(150)
    expect(await entries()).toBe(2)
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    await half.complete()
    expect(await entries()).toBe(0)
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'FANOUT_ON_READ' })
  })

  test('a drop that does not wait for them leaves a gap, so the test above can fail', async () => {
    const services = process()
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf(({ copies }) => {
      vi.spyOn(copies, 'awaitVisible').mockResolvedValue()
    })
    await expect.poll(entries).toBe(0)
    expect(await page(services, ben)).toEqual({ count: 0, servedBy: 'INBOX' })
    await half.complete()
  })

  test.each([true, false])('a back-fill that waits for them: %s', async (isWaiting) => {
    const { inbox } = harness.services.collections
    const half = await commitCopiesLast(harness.database, ({ registrations }) =>
      registrations.rebuild('INBOX'),
    )
    await inbox.deleteMany({})
    const wait = vi.spyOn(harness.services.copies, 'awaitVisibleInJob')
    if (!isWaiting) wait.mockResolvedValue()
    const rest = harness.rest()
    await sleep(250)
    if (isWaiting) expect(await entries()).toBe(0)
    else await expect.poll(entries).toBe(2)
    await half.complete()
    await rest
    wait.mockRestore()
    expect(await entries()).toBe(2)
  })

  test.each([true, false])(
    'a delivery goes by a drop that pages do not see yet, and waits for it: %s',
    async (isWaiting) => {
      const { services } = harness
      const reader = process()
      expect(await page(reader, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
      vi.spyOn(services.versions, 'isSharded').mockResolvedValue(true)
      const wait = vi.spyOn(services.copies, 'awaitShown')
      if (!isWaiting) wait.mockResolvedValue()
      const { id: post } = await services.posts.create(ann, { text: 'more' })
      // Without its copy, the delivery reads the registrations, which show the drop.
      const { registration_copies } = services.collections
      const half = await dropHalf(() => registration_copies.deleteOne({ _id: copyIdOf(ann) }))
      const delivered = services.tasks['post.created']?.({ author: ann, post }, joblessRun())
      if (isWaiting) expect(await Promise.race([delivered, sleep(250, 'waits')])).toBe('waits')
      else await delivered
      // The page is served from an older copy. Until the delivery ends, its post is pending.
      expect(await page(reader, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
      await half.complete()
      await delivered
      expect(await page(reader, ben)).toEqual({ count: 2, servedBy: 'FANOUT_ON_READ' })
    },
  )

  test('a demotion that goes by a drop waits for it too', async () => {
    const { services } = harness
    vi.spyOn(services.versions, 'isSharded').mockResolvedValue(true)
    vi.spyOn(services.celebrities, 'isChanging').mockResolvedValue(true)
    const complete = vi.spyOn(services.celebrities, 'completeDemotion').mockResolvedValue()
    const { registration_copies } = services.collections
    const half = await dropHalf(() => registration_copies.deleteOne({ _id: copyIdOf(ann) }))
    const payload = { author: ann, demotion: 'first' }
    const demoted = services.tasks['author.demoted']?.(payload, joblessRun())
    await sleep(250)
    expect(complete).not.toHaveBeenCalled()
    await half.complete()
    await demoted
    expect(complete).toHaveBeenCalledTimes(1)
  })

  test('registrations are shown only once no copy differs from them, and jobs wait until then', async () => {
    const { versions, copies, registry, registrations, collections } = harness.services
    vi.spyOn(versions, 'isSharded').mockResolvedValue(true)
    const reads = vi.spyOn(copies, 'findDifferences')
    const registered = await registry.read()
    const readsOf = async () => {
      reads.mockClear()
      const failure = await copies.awaitShown(registered).catch(String)
      return [reads.mock.calls.length, failure]
    }
    await collections.registration_copies.updateOne(
      { _id: copyIdOf(ben) },
      { $set: { registrations: [] } },
    )
    const differs = [1, 'Error: a copy of the registrations differs from them']
    expect([await readsOf(), await readsOf()]).toEqual([differs, differs])
    await registrations.restoreCopies()
    expect([await readsOf(), await readsOf()]).toEqual([
      [1, undefined],
      [0, undefined],
    ])
  })

  test('a delivery waits for a registration that was committed before its post', async () => {
    const { services } = harness
    await services.registrations.drop('INBOX')
    await services.registrations.drop('HYBRID')
    const half = await commitCopiesLast(harness.database, ({ registrations }) =>
      registrations.register('INBOX', {}),
    )
    await services.collections.outbox.deleteMany({ kind: 'strategy.backfill' })
    const { id } = await services.posts.create(ann, { text: 'later' })
    const rest = harness.rest()
    await sleep(150)
    expect(await entries()).toBe(0)
    await half.complete()
    await rest
    const stored = await services.collections.inbox.find().toArray()
    expect(stored.map(({ _id }) => [_id.reader, _id.post.toHexString()])).toEqual([
      ['ann', id],
      ['ben', id],
    ])
  })
})
