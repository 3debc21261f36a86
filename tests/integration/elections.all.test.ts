import { setTimeout as sleep } from 'node:timers/promises'
import type { Document, Timestamp } from 'mongodb'
import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { recorded } from '../support/mongo.ts'
import { replicaSet } from '../support/replica-set.ts'

test('reads on a new primary wait for the writes that the previous primary acknowledged', async () => {
  await using set = await replicaSet()
  const client = await connect(set.uri, 'serving', { monitorCommands: true })
  try {
    const db = client.db('elections')
    const things = db.collection<{ _id: number }>('things')
    const admin = client.db('admin')
    const term = async () => String((await admin.command({ hello: 1 })).electionId)
    for (let n = 1; n <= 3; n++) {
      await things.insertOne({ _id: n })
      const [before, last] = [timeOf(await admin.command({ ping: 1 })), await term()]
      // The only member that can be elected is elected again.
      await admin.command({ replSetStepDown: 1, force: true })
      while ((await term()) === last) await sleep(50)
      const { result, commands } = await recorded(client, async () => [
        await things.find().toArray(),
        await things.countDocuments({}),
        await db.aggregate([{ $documents: [{ a: 1 }] }]).toArray(),
      ])
      expect(result[0]).toHaveLength(n)
      expect(commands.length).toBeGreaterThanOrEqual(3)
      for (const { command } of commands) {
        const { level, afterClusterTime } = command.readConcern
        expect(level).toBe('majority')
        expect((afterClusterTime as Timestamp).greaterThanOrEqual(before)).toBe(true)
      }
    }
  } finally {
    await client.close()
  }
})

const timeOf = ({ $clusterTime }: Document): Timestamp => $clusterTime.clusterTime
