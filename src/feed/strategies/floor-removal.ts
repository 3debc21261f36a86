import type { StrategyDoc } from '../../db/collections.ts'
import { duplicatePositions } from '../../db/errors.ts'
import type { Condition, ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { FloorParts } from './floor-parts.ts'

/** A removal of entries below floors. */
interface Removal {
  /** The token with which the floors rise. */
  readonly token: ObjectId
  readonly registration: StrategyDoc
}

/**
 * Raises floors, then removes the entries below them. Readers whose timelines are being back-filled are left out.
 * @param filling matches readers whose timelines are not being back-filled.
 */
export async function raiseAndRemove(
  parts: FloorParts,
  found: ReadonlyMap<UserId, PostId>,
  { filling, ...removal }: Removal & { readonly filling: Condition<ObjectId> },
): Promise<void> {
  const raises = [...found].map(([reader, floor]) => ({
    updateOne: {
      // The insert of a reader whose timeline is being back-filled fails.
      filter: { _id: reader, filling },
      update: { $max: { floor: toObjectId(floor) }, $set: { token: removal.token } },
      upsert: true,
    },
  }))
  const refused = await parts.floors
    .bulkWrite(raises, { ordered: false })
    .then((): number[] => [], duplicatePositions)
  const raised = new Map([...found].filter((_, at) => !refused.includes(at)))
  if (raised.size > 0) await removeBelowFloors(parts, raised, removal)
}

/** Removes entries below floors that were raised with a token, some in each transaction. */
export async function removeBelowFloors(
  { floors, store, transactions }: FloorParts,
  raised: ReadonlyMap<UserId, PostId>,
  { token, registration }: Removal,
): Promise<void> {
  for (let more = true; more; ) {
    more = await transactions.run(async (tx) => {
      const { session } = tx
      const own = { _id: { $in: [...raised.keys()] }, token }
      const checked = await floors.updateMany(own, { $inc: { removals: 1 } }, { session })
      // Another trim or a back-fill came in between. A later trim removes the rest.
      if (checked.matchedCount < raised.size) return false
      return store.removeBelow(raised, registration, tx)
    })
  }
}
