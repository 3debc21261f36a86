import { lowestId, toObjectId } from '../../../src/db/object-id.ts'
import { storeOf } from '../../support/services.ts'
import { addJob } from '../../support/verify.ts'
import type { Damage, Scene } from './row.ts'

const idOf = ({ post }: Scene) => toObjectId(post.id)
const pull = (scene: Scene) => ({ $pull: { entries: { post: idOf(scene) } } })
const again = (scene: Scene) => ({ $push: { entries: { post: idOf(scene) } } })
const about = (what: string, strategy: string) => (scene: Scene) => [
  `L1 ${what} ${scene.a} ${strategy}`,
]
const inTimed = ({ a }: Scene) => ({ '_id.reader': a as string })
const lacks = 'a timeline without the post'

/**
 * Damage to stored timelines, strategies and jobs: the reader `a` follows `b`, whose post is in all
 * timelines.
 */
export const timelineDamages: readonly Damage[] = [
  {
    name: 'a period of TIME_BUCKETS lacks a post',
    noticed: about('missing', 'TIME_BUCKETS'),
    answer: 'repaired',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.timed_buckets.updateMany(inTimed(scene), pull(scene)),
  },
  {
    name: 'a bucket of SIZED_BUCKETS lacks a post',
    noticed: about('missing', 'SIZED_BUCKETS'),
    answer: 'repaired',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.sized_buckets.updateMany({ reader: scene.a }, pull(scene)),
  },
  {
    name: 'a CACHE lacks a post',
    noticed: about('missing', 'CACHE'),
    answer: 'repaired',
    how: 'the cache is made again',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.timeline_cache.updateOne({ _id: scene.a }, pull(scene)),
  },
  {
    name: 'an INBOX lacks a post',
    noticed: about('missing', 'INBOX'),
    answer: 'repaired',
    clients: lacks,
    inject: async ({ services, a, post }) =>
      (await storeOf(services, 'INBOX')).remove([a], [post.id]),
  },
  {
    name: 'all timelines of a reader are lost',
    noticed: (scene) =>
      ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS'].flatMap((name) => about('missing', name)(scene)),
    answer: 'repaired',
    clients: 'an empty timeline',
    inject: async ({ services, a }) => {
      for (const strategy of Object.values(services.strategies)) await strategy.deleteReader(a)
    },
  },
  {
    name: 'a period of TIME_BUCKETS holds a post twice',
    noticed: about('stored', 'TIME_BUCKETS'),
    answer: 'repaired',
    clients: 'the post once',
    inject: async (scene) => {
      const { timed_buckets } = scene.services.collections
      const [bucket] = await timed_buckets.find(inTimed(scene)).toArray()
      const entry = bucket?.entries[0]
      await timed_buckets.updateOne(
        { _id: bucket?._id as never },
        { $push: { entries: entry as never } },
      )
    },
  },
  {
    name: 'a post is in another period of TIME_BUCKETS',
    noticed: (scene) => ['stored', 'order'].flatMap((what) => about(what, 'TIME_BUCKETS')(scene)),
    answer: 'repaired',
    clients: 'the post twice',
    inject: (scene) =>
      scene.services.collections.timed_buckets.insertOne({
        ...{ _id: { reader: scene.a, period: 1 }, entries: [{ post: idOf(scene) }] },
      }),
  },
  {
    name: 'a bucket of SIZED_BUCKETS holds a post twice',
    noticed: about('stored', 'SIZED_BUCKETS'),
    answer: 'repaired',
    clients: 'the post once',
    inject: (scene) =>
      scene.services.collections.sized_buckets.updateOne({ reader: scene.a }, again(scene)),
  },
  {
    name: 'a bucket of SIZED_BUCKETS says it ends before its posts',
    noticed: about('stored', 'SIZED_BUCKETS'),
    answer: 'repaired',
    clients: 'pages that lack posts, read along a cursor',
    inject: (scene) =>
      scene.services.collections.sized_buckets.updateOne(
        { reader: scene.a },
        { $set: { newest: lowestId }, $unset: { open: '' } },
      ),
  },
  {
    name: 'an INBOX names another author',
    noticed: (scene) => ['stored', 'missing'].flatMap((what) => about(what, 'INBOX')(scene)),
    answer: 'repaired',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.inbox.updateMany(
        { _id: { reader: scene.a, post: idOf(scene) } },
        { $set: { author: scene.c } },
      ),
  },
  {
    name: 'a bucket of SIZED_BUCKETS names another author',
    noticed: (scene) =>
      ['stored', 'missing'].flatMap((what) => about(what, 'SIZED_BUCKETS')(scene)),
    answer: 'repaired',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.sized_buckets.updateOne(
        { reader: scene.a, 'entries.post': idOf(scene) },
        { $set: { 'entries.$.author': scene.c } },
      ),
  },
  {
    name: 'a period of TIME_BUCKETS has null instead of its entries',
    noticed: (scene) => [
      'L3 shape timed_buckets',
      ...['stored', 'missing'].flatMap((what) => about(what, 'TIME_BUCKETS')(scene)),
    ],
    answer: 'repaired',
    clients: lacks,
    inject: (scene) =>
      scene.services.collections.timed_buckets.updateMany(inTimed(scene), {
        $set: { entries: null as never },
      }),
  },
  {
    name: 'a CACHE is out of order',
    noticed: about('stored', 'CACHE'),
    answer: 'repaired',
    how: 'the cache is made again',
    clients: 'the posts in order, unless the cache is full',
    inject: (scene) =>
      scene.services.collections.timeline_cache.updateOne({ _id: scene.a }, [
        { $set: { entries: { $reverseArray: '$entries' } } },
      ]),
  },
  {
    name: 'a strategy is unfinished, and no job goes on',
    noticed: () => ['L1 backfill TIME_BUCKETS'],
    answer: 'repaired',
    how: 'the job is added',
    clients: 'pages from FANOUT_ON_READ, which cost more',
    inject: ({ services }) =>
      services.collections.strategies.updateOne(
        { _id: 'TIME_BUCKETS' },
        { $set: { complete: false, covered: 'zzz' } },
      ),
  },
  {
    name: 'a job is parked',
    noticed: () => ['L4 parked'],
    answer: 'reported',
    how: '`feedline jobs` retries or drops it',
    clients: 'what the job would have done is not done',
    inject: ({ services, a }) =>
      addJob(services, 'follow.created', { follower: a, followee: a }, 'PARKED'),
  },
]
