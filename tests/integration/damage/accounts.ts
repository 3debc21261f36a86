import { addJob, newId } from '../../support/verify.ts'
import { addToCounters, type Damage } from './row.ts'

const zero = { followers: 0, following: 0, posts: 0 }
const deleted = { $set: { deletedAt: new Date() } }

/** Damage to accounts and their counters. */
export const accountDamages: readonly Damage[] = [
  {
    name: 'a counter of followers is too high',
    noticed: ({ b }) => [`L3 followers ${b}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => addToCounters(scene, scene.b, { followers: 7 }),
  },
  {
    name: 'a counter of followees is too low',
    noticed: ({ a }) => [`L3 following ${a}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => addToCounters(scene, scene.a, { following: -1 }),
  },
  {
    name: 'a counter of posts is negative',
    noticed: ({ c }) => [`L3 posts ${c}`],
    answer: 'repaired',
    clients: 'a wrong number',
    inject: (scene) => addToCounters(scene, scene.c, { posts: -3 }),
  },
  {
    name: 'a counter is NaN',
    noticed: ({ b }) => [`L3 shape user_stats ${b}`],
    answer: 'repaired',
    clients: 'no user: null, as without an account',
    inject: ({ services, b }) =>
      services.collections.user_stats.updateOne({ _id: b }, { $set: { followers: Number.NaN } }),
  },
  {
    name: 'a counter is absent',
    noticed: ({ a }) => [`L3 shape user_stats ${a}`],
    answer: 'repaired',
    clients: 'no user: null, as without an account',
    inject: ({ services, a }) =>
      services.collections.user_stats.updateOne({ _id: a }, { $unset: { following: '' } }),
  },
  {
    name: 'an account has no time of creation',
    noticed: ({ c }) => [`L3 shape users ${c}`],
    answer: 'reported',
    how: 'the time is in a backup only',
    clients: 'no profile',
    inject: ({ services, c }) =>
      services.collections.users.updateOne({ _id: c }, { $unset: { createdAt: '' } }),
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
    noticed: ({ a }) => [`L3 counters ${a}`, `L3 no-account ${a}`],
    answer: 'reported',
    how: 'the profile is in a backup only; edges and posts are kept for it',
    clients: 'no profile',
    inject: ({ services, a }) => services.collections.users.deleteOne({ _id: a }),
  },
  {
    name: 'an account and its counters are lost, its edges are not',
    noticed: ({ a }) => [`L3 no-account ${a}`],
    answer: 'reported',
    how: 'a handle or a subject names it',
    clients: 'a follower without a profile',
    inject: async ({ services, a }) => {
      await services.collections.users.deleteOne({ _id: a })
      await services.collections.user_stats.deleteOne({ _id: a })
    },
  },
  {
    name: 'a post has no author',
    noticed: ({ x }) => [`L3 no-account ${x}`],
    answer: 'repaired',
    how: 'cleared like a deleted account',
    clients: 'nothing',
    inject: ({ services, x }) =>
      services.collections.posts.insertOne({ _id: newId(), author: x, text: 'boo' }),
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
