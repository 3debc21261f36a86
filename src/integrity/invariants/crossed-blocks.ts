import { type PairRule, pairInvariant } from '../edge-repair.ts'
import type { IntegrityServices } from '../invariant.ts'

const rule: PairRule = { name: 'crossed-blocks', law: 'L3', kinds: ['block'] }

/**
 * Law L3: no edge crosses a block. The range is a condition on the handle of the block's owner. The scan is one command
 * that seeks twice for each block.
 */
export const crossedBlocks = (services: IntegrityServices) =>
  pairInvariant(services, [rule], async function* (handles: object) {
    const from = services.edges.followers.collection.collectionName
    const crossing = (followee: string, follower: string) => ({
      from,
      localField: followee,
      foreignField: 'user',
      let: { follower: `$${follower}` },
      pipeline: [
        { $match: { $expr: { $eq: ['$follower', '$$follower'] } } },
        { $limit: 1 },
        { $project: { _id: 1 } },
      ],
    })
    const found = services.collections.restrictions.aggregate<Crossed>([
      { $match: { owner: handles, kind: 'BLOCK' } },
      { $lookup: { ...crossing('other', 'owner'), as: 'out' } },
      { $lookup: { ...crossing('owner', 'other'), as: 'back' } },
      { $match: { $or: [{ 'out.0': { $exists: true } }, { 'back.0': { $exists: true } }] } },
      { $project: { owner: 1, other: 1, out: 1, back: 1 } },
    ])
    for await (const { owner, other, out, back } of found) {
      if (out.length > 0) yield { follower: owner, followee: other }
      if (back.length > 0) yield { follower: other, followee: owner }
    }
  })

/** A block, with the edge from its owner and the edge to its owner, if they exist. */
interface Crossed {
  readonly owner: string
  readonly other: string
  readonly out: readonly unknown[]
  readonly back: readonly unknown[]
}
