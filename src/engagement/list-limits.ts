import type { Config } from '../config.ts'
import { type EngagementKind, perKind } from './kinds.ts'

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

/**
 * Whatever the lengths of texts, a post's lists and an overflow document stay far below MongoDB's
 * 16 MB.
 */
const bytesMax = { embeddedBytesMax: 32 * 1024, levelBytesMax: 256 * 1024 }

/** The limits of each kind's lists under a configuration. */
export const listLimits = ({
  thresholds,
  capacity,
}: Config['engagement']): Readonly<Record<EngagementKind, ListLimits>> =>
  perKind((kind) => ({ threshold: thresholds[kind], capacity, ...bytesMax }))
