import { singleBatch } from '../db/client.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import { compareTexts, type Order, readPages } from '../pages/pipeline.ts'
import type { Visibility } from '../visibility/visibility.ts'
import type { Edges, FollowEdge } from './edges.ts'
import type { Follows } from './follows.ts'

/** The number of the viewer's newest followees among which followees in common are found. */
export const mutualsAmongMax = 1_000

/** The order of {@link Mutuals}: the newest follow first, as in all lists of follows. */
export const newestFollowFirst: Order<FollowEdge, EdgeId> = {
  placeOf: ({ id }) => id,
  compare: (one, other) => compareTexts(other, one),
}

/** The followees that a viewer has in common with other users. */
export class Mutuals {
  constructor(
    private readonly edges: Edges,
    private readonly follows: Follows,
    private readonly visibilityFor: (viewer: UserId) => Visibility,
  ) {}

  /**
   * The viewer's follows whose followee each of `users` follows too, newest first. Users without
   * any are absent. Exact if the viewer follows at most {@link mutualsAmongMax} users, for any
   * number of followees of `users`. Beyond, only the viewer's newest followees count.
   *
   * Two covered commands for any number of users, and one that finds deleted followees, who are
   * absent. For each user, they examine at most one key more than the viewer has followees.
   */
  async load(
    viewer: UserId,
    users: readonly UserId[],
  ): Promise<Map<UserId, readonly FollowEdge[]>> {
    const window = { limit: mutualsAmongMax, backward: false }
    const pages = await readPages(this.follows.following(), [viewer], window)
    const own = pages.get(viewer)?.items ?? []
    if (own.length === 0) return new Map()
    const { collection, owner, other, membership } = this.edges.following
    const commonByUser = await collection
      .aggregate<{ _id: UserId; followees: UserId[] }>(
        [
          {
            $match: {
              [owner]: { $in: [...users] },
              [other]: { $in: own.map(({ followee }) => followee) },
            },
          },
          { $group: { _id: `$${owner}`, followees: { $push: `$${other}` } } },
        ],
        { ...singleBatch, hint: membership },
      )
      .toArray()
    const all = commonByUser.flatMap(({ followees }) => followees)
    const hidden = await this.visibilityFor(viewer).hiddenAmong('ACCOUNT', all)
    return new Map(
      commonByUser.map(({ _id, followees }) => {
        const common = new Set(followees.filter((followee) => !hidden.has(followee)))
        return [_id, own.filter(({ followee }) => common.has(followee))]
      }),
    )
  }
}
