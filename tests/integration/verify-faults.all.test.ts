import { beforeAll, describe, expect, test } from 'vitest'
import type { EngagementDoc } from '../../src/db/collections.ts'
import { lowestId, toObjectId } from '../../src/db/object-id.ts'
import type { EngagementKind } from '../../src/engagement/kinds.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, openAccounts, storedNames, useServices } from '../support/services.ts'
import { activity, addJob, newId, verified } from '../support/verify.ts'

const names = ['ann', 'bob', 'cem', 'dan', 'eve', 'fay', 'gil', 'hal', 'ida'] as const

/** The damaged database, and the post of each user. */
interface Place {
  readonly services: Services
  readonly post: (author: string) => PostRef
}

/**
 * A change that bypasses the services, and its expected findings: kind, subject, expected, found.
 */
interface Fault {
  readonly name: string
  readonly only?: 'collection'
  readonly inject: (place: Place) => Promise<unknown>
  readonly expected: readonly (readonly [string, string, unknown, unknown])[]
}

const containing = (text: string) => expect.stringContaining(text) as unknown
const any = expect.anything() as unknown
const edge = 'no edge across a block'

const inGraph: readonly Fault[] = [
  {
    name: 'counters that count other than edges and posts',
    inject: async ({ services: { collections } }) => {
      const { user_stats } = collections
      await user_stats.updateOne({ _id: 'ann' }, { $inc: { followers: 1 } })
      await user_stats.updateOne({ _id: 'bob' }, { $set: { following: 0 } })
      await user_stats.updateOne({ _id: 'cem' }, { $set: { posts: -2 } })
    },
    expected: [
      ['L3 followers', 'ann', 7, 8],
      ['L3 following', 'bob', 8, 0],
      ['L3 posts', 'cem', 1, -2],
    ],
  },
  {
    name: 'counters without an account, and an account without counters',
    inject: async ({ services }) => {
      const { user_stats } = services.collections
      const zero = { followers: 0, following: 0, posts: 0 }
      await user_stats.insertOne({ _id: 'nobody', ...zero })
      await openAccounts(services, [handle('newcomer')])
      await user_stats.deleteOne({ _id: 'newcomer' })
    },
    expected: [
      ['L3 counters', 'nobody', 'none without a live account', 'counters'],
      ['L3 counters', 'newcomer', 'the counters of a live account', 'none'],
    ],
  },
  {
    name: 'an edge and a post of nobody',
    inject: async ({ services }) => {
      const { posts, user_stats } = services.collections
      await posts.insertOne({ _id: newId(), author: 'ghost', text: 'boo' })
      const ids = { follower: 'ida', followee: 'ghost' } as never
      await services.transactions.run((tx) =>
        services.edges.insert(tx, [
          { ...(ids as object), id: newId().toHexString(), source: 'IMPORT' } as never,
        ]),
      )
      await user_stats.updateOne({ _id: 'ida' }, { $inc: { following: 1 } })
    },
    expected: [['L3 no-account', 'ghost', 'nothing without an account', 'followers, posts']],
  },
  {
    name: 'a deleted account that nobody clears; one with a job is in flight',
    inject: async ({ services }) => {
      const gone = { createdAt: new Date(), deletedAt: new Date() }
      await services.collections.users.insertOne({
        _id: 'leaver',
        ...storedNames('leaver'),
        ...gone,
      })
      await services.collections.users.insertOne({
        _id: 'leaving',
        ...storedNames('leaving'),
        ...gone,
      })
      await addJob(services, 'user.deleted', { user: 'leaving' })
    },
    expected: [['L3 purge', 'leaver', 'a job that clears it', 'none']],
  },
  {
    name: 'edges of one side alone, or another one on the other side',
    only: 'collection',
    inject: async ({ services: { collections } }) => {
      const { followers, following, user_stats } = collections
      await following.deleteOne({ user: 'dan', followee: 'eve' })
      await user_stats.updateOne({ _id: 'dan' }, { $inc: { following: -1, followers: -1 } })
      await followers.deleteOne({ user: 'dan', follower: 'eve' })
      const other = { $set: { source: 'TWITTER' as const } }
      await following.updateOne({ user: 'fay', followee: 'dan' }, other)
    },
    expected: [
      ['L3 sides', 'dan>eve', 'in followers and in following', 'in followers alone'],
      ['L3 sides', 'eve>dan', 'in followers and in following', 'in following alone'],
      ['L3 sides', 'fay>dan', containing('FEEDLINE'), containing('TWITTER')],
    ],
  },
  {
    name: 'edges across a block, and a block that one side alone knows of',
    inject: async ({ services: { collections } }) => {
      const { restrictions } = collections
      await restrictions.insertMany([
        { _id: newId(), owner: 'gil', other: 'hal', kind: 'BLOCK' },
        { _id: newId(), owner: 'hal', other: 'gil', kind: 'BLOCKED_BY' },
      ])
      await restrictions.deleteOne({ owner: 'cem', other: 'ann', kind: 'BLOCKED_BY' })
    },
    expected: [
      ['L3 block', 'gil>hal', edge, 'an edge'],
      ['L3 block', 'hal>gil', edge, 'an edge'],
      ['L3 mirror', 'ann>cem', 'BLOCKED_BY on the other side', 'BLOCK alone'],
    ],
  },
  {
    name: 'a history that says otherwise',
    inject: async ({ services: { collections } }) => {
      const { follow_events } = collections
      await follow_events.deleteMany({ user: 'eve', followee: 'fay' })
      const event = (user: string, followee: string, type: 'FOLLOWED' | 'UNFOLLOWED') => ({
        _id: toObjectId('f'.repeat(24) as never),
        ...{ user, followee, type, source: 'FEEDLINE' as const, at: new Date() },
      })
      await follow_events.insertOne({ ...event('fay', 'eve', 'FOLLOWED') })
      const last = toObjectId(`${'f'.repeat(23)}e` as never)
      await follow_events.insertOne({ ...event('gil', 'fay', 'UNFOLLOWED'), _id: last })
    },
    expected: [
      ['L3 history', 'eve>fay', 'FOLLOWED last', 'none'],
      ['L3 history', 'gil>fay', 'FOLLOWED last', 'UNFOLLOWED'],
      ['L3 history-repeat', 'fay>eve', any, '1 repeated'],
    ],
  },
]

