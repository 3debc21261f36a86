import { type Db, ObjectId } from 'mongodb'
import type { StrategyDoc } from '../../feed/collections.ts'
import type { Migration, Step } from './migration.ts'
import { guard } from './steps.ts'

const floorNames = ['inbox_floors', 'sized_bucket_floors', 'timed_bucket_floors']

const hasRetention = {
  dropping: { $exists: false },
  $or: ['entriesMax', 'ageMaxMs', 'awayMaxMs'].map((name) => ({ [`options.${name}`]: { $gt: 0 } })),
}
const strategiesIn = (db: Db) => db.collection<StrategyDoc>('strategies')

/**
 * Floors of readers end. The previous release removes entries only after it has written a floor, so MongoDB refuses the
 * floors first.
 */
const floorsOfReaders: Step = {
  async plan({ db }) {
    const names = { name: { $in: floorNames } }
    const stored = await db.listCollections(names, { nameOnly: false }).toArray()
    const open = floorNames.filter(
      (name) =>
        !stored.some((one) => one.name === name && 'options' in one && one.options?.validator),
    )
    return open.map((name) => `Refuse writes to ${name}, and remove its documents.`)
  },
  async run({ db, signal }) {
    for (const name of floorNames) await guard(db, name)
    signal.throwIfAborted()
  },
}

/** What the previous release removed from stored timelines is stored again, without the options of its retention. */
const filledAgain: Step = {
  async plan({ db }) {
    const found = await strategiesIn(db).find(hasRetention).sort({ _id: 1 }).toArray()
    return found.map(
      ({ _id }) =>
        `Store the timelines of ${_id} again. Until then, pages come from FANOUT_ON_READ.`,
    )
  },
  async run({ db, signal }) {
    for await (const { _id } of strategiesIn(db).find(hasRetention)) {
      // A server queues the job of the new epoch, and the job of the old one ends by itself.
      const begin = { epoch: new ObjectId(), covered: '', complete: false, 'readers.done': 0 }
      const retention = {
        'options.entriesMax': '',
        'options.ageMaxMs': '',
        'options.awayMaxMs': '',
      }
      await strategiesIn(db).updateOne({ _id, ...hasRetention }, {
        $set: begin,
        $unset: { split: '', ...retention },
      } as object)
    }
    for (const name of floorNames) {
      signal.throwIfAborted()
      await db.collection(name).deleteMany({})
    }
    await db.collection('outbox').deleteMany({ kind: 'timelines.fill' })
  },
}

/**
 * Stored timelines have one floor for all readers, in the registration. The empty collections that refuse floors of readers
 * stay: a process that writes them may outlive several migrations.
 */
export const floors: Migration = {
  name: 'timelines have one floor for all readers',
  steps: [floorsOfReaders, filledAgain],
}
