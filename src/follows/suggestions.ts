import { singleBatch } from '../db/client.ts'
import { parseUserId, type UserId } from '../lib/ids.ts'
import { cursorCodec } from '../pages/cursor.ts'
import { compareTexts, type Order, readPages } from '../pages/pipeline.ts'
import { isShown } from '../visibility/rules.ts'
import type { Visibility } from '../visibility/visibility.ts'
import type { Edges } from './edges.ts'
import type { Follows } from './follows.ts'

/** The most suggestions of a viewer. */
export const suggestionsMax = 100

/** The number of the viewer's newest followees whose follows are read. */
export const sampleMax = 100

/**
 * The most follows that are read of all sampled followees together: an equal share of each, newest
 * first.
 */
export const sampledFollowsMax = 10_000

/**
 * The most of the viewer's newest follows that leave out their followees before candidates are
 * ranked.
 */
const rankedWithoutMax = 10_000

/**
 * The number of the best candidates that are checked for follows, mutes, blocks and deleted
 * accounts.
 */
const checkedMax = 500

/** A followee of the viewer's followees. */
export interface Suggestion {
  readonly user: UserId
  /** The number of the viewer's sampled followees who follow the user, at least 1. */
  readonly commonCount: number
}

/** The order of {@link Suggestions}. A place is the suggestion as it was. */
export const mostCommonFirst: Order<Suggestion, Suggestion> = {
  placeOf: (suggestion) => suggestion,
  compare: (one, other) =>
    other.commonCount - one.commonCount || compareTexts(one.user, other.user),
}

/** The cursor of suggestions: the count and the account. */
export const suggestionCursors = cursorCodec<Suggestion>({
  tag: 'Suggestion',
  toParts: ({ user, commonCount }) => [String(commonCount), user],
  fromParts([count = '', name = '', ...more]) {
    const user = parseUserId(name)
    const isValid = more.length === 0 && /^[1-9]\d{0,8}$/.test(count)
    return user && isValid ? { user, commonCount: Number(count) } : undefined
  },
})

/** The parts that {@link Suggestions} works with. */
export interface SuggestionsParts {
  readonly edges: Edges
  readonly follows: Follows
  readonly visibilityFor: (viewer: UserId) => Visibility
}

/** The users that a viewer may want to follow: followees of followees. */
export class Suggestions {
  constructor(private readonly parts: SuggestionsParts) {}

  /**
   * The followees of the viewer's followees, most common followees first, then by account. At most
   * {@link suggestionsMax}. The viewer, users that the viewer follows or muted, users with a block
   * in either direction and deleted accounts are absent.
   *
   * Exact if the viewer follows at most {@link sampleMax} users, and each of them at most an equal
   * share of {@link sampledFollowsMax}. Beyond, only the newest follows count, so one graph always
   * has the same suggestions. Only the best 500 candidates are checked, so fewer suggestions remain
   * if mutes and blocks hide most of these.
   *
   * Five covered commands. They examine at most 25,000 keys. One command if the viewer follows no
   * one.
   */
  async load(viewer: UserId): Promise<readonly Suggestion[]> {
    const { follows, visibilityFor } = this.parts
    const window = { limit: sampleMax, backward: false }
    const pages = await readPages(follows.following(), [viewer], window)
    const sample = pages.get(viewer)?.items ?? []
    if (sample.length === 0) return []
    const followees = sample.map(({ followee }) => followee)
    const ranked = await this.rankCandidates(viewer, followees)
    if (ranked.length === 0) return []
    const users = ranked.map(({ user }) => user)
    const facts = await visibilityFor(viewer).load('SUGGESTION', users)
    return ranked
      .filter(({ user }) => isShown('SUGGESTION', viewer, { user }, facts))
      .slice(0, suggestionsMax)
  }

  /**
   * The best candidates, of which the viewer follows only the oldest of very many followees. One
   * covered command.
   */
  private async rankCandidates(
    viewer: UserId,
    sample: readonly UserId[],
  ): Promise<readonly Suggestion[]> {
    const { collection, owner, other } = this.parts.edges.following
    const newest = (limit: number) => [
      { $sort: { _id: -1 } },
      { $limit: limit },
      { $project: { _id: 0, user: `$${other}` } },
    ]
    const ranked = await collection.db
      .aggregate<{ _id: UserId; commonCount: number }>(
        [
          { $documents: sample.map((followee) => ({ followee: { $literal: followee } })) },
          {
            $lookup: {
              from: collection.collectionName,
              localField: 'followee',
              foreignField: owner,
              pipeline: newest(Math.floor(sampledFollowsMax / sample.length)),
              as: 'follow',
            },
          },
          { $unwind: '$follow' },
          { $replaceWith: '$follow' },
          {
            $unionWith: {
              coll: collection.collectionName,
              pipeline: [
                { $match: { [owner]: viewer } },
                ...newest(rankedWithoutMax),
                { $set: { isFollowed: true } },
              ],
            },
          },
          {
            $group: { _id: '$user', commonCount: { $sum: 1 }, isFollowed: { $max: '$isFollowed' } },
          },
          { $match: { isFollowed: null, _id: { $ne: viewer } } },
          { $sort: { commonCount: -1, _id: 1 } },
          { $limit: checkedMax },
        ],
        singleBatch,
      )
      .toArray()
    return ranked.map(({ _id, commonCount }) => ({ user: _id, commonCount }))
  }
}
