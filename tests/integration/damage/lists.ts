import type { EngagementDoc } from '../../../src/db/collections.ts'
import { highestId, lowestId, toObjectId } from '../../../src/db/object-id.ts'
import { newId } from '../../support/verify.ts'
import type { Damage, Scene } from './row.ts'

const of = ({ post }: Scene) => ({ _id: toObjectId(post.id), author: post.author })
const levelOf = ({ post }: Scene, level: number) => ({
  _id: { post: toObjectId(post.id), kind: 'likes' as const, level },
})
const update = (scene: Scene, change: object | object[]) =>
  scene.services.collections.posts.updateOne(of(scene), change as never)
const updateLevel = (scene: Scene, level: number, change: object | object[]) =>
  scene.services.collections.overflow.updateOne(levelOf(scene, level), change as never)
const likes = (what: string) => (scene: Scene) => [`L2 ${what} ${scene.post.id}.likes`]
const order = 'pages that repeat or lack entries'

/** Damage to likes, comments and shares: three likes are in the post, two in each of two levels. */
export const listDamages: readonly Damage[] = [
  {
    name: 'a post counts too many likes',
    noticed: likes('counts'),
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => update(scene, { $inc: { 'counts.likes': 40 } }),
  },
  {
    name: 'a count of likes is a text',
    noticed: ({ post }) => [`L3 shape posts {"$oid":"${post.id}"}`],
    answer: 'repaired',
    clients: 'no likes counted',
    inject: (scene) => update(scene, { $set: { 'counts.likes': 'seven' } }),
  },
  {
    name: 'a post says it has more levels',
    noticed: likes('levels'),
    answer: 'repaired',
    clients: 'nothing',
    inject: (scene) => update(scene, { $inc: { 'levels.likes': 1 } }),
  },
  {
    name: 'a post has lost its number of levels',
    noticed: likes('levels'),
    answer: 'repaired',
    clients: 'likes beyond the post are neither found nor taken back',
    inject: (scene) => update(scene, { $unset: { 'levels.likes': '' } }),
  },
  {
    name: 'a post has lost its flag of overflow',
    noticed: ({ post }) => [`L2 has_overflow ${post.id}`],
    answer: 'repaired',
    clients: 'likes beyond the post are not shown as their own',
    inject: (scene) => update(scene, { $unset: { has_overflow: '' } }),
  },
  {
    name: 'a level counts too many entries',
    noticed: likes('level'),
    answer: 'repaired',
    clients: 'nothing',
    inject: (scene) => updateLevel(scene, 0, { $inc: { count: 3 } }),
  },
  {
    name: 'a level is empty',
    noticed: (scene) => [...likes('level')(scene), ...likes('levels')(scene)],
    answer: 'repaired',
    clients: 'nothing',
    inject: (scene) =>
      scene.services.collections.overflow.insertOne({
        ...levelOf(scene, 9),
        ...{ first: highestId, count: 0, items: [] },
      }),
  },
  {
    name: 'the likes in a post are in reverse order',
    noticed: likes('order'),
    answer: 'repaired',
    clients: order,
    inject: (scene) => update(scene, [{ $set: { likes: { $reverseArray: '$likes' } } }]),
  },
  {
    name: 'the likes in a level are in reverse order',
    noticed: likes('order'),
    answer: 'repaired',
    clients: order,
    inject: (scene) => updateLevel(scene, 1, [{ $set: { items: { $reverseArray: '$items' } } }]),
  },
  {
    name: 'the likes of two levels are exchanged',
    noticed: likes('order'),
    answer: 'repaired',
    clients: order,
    inject: async (scene) => {
      const { overflow } = scene.services.collections
      const [one, other] = [
        await overflow.findOne(levelOf(scene, 0)),
        await overflow.findOne(levelOf(scene, 1)),
      ]
      await updateLevel(scene, 0, { $set: { items: other?.items } })
      await updateLevel(scene, 1, { $set: { items: one?.items } })
    },
  },
  {
    name: 'a level begins below the likes before it',
    noticed: likes('order'),
    answer: 'repaired',
    clients: order,
    inject: (scene) => updateLevel(scene, 0, { $set: { first: lowestId } }),
  },
  {
    name: 'a post has lost the last place of a list',
    noticed: likes('order'),
    answer: 'repaired',
    clients: 'later likes out of order',
    inject: (scene) => update(scene, { $unset: { 'last.likes': '' } }),
  },
  {
    name: 'a user likes a post twice',
    noticed: ({ post }) => [`L2 twice ${post.id}.likes of fan0`],
    answer: 'repaired',
    how: 'the first like stays',
    clients: 'a user twice in the list',
    endsOtherwise: true,
    inject: async (scene) => {
      const again = { _id: newId(), actor: 'fan0' }
      const { _id: post, author } = of(scene)
      const row = { _id: again._id, user: 'fan0', kind: 'likes' as const, post, author }
      await scene.services.collections.engagements_by_user.insertOne(row)
      await updateLevel(scene, 1, { $push: { items: again }, $inc: { count: 1 } })
      await update(scene, { $inc: { 'counts.likes': 1 }, $set: { 'last.likes': again._id } })
    },
  },
  {
    name: 'a like is in its post twice',
    noticed: (scene) => [
      `L2 twice ${scene.post.id}.likes of fan0`,
      ...likes('counts')(scene),
      ...likes('order')(scene),
    ],
    answer: 'repaired',
    clients: 'a user twice in the list',
    inject: async (scene) => {
      const found = await scene.services.collections.posts.findOne(of(scene))
      await update(scene, { $push: { likes: found?.likes?.[0] as EngagementDoc } })
    },
  },
  {
    name: 'a like has no by-user entry',
    noticed: ({ post }) => [`L2 by-user ${post.id}.likes of fan1`],
    answer: 'repaired',
    clients: 'a like missing in the list of the user',
    inject: (scene) =>
      scene.services.collections.engagements_by_user.deleteOne({
        ...{ user: 'fan1', kind: 'likes', post: of(scene)._id },
      }),
  },
  {
    name: 'a by-user entry names another user',
    noticed: ({ post }) => [`L2 by-user ${post.id}.likes of fan5`],
    answer: 'repaired',
    clients: 'a like missing in the list of the user',
    inject: (scene) =>
      scene.services.collections.engagements_by_user.updateOne(
        { user: 'fan5', kind: 'likes', post: of(scene)._id },
        { $set: { user: 'fan6' } },
      ),
  },
  {
    name: 'a share of a user without an account has no by-user entry',
    noticed: ({ post }) => [`L2 by-user ${post.id}.shares of ghost`],
    answer: 'repaired',
    how: 'the share is removed',
    clients: 'a share by no one',
    endsOtherwise: true,
    inject: (scene) => {
      const entry = { _id: newId(), actor: 'ghost' }
      const counted = { $inc: { 'counts.shares': 1 }, $set: { 'last.shares': entry._id } }
      return update(scene, { $push: { shares: entry }, ...counted })
    },
  },
  {
    name: 'likes of a deleted post have no job that clears them',
    noticed: () => ['L2 remains'],
    answer: 'repaired',
    how: 'the job is added',
    clients: 'nothing',
    inject: ({ services, a }) => {
      const post = newId()
      return services.collections.overflow.insertOne({
        ...{ _id: { post, kind: 'likes' as const, level: 0 }, first: post, count: 1 },
        items: [{ _id: post, actor: a }],
      })
    },
  },
]
