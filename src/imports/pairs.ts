import type { Collection, Filter } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { chunks, groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'

/** An ordered pair of people. */
export interface Pair {
  readonly one: UserId
  readonly other: UserId
}

/** Where pairs are looked up: two fields that begin a unique index. */
export interface PairIndex<Doc> {
  readonly collection: Collection<Doc & { _id: unknown }>
  readonly one: string
  readonly other: string
  readonly hint: Readonly<Record<string, 1>>
  readonly where?: object
}

/** As many owners are looked up in one command. */
const ownersMax = 500

/** A pair as one string: no handle holds a space. */
export const pairKey = ({ one, other }: Pair): string => `${one} ${other}`

/**
 * The keys of those pairs that are stored. One command per 500 owners, covered by the index,
 * which costs one seek a pair; the hint spares the planner a trial for each owner.
 */
export async function storedPairs<Doc>(
  { collection, one, other, hint, where }: PairIndex<Doc>,
  tx: Tx,
  pairs: readonly Pair[],
): Promise<Set<string>> {
  const stored = new Set<string>()
  for (const owners of chunks([...groupBy(pairs, (pair) => pair.one)], ownersMax)) {
    const $or = owners.map(([owner, own]) => ({
      [one]: owner,
      [other]: { $in: own.map((pair) => pair.other) },
      ...where,
    }))
    const found = collection.find({ $or } as Filter<Doc & { _id: unknown }>, {
      session: tx.session,
      hint,
      projection: { _id: 0, [one]: 1, [other]: 1 },
    })
    for await (const doc of found as AsyncIterable<Record<string, UserId>>) {
      stored.add(`${doc[one]} ${doc[other]}`)
    }
  }
  return stored
}
