import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'

/** Computes the best suggestions of a viewer with their numbers of common followees. */
export type Suggest = (viewer: UserId) => Promise<readonly (readonly [UserId, number])[]>

const pageSize = 100
const checkedMax = 500

/** Feedline's implementation. */
export const feedline =
  ({ suggestions }: Services): Suggest =>
  async (viewer) =>
    (await suggestions.load(viewer)).map(({ user, commonCount }) => [user, commonCount])

/** As Socialite: reads the followees, then groups all their follows in one aggregation. */
export const socialite = (services: Services): Suggest =>
  naive(services, (followees) => [{ $match: { user: { $in: followees } } }])

/** Reads the followees, then walks their follows by `$graphLookup`. */
export const graphLookup = (services: Services): Suggest =>
  naive(services, (followees, viewer) => [
    { $match: { user: viewer } },
    { $limit: 1 },
    {
      $graphLookup: {
        from: services.collections.following.collectionName,
        startWith: followees,
        connectFromField: 'followee',
        connectToField: 'user',
        maxDepth: 0,
        as: 'follow',
      },
    },
    { $unwind: '$follow' },
    { $replaceWith: '$follow' },
  ])

/** Reads all follows of all followees. Then it checks candidates as Feedline does. */
function naive(
  { collections: { following }, restrictions, stats }: Services,
  followsOf: (followees: string[], viewer: UserId) => object[],
): Suggest {
  return async (viewer) => {
    const own = await following
      .find({ user: viewer }, { projection: { _id: 0, followee: 1 } })
      .toArray()
    const followees = own.map(({ followee }) => followee)
    const found = await following
      .aggregate<{ _id: UserId; count: number }>([
        ...followsOf(followees, viewer),
        { $group: { _id: '$followee', count: { $sum: 1 } } },
        { $match: { _id: { $nin: [viewer, ...followees] } } },
        { $sort: { count: -1, _id: 1 } },
        { $limit: checkedMax },
      ])
      .toArray()
    const users = found.map(({ _id }) => _id)
    const [restricted, live] = await Promise.all([
      restrictions.restrictionsFor(viewer, users),
      stats.liveAmong(users),
    ])
    return found
      .filter(({ _id }) => live.has(_id) && !restricted.has(_id))
      .slice(0, pageSize)
      .map(({ _id, count }) => [_id, count])
  }
}

/** Counts the followees that a viewer has in common with each user of a page. */
export type CountMutuals = (viewer: UserId, users: readonly UserId[]) => Promise<readonly number[]>

/** Feedline's implementation: two commands for the page. */
export const batched =
  ({ mutuals }: Services): CountMutuals =>
  async (viewer, users) => {
    const found = await mutuals.load(viewer, users)
    return users.map((user) => found.get(user)?.length ?? 0)
  }

/** A `$lookup` of each followee of the viewer, in one command for each user. */
export const lookupEach =
  ({ collections: { following } }: Services): CountMutuals =>
  (viewer, users) =>
    Promise.all(
      users.map(async (user) => {
        const [found] = await following
          .aggregate<{ count: number }>([
            { $match: { user: viewer } },
            {
              $lookup: {
                from: following.collectionName,
                localField: 'followee',
                foreignField: 'followee',
                pipeline: [{ $match: { user } }, { $project: { _id: 1 } }],
                as: 'common',
              },
            },
            { $match: { common: { $ne: [] } } },
            { $count: 'count' },
          ])
          .toArray()
        return found?.count ?? 0
      }),
    )
