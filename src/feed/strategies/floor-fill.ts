import type { TimelineFloorDoc } from '../../db/collections.ts'
import type { Collection, ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import type { PostId, UserId } from '../../lib/ids.ts'

/** A back-fill of some readers' timelines, from the newest post on, that sets their floors. */
export interface FloorFill {
  /** The number of posts that the back-fill stores at most, of each timeline. */
  readonly entriesMax: number
  /** The first id of the posts that it stores. Undefined: it stores all. */
  readonly firstKept: PostId | undefined
  /**
   * Sets floors after the last entry of a timeline, unless another back-fill of the reader began later. Then it only
   * raises them. One command.
   * @param floors the first id from which all posts are stored, of each reader. Undefined: all posts are stored.
   * @param mayLower false: only raises the floors.
   */
  finish(floors: ReadonlyMap<UserId, PostId | undefined>, mayLower: boolean): Promise<void>
}

/**
 * Announces a back-fill of timelines: until its end, no trim raises their floors, and no write leaves out entries. One
 * command.
 * @param token a new id.
 */
export async function beginFloorFill(
  floors: Collection<TimelineFloorDoc>,
  token: ObjectId,
  readers: readonly UserId[],
  bounds: Pick<FloorFill, 'entriesMax' | 'firstKept'>,
): Promise<FloorFill> {
  const update = { $set: { token, filling: token } }
  await floors.bulkWrite(
    readers.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } })),
    { ordered: false },
  )
  return {
    ...bounds,
    async finish(found, mayLower) {
      const updates = [...found].flatMap(([reader, floor]) =>
        finishing({ reader, token, floor: floor && toObjectId(floor), mayLower }),
      )
      if (updates.length > 0) await floors.bulkWrite(updates)
    },
  }
}

/** Only the end of a back-fill ends the absence: the next visit of its reader repeats one that was killed. */
const ended = { filling: '', away: '', returnedAt: '' } as const

/** What a back-fill writes at its end, in this order. */
function finishing({
  reader: _id,
  token,
  floor,
  mayLower,
}: {
  readonly reader: UserId
  readonly token: ObjectId
  readonly floor: ObjectId | undefined
  readonly mayLower: boolean
}) {
  const lower = floor
    ? { $set: { floor }, $unset: ended }
    : { $unset: { ...ended, floor: '' as const } }
  const end = { filter: { _id, token }, update: mayLower ? lower : { $unset: ended } }
  if (!floor) return [{ updateOne: end }]
  // Another back-fill that began later may not end for long.
  const others = mayLower ? { token: { $ne: token } } : {}
  const raise = { filter: { _id, ...others }, update: { $max: { floor } } }
  return [{ updateOne: raise }, { updateOne: end }]
}