const of = (post: PostRef) => ({ _id: toObjectId(post.id), author: post.author })
const level = (post: PostRef, kind: EngagementKind, number: number) => ({
  _id: { post: toObjectId(post.id), kind, level: number },
})

/**
 * Each list has ten entries: three in the post and seven in four levels, minus one of a deleted
 * user.
 */
const inLists: readonly Fault[] = [
  {
    name: 'counts, levels and a flag that do not fit what is stored',
    inject: async ({ services: { collections }, post }) => {
      const { posts } = collections
      await posts.updateOne(of(post('ann')), { $inc: { 'counts.likes': 1, 'levels.comments': 1 } })
      await posts.updateOne(of(post('cem')), { $unset: { has_overflow: '' } })
    },
    expected: [
      ['L2 counts', 'ann.likes', 9, 10],
      ['L2 levels', 'ann.comments', 3, 4],
      ['L2 has_overflow', 'cem', 'true', 'false'],
    ],
  },
  {
    name: 'a level that counts wrong, and one that is empty',
    inject: async ({ services: { collections }, post }) => {
      const { posts, overflow } = collections
      await overflow.updateOne(level(post('dan'), 'likes', 0), { $inc: { count: 1 } })
      const emptied = { $set: { items: [], count: 0 } }
      await overflow.updateOne(level(post('dan'), 'comments', 1), emptied)
      await posts.updateOne(of(post('dan')), { $inc: { 'counts.comments': -2 } })
    },
    expected: [
      ['L2 level', 'dan.likes', '2 entries in level 0', 'it counts 3'],
      ['L2 level', 'dan.comments', any, 'level 1 has none'],
    ],
  },
  {
    name: 'places out of order, in the post, in a level, between them, and after the last',
    inject: async ({ services: { collections }, post }) => {
      const { posts, overflow } = collections
      await posts.updateOne(of(post('eve')), [{ $set: { likes: { $reverseArray: '$likes' } } }])
      const [from] = await overflow.find(level(post('fay'), 'likes', 1)).toArray()
      const later = { $set: { first: from?.items[1]?._id as never } }
      await overflow.updateOne(level(post('fay'), 'likes', 1), later)
      await posts.updateOne(of(post('gil')), { $unset: { 'last.likes': '' } })
      const lowest = { $set: { first: lowestId } }
      await overflow.updateOne(level(post('eve'), 'shares', 0), lowest)
    },
    expected: [
      ['L2 order', 'eve.likes', 'places that rise', any],
      ['L2 order', 'fay.likes', containing('level 1 from'), any],
      ['L2 order', 'gil.likes', 'no place above none', any],
      ['L2 order', 'eve.shares', containing('below 000'), containing('the post holds')],
    ],
  },
  {
    name: 'somebody who likes a post twice, and one who shares it twice',
    inject: async ({ services: { collections }, post }) => {
      const { posts, overflow, engagements_by_user } = collections
      const hal = post('hal')
      const [first] = (await posts.findOne(of(hal)))?.likes ?? []
      const again = { ...(first as EngagementDoc), _id: toObjectId(`${'f'.repeat(23)}d` as never) }
      const about = { kind: 'likes' as const, post: toObjectId(hal.id), author: hal.author }
      await engagements_by_user.insertOne({ _id: again._id, user: again.actor, ...about })
      const last = level(hal, 'likes', 2)
      await overflow.updateOne(last, { $push: { items: again }, $inc: { count: 1 } })
      const counted = { $inc: { 'counts.likes': 1 }, $set: { 'last.likes': again._id } }
      await posts.updateOne(of(hal), counted)
      await posts.updateOne(of(hal), { $set: { 'shares.1.actor': 'ann' } })
    },
    expected: [
      ['L2 twice', 'hal.likes of ann', 1, 2],
      ['L2 twice', 'hal.shares of ann', 1, 2],
      ['L2 by-user', 'hal.shares of ann', 'a by-user entry', 'none'],
    ],
  },
  {
    name: 'entries without a by-user entry',
    inject: async ({ services: { collections }, post }) => {
      const about = { kind: 'comments' as const, post: toObjectId(post('ida').id) }
      await collections.engagements_by_user.deleteMany({ ...about, user: { $in: ['ann', 'ida'] } })
    },
    expected: [
      ['L2 by-user', 'ida.comments of ann', 'a by-user entry', 'none'],
      ['L2 by-user', 'ida.comments of ida', 'a by-user entry', 'none'],
    ],
  },
  {
    name: 'what a deleted post left that nobody clears; with a job it is in flight',
    inject: async ({ services }) => {
      const left = (post: ReturnType<typeof newId>) => ({
        ...{ _id: { post, kind: 'likes' as const, level: 0 }, first: post, count: 1 },
        items: [{ _id: post, actor: 'ann' }],
      })
      const [one, other] = [newId(), newId()]
      await services.collections.overflow.insertMany([left(one), left(other)])
      await addJob(services, 'engagements.orphaned', { post: other.toHexString() })
    },
    expected: [['L2 remains', 'unknown', any, 'overflow without a post']],
  },
]

