import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type PostId, type TimeId, type UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { storeEdges } from '../support/edges.ts'
import { type Examined, examinedFor } from '../support/examined.ts'
import { noteFact } from '../support/facts.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const limit = 20
const crowd = Array.from({ length: 400 }, (_, n) => handle(`u${n}`))
const [ann, ben] = [handle('ann'), handle('ben')]
const some = crowd.slice(0, 50)
const first: Window = { limit, backward: false }
const postsEach = 10

describe.each(['collection', 'reverse-index'] as const)('following by %s', (following) => {
  const harness = useServices(following)

  beforeAll(async () => {
    const { services, clock } = harness
    const { collections, edges } = services
    const mint = new IdMint(clock.now)
    await openAccounts(services, [ann, ben, ...crowd])
    const edge = (follower: UserId, followee: UserId) => {
      return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
    }
    for (const owner of [ann, ben]) {
      const all = crowd.flatMap((other) => [edge(owner, other), edge(other, owner)])
      await storeEdges(services, all)
    }
    const { collection, owner, other } = edges.following
    const grouped = { [owner]: ann, [other]: { $in: crowd.slice(0, 200) } }
    await collection.updateMany(grouped, { $set: { groups: ['close', 'work'] } })
    await collection.updateMany({ [owner]: ann }, { $addToSet: { groups: 'other' } })
    const id = () => toObjectId(mint.next<TimeId>())
    await collections.restrictions.insertMany(
      crowd.flatMap((other) => [
        { _id: id(), owner: ann, other, kind: 'MUTE' as const },
        { _id: id(), owner: ann, other, kind: 'BLOCKED_BY' as const },
      ]),
    )
    const authors = Array.from({ length: postsEach }, () => crowd).flat()
    await collections.posts.insertMany(
      authors.map((author) => ({ _id: toObjectId(mint.next<PostId>()), author, text: 'x' })),
    )
  })

  /** Explains the only command of `work`. */
  async function examinedBy(name: string, work: () => Promise<unknown>): Promise<Examined> {
    const { commands } = await recorded(harness.database.client, work)
    expect(commands.map((command) => command.name)).toEqual([
      expect.stringMatching(/find|aggregate/),
    ])
    const examined = await examinedFor(harness.database.db, commands[0] as RecordedCommand)
    noteFact(`${following}: ${name}: ${examined.keys} keys, ${examined.docs} documents`)
    return examined
  }

  test.each([1, 2])('lists of %i owners read one page of each from the index', async (count) => {
    const owners = [ann, ben].slice(0, count)
    const { follows } = harness.services
    const lists: Record<string, () => Promise<unknown>> = {
      followers: () => readPages(follows.followers(), owners, first),
      following: () => readPages(follows.following(), owners, first),
      'following backwards': () =>
        readPages(follows.following(), owners, { limit, backward: true }),
      'following in a group': () => readPages(follows.following('close'), owners, first),
    }
    for (const [name, list] of Object.entries(lists)) {
      const { keys, docs } = await examinedBy(`${name} of ${count}`, list)
      expect(docs, name).toBe(0)
      expect(keys, name).toBeGreaterThan(0)
      expect(keys, name).toBeLessThanOrEqual(count * (limit + 2))
    }
  })

  test.each([1, 2, 20])(
    'the posts of %i authors without content come from the index',
    async (count) => {
      const { posts } = harness.services
      const size = { limit: 5, backward: false }
      const { keys, docs } = await examinedBy(`posts of ${count}`, () =>
        readPages(posts.byAuthor(false), crowd.slice(0, count), size),
      )
      expect(docs).toBe(0)
      expect(keys).toBeGreaterThanOrEqual(count * 6)
      expect(keys).toBeLessThanOrEqual(count * 7)
    },
  )

  test('membership reads examine at most three keys for each name, for any number of edges', async () => {
    const { follows, restrictions, stats } = harness.services
    const questions: Record<string, () => Promise<unknown>> = {
      followeesAmong: () => follows.followeesAmong(ann, some),
      'followeesAmong a group': () => follows.followeesAmong(ann, some, 'close'),
      followersAmong: () => follows.followersAmong(ann, some),
      'restrictions between': () => restrictions.restrictionsFor(ann, some.slice(0, 25)),
      liveAmong: () => stats.liveAmong(some),
    }
    for (const [name, question] of Object.entries(questions)) {
      const { keys, docs } = await examinedBy(name, question)
      expect(docs, name).toBe(0)
      expect(keys, name).toBeGreaterThanOrEqual(some.length)
      expect(keys, name).toBeLessThanOrEqual(3 * some.length + 1)
    }
  })

  test('group names cost the edges in groups, for any number of edges without a group', async () => {
    const { follows } = harness.services
    const none = await examinedBy('groups of one without any', () => follows.groupsOf(ben))
    expect(none.docs).toBe(0)
    expect(none.keys).toBeLessThanOrEqual(1)
    const { collection, owner, other } = harness.services.edges.following
    const grouped = { [owner]: ben, [other]: { $in: crowd.slice(0, 5) } }
    await collection.updateMany(grouped, { $set: { groups: ['close', 'work'] } })
    const some = await examinedBy('groups of five edges', () => follows.groupsOf(ben))
    await collection.updateMany({ [owner]: ben }, { $unset: { groups: '' } })
    expect(some.docs).toBe(5)
    expect(some.keys).toBeLessThanOrEqual(11)
  })

  test('the list of mutes comes from the index', async () => {
    const { keys, docs } = await examinedBy('mutes', () =>
      readPages(harness.services.restrictions.list('MUTE'), [ann], first),
    )
    expect(docs).toBe(0)
    expect(keys).toBeGreaterThan(limit)
    expect(keys).toBeLessThanOrEqual(limit + 2)
  })

  test('FANOUT_ON_READ examines a page of keys and one key of each of 200 authors', async () => {
    const { posts } = harness.services
    for (const oldestFirst of [false, true]) {
      const { keys, docs } = await examinedBy(`posts by 200, oldestFirst ${oldestFirst}`, () =>
        posts.refsByAuthors(crowd.slice(0, 200), { limit: limit + 1, oldestFirst }),
      )
      expect(docs).toBe(0)
      expect(keys).toBeGreaterThan(limit)
      expect(keys).toBeLessThanOrEqual(200 + limit + 1)
    }
  })

  test('the followees of a reader come from the index alone, for FANOUT_ON_READ', async () => {
    for (const [group, count] of [
      [undefined, 400],
      ['close', 200],
    ] as const) {
      const { keys, docs } = await examinedBy(`followeesOf ${group ?? 'all'}`, () =>
        all(harness.services.follows.followeesOf(ann, group)),
      )
      expect(docs).toBe(0)
      expect(keys).toBeLessThanOrEqual(count + 1)
    }
  })
})

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}
