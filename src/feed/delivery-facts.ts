import type { EntryContent } from '../config.ts'
import { atOnce } from '../db/client.ts'
import type { Collections, PostDoc, StrategyDoc, UserStatsDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Edges } from '../follows/edges.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import { windowSize } from './audience.ts'
import { entryOf } from './entries.ts'
import type { Registered, Registry } from './registry.ts'
import type { Entry } from './strategy.ts'

/** What a delivery needs to know once its post is committed. */
export interface DeliveryFacts {
  readonly registered: Registered
  /** Undefined: the post is gone. */
  readonly entry: Entry | undefined
  /** How many follow the author. */
  readonly followers: number
  /** The first followers after the handle that was asked for, in order. */
  readonly window: readonly UserId[]
}

interface Row {
  readonly strategies: StrategyDoc[]
  readonly post: PostDoc[]
  readonly stats: UserStatsDoc[]
  readonly followers: UserId[]
}

/** Reads what a delivery begins with. */
export class DeliveryFactsReader {
  constructor(
    private readonly collections: Collections,
    private readonly edges: Edges,
    private readonly registry: Registry,
    private readonly holds: EntryContent,
  ) {}

  /** All of it in one command, each part of which names its shard. */
  async about({ id, author }: PostRef, after: string): Promise<DeliveryFacts> {
    const { posts, user_stats, strategies } = this.collections
    const { collection, owner, other } = this.edges.followers
    const kept = this.holds === 'text' ? { author: 1, text: 1 } : { author: 1 }
    const [row] = await posts.db
      .aggregate<Row>(
        [
          { $documents: [{}] },
          {
            $lookup: {
              from: strategies.collectionName,
              pipeline: [{ $match: {} }],
              as: 'strategies',
            },
          },
          {
            $lookup: {
              from: posts.collectionName,
              pipeline: [{ $match: { author, _id: toObjectId(id) } }, { $project: kept }],
              as: 'post',
            },
          },
          {
            $lookup: {
              from: user_stats.collectionName,
              pipeline: [{ $match: { _id: author } }],
              as: 'stats',
            },
          },
          {
            $lookup: {
              from: collection.collectionName,
              pipeline: [
                { $match: { [owner]: author, [other]: { $gt: after } } },
                { $sort: { [other]: 1 } },
                { $limit: windowSize },
                { $project: { _id: 0, [other]: 1 } },
              ],
              as: 'followers',
            },
          },
          { $set: { followers: `$followers.${other}` } },
        ],
        atOnce,
      )
      .toArray()
    if (!row) throw new Error('no answer to what a delivery needs')
    const [post] = row.post
    return {
      registered: this.registry.accept(row.strategies),
      entry: post && entryOf({ id, author, text: post.text }, this.holds),
      followers: row.stats[0]?.followers ?? 0,
      window: row.followers,
    }
  }
}
