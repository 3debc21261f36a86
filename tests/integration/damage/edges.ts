import { newId } from '../../support/verify.ts'
import { addToCounters, type Damage } from './row.ts'

const source = 'FEEDLINE' as const
const event = (user: string, followee: string, type: 'FOLLOWED' | 'UNFOLLOWED', _id = newId()) => ({
  ...{ _id, user, followee, type, source, at: new Date() },
})
const partly = 'a follow in one list only'

/** Damage to edges, history and blocks. */
export const edgeDamages: readonly Damage[] = [
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
    name: 'an edge names a number as its follower',
    only: 'collection',
    noticed: ({ a, b }) => ['L3 shape followers', `L3 sides ${a}>${b}`],
    answer: 'repaired',
    clients: `${partly}; follows of the pair fail`,
    inject: ({ services, a, b }) =>
      services.collections.followers.updateOne(
        { user: b, follower: a },
        { $set: { follower: 7 as never } },
      ),
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
      await addToCounters(scene, b, { followers: 1 })
    },
  },
  {
    name: 'an edge is lost in both collections, with its counts',
    noticed: ({ a, b }) => [`L3 history ${a}>${b}`],
    answer: 'reported',
    how: 'both collections agree',
    clients: 'no follow',
    inject: async (scene) => {
      const { services, a, b } = scene
      await services.collections.followers.deleteOne({ user: b, follower: a })
      await services.collections.following.deleteOne({ user: a, followee: b })
      await addToCounters(scene, a, { following: -1 })
      await addToCounters(scene, b, { followers: -1 })
    },
  },
  {
    name: 'the history says that a standing edge has ended',
    noticed: ({ a, b }) => [`L3 history ${a}>${b}`],
    answer: 'reported',
    how: 'both collections agree',
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
    how: 'clocks may have differed',
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
    how: 'the mirror is removed',
    clients: 'a block that no one can lift',
    inject: ({ services, b, c }) =>
      services.collections.restrictions.insertOne({
        ...{ _id: newId(), owner: c, other: b, kind: 'BLOCKED_BY' },
      }),
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
      await addToCounters(scene, a, { following: 1 })
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
]
