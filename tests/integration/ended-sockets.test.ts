import { Socket } from 'node:net'
import { expect, inject, test, vi } from 'vitest'
import { connect } from '../../src/db/client.ts'

/** The flag of a message whose sender accepts several replies. Watches of servers send it. */
const exhaustAllowed = 1 << 16

const write = Socket.prototype.write as (this: Socket, data: unknown, ...rest: unknown[]) => boolean

/**
 * Destroys the socket of the next such message at the moment of its write. The driver learns of it
 * later.
 */
function destroyAtWrite(isIt: (message: Buffer) => boolean): () => boolean {
  let isDone = false
  vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...given) {
    const [message] = given as [unknown]
    if (!isDone && message instanceof Uint8Array && isIt(Buffer.from(message))) {
      isDone = true
      this.destroy()
    }
    return write.apply(this, given as [unknown])
  })
  return () => isDone
}

test.each([
  ['serving', 'read'],
  ['serving', 'write'],
  ['bulk', 'read'],
  ['bulk', 'write'],
] as const)(
  'a %s client whose socket ends at the moment of a %s tries again',
  async (profile, kind) => {
    const client = await connect(inject('mongoUri'), profile, { serverMonitoringMode: 'poll' })
    const db = client.db(`test_ended_${profile}_${kind}`)
    try {
      const things = db.collection<{ _id: string }>('things')
      await things.insertOne({ _id: 'one' })
      const isDone = destroyAtWrite((message) => message.includes('things'))
      if (kind === 'read') expect(await things.findOne()).toEqual({ _id: 'one' })
      else expect(await things.deleteOne()).toMatchObject({ deletedCount: 1 })
      expect(isDone()).toBe(true)
    } finally {
      await db.dropDatabase()
      await client.close()
    }
  },
)

test('the watch of a server whose socket ends at the moment of a check begins again', async () => {
  const events: string[] = []
  const client = await connect(inject('mongoUri'), 'serving', {}, (opened) => {
    opened.on('serverHeartbeatFailed', () => events.push('failed'))
    opened.on('serverHeartbeatSucceeded', () => events.push('succeeded'))
  })
  try {
    const isDone = destroyAtWrite(
      (message) => (message.readUInt32LE(16) & exhaustAllowed) !== 0 && message.includes('hello'),
    )
    await expect.poll(() => events).toContain('failed')
    expect(isDone()).toBe(true)
    const after = events.indexOf('failed')
    await expect.poll(() => events.slice(after)).toContain('succeeded')
  } finally {
    await client.close()
  }
})
