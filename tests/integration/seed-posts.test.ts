import { describe, expect, test } from 'vitest'
import { fromObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeOf } from '../../src/lib/ids.ts'
import { useImports } from '../support/imports.ts'
import { sampledFollowing } from '../support/repetition.ts'

describe.each(sampledFollowing(0))('%s', (following) => {
  const { database, graph, posts, expectExact } = useImports(following)

  test('seeding writes the requested number of posts, most by few users, all in the last 30 days', async () => {
    const at = Date.UTC(2026, 0, 31)
    await graph()
    expect(await posts({ now: () => at, batchSize: 250 })).toEqual({
      written: { posts: 600 },
      total: { posts: 600 },
    })
    await expectExact()
    const stored = await database.collections.posts.find().sort({ _id: 1 }).toArray()
    expect(stored).toHaveLength(600)
    expect(stored.every(({ text, facets }) => text.length > 0 && facets?.length === 0)).toBe(true)
    const times = stored.map(({ _id }) => timeOf(fromObjectId<PostId>(_id)).getTime())
    expect(Math.min(...times)).toBeGreaterThanOrEqual(at - 30 * 86_400_000)
    expect(Math.max(...times)).toBeLessThan(at)
    const stats = await database.collections.user_stats.find().sort({ posts: -1 }).toArray()
    const top = stats.slice(0, 6).reduce((sum, { posts }) => sum + posts, 0)
    expect(top / 600).toBeGreaterThan(0.4)
    expect(top / 600).toBeLessThan(0.7)
  })

  test('the same seed creates the same posts, and another seed creates others', async () => {
    const now = () => Date.UTC(2026, 0, 31)
    await graph()
    const made = async (seed: number) => {
      await posts({ now, seed })
      const { posts: stored, imports } = database.collections
      const found = await stored.find().sort({ _id: 1 }).toArray()
      await stored.deleteMany({})
      await imports.deleteMany({ kind: 'posts' })
      return found
    }
    const first = await made(1)
    expect(await made(1)).toEqual(first)
    expect((await made(2)).map(({ text }) => text)).not.toEqual(first.map(({ text }) => text))
  })
})
