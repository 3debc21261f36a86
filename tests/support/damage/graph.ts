import { addJob, newId } from '../verify.ts'
import type { Damage, Scene } from './row.ts'

const source = 'FEEDLINE' as const
const count = ({ services }: Scene, _id: string, change: Record<string, number>) =>
  services.collections.user_stats.updateOne({ _id }, { $inc: change })
const event = (user: string, followee: string, type: 'FOLLOWED' | 'UNFOLLOWED', _id = newId()) => ({
  ...{ _id, user, followee, type, source, at: new Date() },
})
const zero = { followers: 0, following: 0, posts: 0 }
const deleted = { $set: { deletedAt: new Date() } }
const partly = 'the follow in one direction: in the list of one of the two'

/** Damage to accounts, counters, edges, history and blocks. */
export const graphDamages: readonly Damage[] = [
  {
    name: 'a counter of followers is too high',
    noticed: ({ b }) => [`L3 followers ${b}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => count(scene, scene.b, { followers: 7 }),
  },
  {
    name: 'a counter of followees is too low',
    noticed: ({ a }) => [`L3 following ${a}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => count(scene, scene.a, { following: -1 }),
  },
  {
    name: 'a counter of posts is negative',
    noticed: ({ c }) => [`L3 posts ${c}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => count(scene, scene.c, { posts: -3 }),
  },
  {
    name: 'an edge is lost in `following`',
    only: 'collection',
    noticed: ({ a, b }) => [`L3 sides ${a}>${b}`, `L3 following ${a}`],
    answer: 'repaired',
    clients: partly,
    inject: ({ services, a, b }) =>
      services.collections.following.deleteOne({ user: a, followee: b }),
  },
  {
    name: 'an edge is lost in `followers`',
    only: 'collection',
    noticed: ({ a, b }) => [`L3 sides ${a}>${b}`, `L3 followers ${b}`],
    answer: 'repaired',
    clients: `${partly}; follows of the pair fail`,
    inject: ({ services, a, b }) =>
      services.collections.followers.deleteOne({ user: b, follower: a }),
  },
  {
    name: 'an edge has another source in `following`',
    only: 'collection',
    noticed: ({ a, b }) => [`L3 sides ${a}>${b}`],
    answer: 'repaired',
    how: 'the edge that the history confirms stays',
    clients: 'a source that depends on the list',
    inject: ({ services, a, b }) =>
      services.collections.following.updateOne(
        { user: a, followee: b },
        { $set: { source: 'TWITTER' } },
      ),
  },
  {
    name: 'an edge has another id in `following`',
    only: 'collection',
    noticed: ({ a, b }) => [`L3 sides ${a}>${b}`],
    answer: 'repaired',
    how: 'the edge that the history confirms stays',
    clients: 'a time that depends on the list',
    inject: async ({ services, a, b }) => {
      const { following } = services.collections
      await following.deleteOne({ user: a, followee: b })
      await following.insertOne({ _id: newId(), user: a, followee: b, source })
    },
  },
  {
    name: 'an edge that has ended is in `followers`',
    only: 'collection',
    noticed: ({ c, b }) => [`L3 sides ${c}>${b}`, `L3 followers ${b}`],
    answer: 'repaired',
    clients: `${partly}`,
    inject: async ({ services, b, c }) => {
      const { followers, follow_events } = services.collections
      await follow_events.insertMany([event(c, b, 'FOLLOWED'), event(c, b, 'UNFOLLOWED')])
      await followers.insertOne({ _id: newId(), user: b, follower: c, source })
    },
    endsOtherwise: true,
  },
  {
    name: 'an edge that has ended is in `following`',
    only: 'collection',
    noticed: ({ c, b }) => [`L3 sides ${c}>${b}`, `L3 following ${c}`],
    answer: 'repaired',
    clients: `${partly}; follows of the pair fail`,
    inject: async ({ services, b, c }) => {
      const { following, follow_events } = services.collections
      await follow_events.insertMany([event(c, b, 'FOLLOWED'), event(c, b, 'UNFOLLOWED')])
      await following.insertOne({ _id: newId(), user: c, followee: b, source })
    },
    endsOtherwise: true,
  },
  {
    name: 'an edge is in one collection and has no history',
    only: 'collection',
    noticed: ({ c, b }) => [`L3 sides ${c}>${b}`],
    answer: 'reported',
    how: 'nothing says which collection is right',
    clients: partly,
    inject: async (scene) => {
      const { b, c } = scene
      await scene.services.collections.followers.insertOne({
        ...{ _id: newId(), user: b, follower: c, source },
      })
      await count(scene, b, { followers: 1 })
    },
  },
  {
    name: 'an edge is lost in both collections, with its counts',
    noticed: ({ a, b }) => [`L3 history ${a}>${b}`],
    answer: 'reported',
    how: 'both collections agree, so the history may be wrong',
    clients: 'no follow',
    inject: async (scene) => {
      const { services, a, b } = scene
      await services.collections.followers.deleteOne({ user: b, follower: a })
      await services.collections.following.deleteOne({ user: a, followee: b })
      await count(scene, a, { following: -1 })
      await count(scene, b, { followers: -1 })
    },
  },
  {
    name: 'the history says that a standing edge has ended',
    noticed: ({ a, b }) => [`L3 history ${a}>${b}`],
    answer: 'reported',
    how: 'both collections agree, so the history may be wrong',
    clients: 'the follow',
    inject: ({ services, a, b }) =>
      services.collections.follow_events.insertOne(event(a, b, 'UNFOLLOWED')),
  },
  {
    name: 'the history of a standing edge is lost',
    noticed: ({ a, b }) => [`L3 history ${a}>${b}`],
    answer: 'repaired',
    how: 'the history gets its FOLLOWED',
    clients: 'the follow',
    endsOtherwise: true,
    inject: ({ services, a, b }) =>
      services.collections.follow_events.deleteMany({ user: a, followee: b }),
  },
  {
    name: 'follow and unfollow are in reverse order',
    noticed: ({ c, b }) => [`L3 history ${c}>${b}`, `L3 history-repeat ${c}>${b}`],
    answer: 'reported',
    how: 'clocks may have differed; the edge stays as both collections have it',
    clients: 'what the user did last',
    inject: ({ services, b, c }) =>
      services.collections.follow_events.insertMany([
        event(c, b, 'UNFOLLOWED'),
        event(c, b, 'FOLLOWED'),
      ]),
  },
  {
    name: 'the history says FOLLOWED twice',
    noticed: ({ a, b }) => [`L3 history-repeat ${a}>${b}`],
    answer: 'repaired',
    clients: 'the follow',
    inject: ({ services, a, b }) =>
      services.collections.follow_events.insertOne(event(a, b, 'FOLLOWED')),
  },
  {
    name: 'an edge crosses a block',
    noticed: ({ a, b }) => [`L3 block ${a}>${b}`],
    answer: 'repaired',
    how: 'the edge ends, as the block would have ended it',
    clients: 'a follower whose posts and pages are hidden',
    endsOtherwise: true,
    inject: ({ services, a, b }) =>
      services.collections.restrictions.insertMany([
        { _id: newId(), owner: b, other: a, kind: 'BLOCK' },
        { _id: newId(), owner: a, other: b, kind: 'BLOCKED_BY' },
      ]),
  },
  {
    name: 'a block lacks its mirror',
    noticed: ({ c, b }) => [`L3 mirror ${c}>${b}`],
    answer: 'repaired',
    how: 'the mirror is added',
    clients: 'a block in one direction',
    endsOtherwise: true,
    inject: ({ services, b, c }) =>
      services.collections.restrictions.insertOne({
        ...{ _id: newId(), owner: c, other: b, kind: 'BLOCK' },
      }),
  },
  {
    name: 'the mirror of a block is alone',
    noticed: ({ c, b }) => [`L3 mirror ${c}>${b}`],
    answer: 'repaired',
    how: 'the mirror is removed: its owner blocked no one',
    clients: 'a block that no one can lift',
    inject: ({ services, b, c }) =>
      services.collections.restrictions.insertOne({
        ...{ _id: newId(), owner: c, other: b, kind: 'BLOCKED_BY' },
      }),
  },
  {
    name: 'an account has no counters',
    noticed: ({ a }) => [`L3 counters ${a}`],
    answer: 'repaired',
    clients: 'no account: it cannot act, and its posts are hidden',
    inject: ({ services, a }) => services.collections.user_stats.deleteOne({ _id: a }),
  },
  {
    name: 'counters have no account, and nothing else is stored',
    noticed: ({ x }) => [`L3 counters ${x}`],
    answer: 'repaired',
    how: 'the counters are removed',
    clients: 'a user who can be followed and has no profile',
    inject: ({ services, x }) => services.collections.user_stats.insertOne({ _id: x, ...zero }),
  },
  {
    name: 'the document of an account is lost',
    noticed: ({ a }) => [`L3 counters ${a}`, `L3 nobody ${a}`],
    answer: 'reported',
    how: 'the profile is in a backup only; edges and posts are kept for it',
    clients: 'no profile',
    inject: ({ services, a }) => services.collections.users.deleteOne({ _id: a }),
  },
  {
    name: 'an account and its counters are lost, its edges are not',
    noticed: ({ a }) => [`L3 nobody ${a}`],
    answer: 'repaired',
    how: 'cleared like a deleted account',
    clients: 'a follower without a profile',
    endsOtherwise: true,
    inject: async ({ services, a }) => {
      await services.collections.users.deleteOne({ _id: a })
      await services.collections.user_stats.deleteOne({ _id: a })
    },
  },
  {
    name: 'a post has no author',
    noticed: ({ x }) => [`L3 nobody ${x}`],
    answer: 'repaired',
    how: 'cleared like a deleted account',
    clients: 'nothing',
    inject: ({ services, x }) =>
      services.collections.posts.insertOne({ _id: newId(), author: x, text: 'boo' }),
  },
  {
    name: 'an edge in one collection leads to no account',
    only: 'collection',
    noticed: ({ a, x }) => [`L3 sides ${a}>${x}`],
    answer: 'repaired',
    clients: 'a wrong number of followees',
    inject: async (scene) => {
      const { a, x } = scene
      await scene.services.collections.following.insertOne({
        ...{ _id: newId(), user: a, followee: x, source },
      })
      await count(scene, a, { following: 1 })
    },
  },
  {
    name: 'the history ends with a follow of no account',
    noticed: ({ a, x }) => [`L3 history ${a}>${x}`],
    answer: 'repaired',
    how: 'the history is removed',
    clients: 'nothing',
    inject: ({ services, a, x }) =>
      services.collections.follow_events.insertOne(event(a, x, 'FOLLOWED')),
  },
  {
    name: 'a deleted account has no job that clears it',
    noticed: ({ a }) => [`L3 purge ${a}`],
    answer: 'repaired',
    how: 'the job is added',
    clients: 'a handle that is never free again, and wrong numbers of followers',
    endsOtherwise: true,
    inject: async ({ services, a }) => {
      await services.collections.users.updateOne({ _id: a }, deleted)
      await services.collections.user_stats.deleteOne({ _id: a })
    },
  },
  {
    name: 'a deleted account has counters',
    noticed: ({ a }) => [`L3 counters ${a}`],
    answer: 'repaired',
    how: 'the counters are removed',
    clients: 'a user who can be followed and has no profile',
    endsOtherwise: true,
    inject: async ({ services, a }) => {
      await services.collections.users.updateOne({ _id: a }, deleted)
      await addJob(services, 'user.deleted', { user: a })
    },
  },
]
