import { describe, expect, test } from 'vitest'
import { countEdges, countUsers } from '../../packages/capacity/degrees.ts'
import { sampleDegrees } from '../../packages/capacity/sample-degrees.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint } from '../../src/lib/ids.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()

/** User n has 2,000 / (n + 1) followers, and each follows the same number. */
const userCount = 2_000
const followersOf = (user: number) => Math.floor(userCount / (user + 1))
const nameOf = (user: number) => `u${user}`

async function storeGraph(): Promise<number> {
  const mint = new IdMint(Date.now)
  const edges = Array.from({ length: userCount }, (_, user) =>
    Array.from({ length: followersOf(user) }, (_, n) => ({
      _id: toObjectId(mint.next<EdgeId>()),
      user: nameOf(user),
      follower: nameOf((user + n) % userCount),
      source: 'FEEDLINE' as const,
    })),
  ).flat()
  const { followers, user_stats } = database.collections
  await followers.insertMany(edges)
  await user_stats.insertMany(
    Array.from({ length: userCount }, (_, user) => ({
      ...{ _id: nameOf(user), followers: followersOf(user), following: 8, posts: 0 },
    })),
  )
  return edges.length
}

describe('the graph of a database', () => {
  test('feedline capacity reads it, and a sample has its edges, its users and its most followed user', async () => {
    const edges = await storeGraph()
    const { followers, followees } = await sampleDegrees(database.collections, 1_000)
    expect(countEdges(followers) / edges).toBeCloseTo(1, 6)
    expect(countUsers(followers) / userCount).toBeGreaterThan(0.7)
    expect(countUsers(followers) / userCount).toBeLessThan(1.3)
    expect(followers[0]).toMatchObject({ degree: userCount })
    // An eighth of the edges leads to the user.
    expect(followers[0]?.users).toBeGreaterThan(0.5)
    expect(followers[0]?.users).toBeLessThan(1.5)
    expect(followees).toEqual([{ users: userCount, degree: 8 }])

    const all = await sampleDegrees(database.collections)
    expect([countUsers(all.followers), countEdges(all.followers)]).toEqual([userCount, edges])

    const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
    const rates = ['--posts-per-second', '10', '--reads-per-second', '1e2']
    const { code, stdout, stderr } = await runCommand(
      ['capacity', '--from-database', ...rates, '--json'],
      env,
    )
    expect(stderr).toBe('')
    const { strategies } = JSON.parse(stdout)
    const inbox = strategies.find((plan: { strategy: string }) => plan.strategy === 'INBOX')
    expect(code).toBe(0)
    expect(inbox.deliveriesPerSecond).toBeCloseTo((10 * edges) / userCount, 6)
  })
})
