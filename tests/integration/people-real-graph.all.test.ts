import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findGraphFile } from '../../bench/feeds/graph.ts'
import { importGraph } from '../../packages/import/import-graph.ts'
import { sampledFollowsMax, sampleMax } from '../../src/follows/suggestions.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { noteFact } from '../support/facts.ts'
import { PeopleModel } from '../support/people-model.ts'
import { sampledFollowing, share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'
import { useServices } from '../support/services.ts'

/**
 * FEEDLINE_GRAPH names an edge list. Default: Reed98 if its file is found, or 400 synthetic users.
 */
const given = process.env.FEEDLINE_GRAPH ?? findGraphFile('socfb-reed98.edges')

describe.each(sampledFollowing(0))('following by %s', (following) => {
  const harness = useServices(following)
  const model = new PeopleModel()
  let folder: string
  let users: readonly UserId[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-people-'))
    const file = given ?? join(folder, 'friends.edges')
    if (!given) await writeFile(file, syntheticFriendships(400, 12_000))
    await importGraph(harness.services, { file, mutual: true })
    const stored = await harness.services.collections.followers.find().sort({ _id: 1 }).toArray()
    for (const { follower, user } of stored) model.follow(follower as UserId, user as UserId)
    users = [...new Set(stored.map(({ user }) => user as UserId))].sort()
  })

  afterAll(() => rm(folder, { recursive: true }))

  test(
    'the followees in common on a real graph equal a plain intersection',
    async () => {
      const viewers = share(20, users)
      for (const viewer of viewers) {
        const found = await harness.services.mutuals.load(viewer, users)
        for (const user of users) {
          const common = (found.get(user) ?? []).map(({ followee }) => followee)
          expect([viewer, user, common]).toEqual([viewer, user, model.mutuals(viewer, user)])
        }
      }
      noteFact(`mutuals of ${viewers.length} viewers with ${users.length} users agree`)
    },
    timeOfCases(120_000),
  )

  test(
    'suggestions on a real graph equal a plain count within the bounds, and the count of the newest follows beyond',
    async () => {
      const bounds = { sample: sampleMax, follows: sampledFollowsMax }
      let [within, best] = [0, 0]
      const viewers = share(10, users)
      for (const viewer of viewers) {
        const suggestions = await harness.services.suggestions.load(viewer)
        const found = suggestions.map(({ user, commonCount }) => [user, commonCount] as const)
        expect([viewer, found]).toEqual([viewer, model.suggestions(viewer, bounds)])
        const plain = model.suggestions(viewer)
        if (isWithin(model, viewer)) {
          within++
          expect([viewer, found]).toEqual([viewer, plain])
        }
        const best20 = new Set(plain.slice(0, 20).map(([user]) => user))
        const common = found.slice(0, 20).filter(([user]) => best20.has(user))
        best += best20.size === 0 ? 1 : common.length / best20.size
      }
      expect(within).toBeGreaterThan(0)
      noteFact(
        `suggestions of ${viewers.length} viewers agree, ${within} within the bounds; all have ${((best / viewers.length) * 100).toFixed(0)} % of the best 20`,
      )
    },
    timeOfCases(120_000),
  )
})

/** Whether all follows that decide a viewer's suggestions are read. */
function isWithin(model: PeopleModel, viewer: UserId): boolean {
  const followees = model.followeesOf(viewer)
  const most = Math.floor(sampledFollowsMax / followees.length)
  return (
    followees.length <= sampleMax && followees.every((one) => model.followeesOf(one).length <= most)
  )
}

/**
 * A ring of friends, and more friendships from a fixed sequence. Low numbers have the most friends.
 */
function syntheticFriendships(people: number, count: number): string {
  const lines = new Set<string>()
  for (let n = 0; n < people; n++) lines.add(`${n} ${(n + 1) % people}`)
  for (let n = 1; n < count * 4 && lines.size < count; n++) {
    const [one, other] = [
      (n * n * 7919) % people,
      Math.floor(((n * 104_729) % people) ** 2 / people),
    ]
    if (one !== other && !lines.has(`${other} ${one}`)) lines.add(`${one} ${other}`)
  }
  return [...lines].join('\n')
}
