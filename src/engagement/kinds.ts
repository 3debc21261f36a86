import type { Config, EngagementKind } from '../config.ts'
import type { EngagementDoc } from '../db/collections.ts'

/** What sets the kinds of engagement apart; all else is the same for all. */
export interface KindRule {
  /** What an entry is known by in its list: at most one entry has it. `actor` makes it once per user. */
  readonly key: 'actor' | '_id'
}

/** The three kinds. A fourth is a row here, its name in the configuration, and a GraphQL type. */
export const kinds: Readonly<Record<EngagementKind, KindRule>> = {
  likes: { key: 'actor' },
  comments: { key: '_id' },
  shares: { key: 'actor' },
}

/** What an entry is known by in its list. */
export const keyOf = ({ key }: KindRule, entry: Pick<EngagementDoc, 'actor' | '_id'>): string =>
  key === 'actor' ? entry.actor : entry._id.toHexString()

/** How much a list holds in its post and in each overflow document. */
export interface ListLimits {
  /** Entries in the post. */
  readonly threshold: number
  /** Entries in an overflow document. */
  readonly capacity: number
  /** Bytes of BSON in the post's array. */
  readonly embeddedBytesMax: number
  /** Bytes of BSON in an overflow document. */
  readonly levelBytesMax: number
}

/** Whatever the lengths of texts, a post's lists and an overflow document stay far below MongoDB's 16 MB. */
const bytesMax = { embeddedBytesMax: 32 * 1024, levelBytesMax: 256 * 1024 }

/** The limits of each kind's lists under a configuration. */
export const listLimits = ({
  thresholds,
  capacity,
}: Config['engagement']): Readonly<Record<EngagementKind, ListLimits>> => {
  const of = (kind: EngagementKind) => ({ threshold: thresholds[kind], capacity, ...bytesMax })
  return { likes: of('likes'), comments: of('comments'), shares: of('shares') }
}