/** The table of damages covers the same faults, without the texts of their findings. */
describe.each(sampledFollowing(1))('behind the back of %s', (following) => {
  const harness = useServices(following)
  const faults = [...inGraph, ...inLists].filter(({ only = following }) => only === following)
  const found: (readonly [string, string, unknown, unknown])[] = []
  let inFlight = 0

  beforeAll(async () => {
    const post = await activity(harness, [...names])
    for (const { inject } of faults) await inject({ services: harness.services, post })
    const { differences, report } = await verified(harness.services)
    const authors = new Map(names.map((name) => [post(name).id as string, name]))
    const named = (text: string) =>
      text
        .replace(/^[0-9a-f]{24}/, (id) => authors.get(id) ?? 'unknown')
        .replace(/ [0-9a-f]{24} of/, ' of')
    for (const { law, kind, subject, expected, found: there } of differences) {
      found.push([`${law} ${kind}`, named(subject), expected, there])
    }
    inFlight = report.inFlight
  })

  test.each(faults.map((fault) => [fault.name, fault] as const))(
    'verify reports %s',
    (_, { expected }) => {
      for (const one of expected) expect(found).toContainEqual(one)
    },
  )

  test('verify reports nothing else, and counts findings in flight', () => {
    const subjects = (all: typeof found) =>
      all.map(([kind, subject]) => `${kind} ${subject}`).sort()
    expect(subjects(found)).toEqual(subjects(faults.flatMap(({ expected }) => [...expected])))
    expect(inFlight).toBe(2)
  })
})
