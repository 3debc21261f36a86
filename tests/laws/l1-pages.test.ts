import { describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { storeEdges } from '../support/edges.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

describe('timeline pages of FANOUT_ON_READ', () => {
  const harness = useServices()
  let scenes = 0

  /** Opens accounts with these names, under a new prefix. */
  async function people<Name extends string>(...names: Name[]) {
    const scene = `s${scenes++}-`
    const ids = names.map((name) => handle(scene + name))
    await openAccounts(harness.services, ids)
    return Object.fromEntries(names.map((name, n) => [name, ids[n]])) as Record<Name, UserId>
  }

  async function posts(author: UserId, count: number): Promise<PostId[]> {
    const ids: PostId[] = []
    while (ids.length < count) {
      ids.unshift((await harness.services.posts.create(author, { text: `${ids.length}` })).id)
    }
    return ids
  }

  async function read(reader: UserId, limit: number, after?: PostId, group?: string) {
    const request = {
      window: { limit, backward: false, after },
      projection: 'content',
      group,
    } as const
    return (await harness.services.feed.timeline(reader, request)).items.map(({ post }) => post.id)
  }

  test('a walk through a timeline has no gap and no repeat while new posts arrive', async () => {
    const { reader, author } = await people('reader', 'author')
    await harness.services.follows.follow(reader, author)
    const old = await posts(author, 9)
    const walked: PostId[] = []
    for (let page = await read(reader, 2); page.length > 0; ) {
      walked.push(...page)
      await posts(author, 3)
      page = await read(reader, 2, walked.at(-1))
    }
    expect(walked).toEqual(old)
  })

  test('a timeline cursor stays valid after its post is deleted', async () => {
    const { reader } = await people('reader')
    const ids = await posts(reader, 5)
    const [, second] = await read(reader, 2)
    await harness.services.posts.delete(reader, { id: second as PostId, author: reader })
    expect(await read(reader, 5, second)).toEqual(ids.slice(2))
  })

  test('the posts of 450 followees, more than two queries hold, merge in one order', async () => {
    const names = Array.from({ length: 450 }, (_, n) => `u${n}`)
    const { reader } = await people('reader')
    const authors = Object.values(await people(...names)) as UserId[]
    const { collections } = harness.services
    const made = authors.map((followee, n) => ({
      id: timeIdAt<EdgeId>(1e12, n.toString(16).padStart(12, '0')),
      follower: reader,
      followee,
      source: 'IMPORT' as const,
    }))
    await storeEdges(harness.services, made)
    // Posts that are neighbours in time are by followees that are far apart.
    const docs = authors.flatMap((author, n) =>
      [0, 1].map((k) => {
        const at = 1.1e12 + k * 1000 + ((n * 197) % 450)
        return { _id: toObjectId(timeIdAt<PostId>(at, '0'.repeat(12))), author, text: 'x' }
      }),
    )
    await collections.posts.insertMany(docs)
    const all = docs
      .map(({ _id }) => _id.toHexString())
      .sort()
      .reverse()
    const walked: PostId[] = []
    for (let page = await read(reader, 100); page.length > 0; ) {
      walked.push(...page)
      page = await read(reader, 100, walked.at(-1))
    }
    expect(walked).toEqual(all)
  })

  test('a page is full although a muted author posts more than all others', async () => {
    const { reader, loud, quiet } = await people('reader', 'loud', 'quiet')
    for (const author of [loud, quiet]) await harness.services.follows.follow(reader, author)
    const wanted = await posts(quiet, 3)
    await posts(loud, 60)
    await harness.services.restrictions.mute(reader, loud)
    expect(await read(reader, 3)).toEqual(wanted)
  })

  test('a deleted user’s posts are hidden on the next timeline read, before any purge', async () => {
    const { reader, author } = await people('reader', 'author')
    await harness.services.follows.follow(reader, author)
    const [id] = await posts(author, 1)
    expect(await read(reader, 5)).toEqual([id])
    await harness.services.users.delete(author)
    expect(await read(reader, 5)).toEqual([])
    expect(await harness.services.collections.posts.countDocuments({ author })).toBe(1)
    await harness.rest()
    expect(await harness.services.collections.posts.countDocuments({ author })).toBe(0)
  })

  test('a group’s timeline shows exactly the posts of its members', async () => {
    const { reader, inside, outside } = await people('reader', 'inside', 'outside')
    for (const author of [inside, outside]) await harness.services.follows.follow(reader, author)
    await harness.services.follows.setGroups(reader, inside, ['close'])
    const wanted = await posts(inside, 2)
    for (const author of [outside, reader]) await posts(author, 2)
    expect(await read(reader, 5, undefined, 'close')).toEqual(wanted)
    expect(await read(reader, 5, undefined, 'work')).toEqual([])
  })
})
