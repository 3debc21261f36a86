import { expect, test } from 'vitest'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', sameLimits({ threshold: 2, capacity: 3 }))
const [author, viewer] = ['author', 'viewer'].map(handle) as [UserId, UserId]
const fans = Array.from({ length: 14 }, (_, n) => handle(`fan${n}`))

test('the lists of several posts continue together past blocked users, in posts and in overflow', async () => {
  const { engagements, engagementReader, posts, restrictions, visibilityFor } = harness.services
  await openAccounts(harness.services, [author, viewer, ...fans])
  const refs: PostRef[] = []
  while (refs.length < 3) {
    refs.push({ author, id: (await posts.create(author, { text: 'hello' })).id })
  }
  /** The first post has all fans in order, the others fewer of them, in another order. */
  const likers = [fans, [...fans].reverse().slice(2), fans.filter((_, n) => n % 3 !== 1)]
  for (const [at, ref] of refs.entries()) {
    for (const fan of likers[at] as UserId[]) await engagements.add('likes', fan, ref)
  }
  const blocked = fans.filter((_, n) => n % 5 !== 0)
  for (const fan of blocked) await restrictions.block(viewer, fan)
  const visible = likers.map((all) => all.filter((fan) => !blocked.includes(fan)).reverse())

  for (const backward of [false, true]) {
    const window = { limit: 2, backward }
    const { result, commands } = await recorded(harness.database.client, () =>
      readPages(engagementReader.list('likes'), refs, window, visibilityFor(viewer)),
    )
    for (const [at, { id }] of refs.entries()) {
      const all = visible[at] as UserId[]
      const page = result.get(id)
      expect(page?.items.map(({ actor }) => actor)).toEqual(
        backward ? all.slice(-2) : all.slice(0, 2),
      )
      expect(await page?.hasNextPage()).toBe(!backward && all.length > 2)
      expect(await page?.hasPreviousPage()).toBe(backward && all.length > 2)
    }
    // Rounds of 3, 6 and 12 entries. Each round also reads the blocks.
    const reads = labelsOf(commands).filter((label) => /posts|overflow/.test(label))
    expect(reads.length).toBeLessThanOrEqual(backward ? 8 : 6)
  }
})
