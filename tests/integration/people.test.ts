import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mutualsAmongMax } from '../../src/follows/mutuals.ts'
import { sampledFollowsMax, sampleMax, suggestionsMax } from '../../src/follows/suggestions.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import { persist } from '../support/eventually.ts'
import { examinedFor } from '../support/examined.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { PeopleModel } from '../support/people-model.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const runs = lawRuns(3)

describe.each(['collection', 'reverse-index'] as const)('following by %s', (following) => {
  const harness = useServices(following)
  const mint = new IdMint(Date.now)

  /** Stores follows in bulk, each newer than the one before. */
  async function storeFollows(pairs: readonly (readonly [UserId, UserId])[]): Promise<void> {
    const { edges, transactions } = harness.services
    for (let from = 0; from < pairs.length; from += 500) {
      const some = pairs.slice(from, from + 500).map(([follower, followee]) => {
        return { id: mint.next<EdgeId>(), follower, followee, source: 'IMPORT' as const }
      })
      await persist(() => transactions.run((tx) => edges.store(tx, some)))
    }
  }

  const mutualsOf = async (viewer: UserId, user: UserId) =>
    ((await harness.services.mutuals.load(viewer, [user])).get(user) ?? []).map(
      ({ followee }) => followee,
    )

  const suggestionsOf = async (viewer: UserId) =>
    (await harness.services.suggestions.load(viewer)).map(
      ({ user, commonCount }) => [user, commonCount] as const,
    )

  /** What each command of `work` examined, with its name. */
  async function examinedBy(name: string, work: () => Promise<unknown>) {
    const { commands } = await recorded(harness.database.client, work)
    const examined: { command: string; keys: number; docs: number }[] = []
    for (const sent of commands) {
      examined.push({ command: sent.name, ...(await examinedFor(harness.database.db, sent)) })
    }
    noteFact(`${following}: ${name}: ${examined.map(({ keys }) => keys).join(' + ')} keys`)
    return examined
  }

  test(
    'mutuals and suggestions equal a naive computation after any follows, mutes, blocks and deletions',
    async () => {
      let run = 0
      const kinds = ['follow', 'follow', 'follow', 'follow', 'unfollow'] as const
      const restrictions = ['mute', 'unmute', 'block', 'unblock', 'delete'] as const
      const person = fc.nat({ max: 8 })
      const step = fc.tuple(fc.constantFrom(...kinds, ...kinds, ...restrictions), person, person)
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 70 }), async (steps) => {
          const { users, follows, restrictions, mutuals, suggestions } = harness.services
          const people = Array.from({ length: 9 }, (_, n) => handle(`r${run}-${n}`))
          run++
          await openAccounts(harness.services, people)
          const model = new PeopleModel()
          const deleted = new Set<UserId>()
          for (const [kind, n, m] of steps) {
            const [one, other] = [people[n], people[m]] as [UserId, UserId]
            if (n === m || deleted.has(one) || deleted.has(other)) continue
            if (kind === 'follow') {
              if (model.hasBlock(one, other)) continue
              await follows.follow(one, other)
              model.follow(one, other)
            } else if (kind === 'delete') {
              if (deleted.size === 2) continue
              await users.delete(one)
              await harness.rest()
              deleted.add(one)
              model.remove(one)
            } else {
              await (kind === 'unfollow'
                ? follows.unfollow(one, other)
                : restrictions[kind](one, other))
              model[kind](one, other)
            }
          }
          for (const viewer of people) {
            const found = await mutuals.load(viewer, people)
            for (const user of people) {
              const common = (found.get(user) ?? []).map(({ followee }) => followee)
              expect([viewer, user, common]).toEqual([viewer, user, model.mutuals(viewer, user)])
            }
            const suggested = await suggestions.load(viewer)
            expect([viewer, suggested.map((one) => [one.user, one.commonCount])]).toEqual([
              viewer,
              model.suggestions(viewer),
            ])
          }
        }),
        { numRuns: runs, ...lawSeed() },
      )
    },
    patient(60_000 + runs * 20_000),
  )

  test('a deleted account is not suggested before its purge', async () => {
    const { users, follows } = harness.services
    const [ann, ben, cat, dan] = ['d-ann', 'd-ben', 'd-cat', 'd-dan'].map(handle) as UserId[]
    await openAccounts(harness.services, [ann, ben, cat, dan] as UserId[])
    await follows.follow(ann as UserId, ben as UserId)
    await follows.follow(ben as UserId, cat as UserId)
    await follows.follow(ben as UserId, dan as UserId)
    await users.delete(cat as UserId)
    expect(await suggestionsOf(ann as UserId)).toEqual([[dan, 1]])
    await harness.rest()
  })

  test('mutuals compare the newest 1,000 followees of the viewer with all followees of the users', async () => {
    const [viewer, user, celebrity] = ['m-viewer', 'm-user', 'm-celebrity'].map(handle) as [
      UserId,
      UserId,
      UserId,
    ]
    const people = Array.from({ length: 6_000 }, (_, n) => handle(`m${n}`))
    const own = people.slice(0, mutualsAmongMax + 50)
    await openAccounts(harness.services, people)
    await storeFollows([
      // The user follows five of the viewer's oldest followees, which are out of bounds, and five
      // others.
      ...[...own.slice(0, 5), ...own.slice(100, 105)].map((one) => [user, one] as const),
      ...people.map((one) => [celebrity, one] as const),
      ...own.map((one) => [viewer, one] as const),
    ])
    expect(await mutualsOf(viewer, user)).toEqual(own.slice(100, 105).reverse())
    expect(await mutualsOf(viewer, celebrity)).toEqual(own.slice(50).reverse())
    expect(await mutualsOf(celebrity, celebrity)).toHaveLength(mutualsAmongMax)
    expect(await mutualsOf(handle('m-lonely'), user)).toEqual([])
    expect(await mutualsOf(viewer, handle('m-lonely'))).toEqual([])

    const { mutuals } = harness.services
    const users = [user, celebrity, handle('m-lonely')]
    const [list, probe, live, ...more] = await examinedBy('mutuals', () =>
      mutuals.load(viewer, users),
    )
    expect(more).toEqual([])
    expect(live?.docs).toBe(0)
    expect(live?.keys).toBeLessThanOrEqual(2 * mutualsAmongMax)
    expect(list).toEqual({ command: 'find', keys: mutualsAmongMax + 1, docs: 0 })
    expect(probe?.docs).toBe(0)
    expect(probe?.keys).toBeLessThanOrEqual(users.length * (mutualsAmongMax + 1))
    const lonely = await examinedBy('mutuals of a viewer without followees', () =>
      mutuals.load(handle('m-lonely'), users),
    )
    expect(lonely).toEqual([{ command: 'find', keys: 1, docs: 0 }])
  })

  test('suggestions count the newest 100 followees, and an equal share of 10,000 follows', async () => {
    const model = new PeopleModel()
    const viewer = handle('s-viewer')
    const followees = Array.from({ length: sampleMax + 20 }, (_, n) => handle(`s-followee${n}`))
    const people = Array.from({ length: 400 }, (_, n) => handle(`s${n}`))
    await openAccounts(harness.services, people)
    const pairs = followees.flatMap((followee, n) => [
      [viewer, followee] as const,
      ...people
        .filter((_, m) => (n * 7 + m * m) % 400 < 130)
        .map((one) => [followee, one] as const),
    ])
    await storeFollows(pairs)
    for (const [one, other] of pairs) model.follow(one, other)
    const bounds = { sample: sampleMax, follows: sampledFollowsMax }
    const expected = model.suggestions(viewer, bounds)
    expect(expected).toHaveLength(suggestionsMax)
    expect(expected).not.toEqual(model.suggestions(viewer))
    expect(await suggestionsOf(viewer)).toEqual(expected)
    expect(await suggestionsOf(viewer)).toEqual(expected)

    const load = () => harness.services.suggestions.load(viewer)
    const [sample, ranking, ...checks] = await examinedBy('suggestions', load)
    expect(sample).toEqual({ command: 'find', keys: sampleMax + 1, docs: 0 })
    const read = followees
      .slice(-sampleMax)
      .map((one) => Math.min(sampledFollowsMax / sampleMax, model.followeesOf(one).length))
    const keys = read.reduce((sum, count) => sum + count, 0) + followees.length
    expect(keys).toBeGreaterThan(sampledFollowsMax)
    expect(ranking).toEqual({ command: 'aggregate', keys, docs: 0 })
    expect(checks.map(({ command, docs }) => [command, docs])).toEqual([
      ['find', 0],
      ['find', 0],
      ['find', 0],
    ])
    for (const check of checks) expect(check.keys).toBeLessThanOrEqual(2 * 400 + 1)
  })

  test('a celebrity with many followees costs the share of one followee', async () => {
    const [viewer, celebrity] = ['c-viewer', 'c-celebrity'].map(handle) as [UserId, UserId]
    const people = Array.from({ length: sampledFollowsMax + 2_000 }, (_, n) => handle(`c${n}`))
    await openAccounts(harness.services, people)
    await storeFollows([[viewer, celebrity], ...people.map((one) => [celebrity, one] as const)])
    const newest = people.slice(2_000).sort().slice(0, suggestionsMax)
    expect(await suggestionsOf(viewer)).toEqual(newest.map((one) => [one, 1]))
    const load = () => harness.services.suggestions.load(viewer)
    const [, ranking] = await examinedBy('suggestions by a celebrity', load)
    expect(ranking).toEqual({ command: 'aggregate', keys: sampledFollowsMax + 1, docs: 0 })

    // The oldest followees of the celebrity are beyond the follows that the ranking leaves out.
    const [old, ...others] = people as [UserId, ...UserId[]]
    const fresh = handle('c-fresh')
    await openAccounts(harness.services, [fresh])
    await storeFollows([
      [others.at(-1) as UserId, old],
      [others.at(-1) as UserId, fresh],
    ])
    expect(await suggestionsOf(celebrity)).toEqual([[fresh, 1]])
  })

  test('a viewer who follows no one has no suggestions, for one command', async () => {
    const load = () => harness.services.suggestions.load(handle('n-viewer'))
    expect(await load()).toEqual([])
    expect(await examinedBy('suggestions of a viewer without followees', load)).toEqual([
      { command: 'find', keys: 1, docs: 0 },
    ])
  })
})
