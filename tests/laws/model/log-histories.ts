import { eventually } from '../../support/eventually.ts'
import type { LogScene } from './log-scene.ts'

/**
 * What happens to a log. Throws an AssertionError if memory is older than an acknowledged write.
 */
export type LogHistory = (scene: LogScene) => Promise<void>

/** Fits into two batches no more. */
const backlog = 1_200

/** A write is acknowledged while a tick runs that has already looked. */
export const writeDuringTick: LogHistory = async (scene) => {
  await scene.memory.read('a')
  const looking = scene.commands.hold('hello', 'answered')
  const first = scene.log.isCurrent()
  await looking.reached
  await scene.write('a', 2)
  const second = scene.log.isCurrent()
  looking.release()
  await Promise.all([first, second])
  scene.expectKept('a', 2)
}

/**
 * More changes than two batches have are acknowledged between two ticks, and that of a kept
 * document last.
 */
export const backlogBetweenTicks: LogHistory = async (scene) => {
  await scene.memory.read('a')
  const looking = scene.commands.hold('hello', 'sent')
  await looking.reached
  await scene.writer.insertMany(otherDocuments())
  await scene.write('a', 2)
  const isCurrent = scene.log.isCurrent()
  looking.release()
  await isCurrent
  scene.expectKept('a', 2)
}

/** As {@link backlogBetweenTicks}, in one transaction: all changes have the same time. */
export const transactionBetweenTicks: LogHistory = async (scene) => {
  await scene.memory.read('a')
  const looking = scene.commands.hold('hello', 'sent')
  await looking.reached
  await scene.writer.db.client.withSession((session) =>
    session.withTransaction(async () => {
      await scene.writer.insertMany(otherDocuments(), { session })
      await scene.writer.updateOne({ _id: 'a' }, { $set: { n: 2 } }, { session })
    }),
  )
  const isCurrent = scene.log.isCurrent()
  looking.release()
  await isCurrent
  scene.expectKept('a', 2)
}

/**
 * A document is written after a fill has read it, and the change is applied before the fill ends.
 */
export const writeDuringFill: LogHistory = async (scene) => {
  const found = scene.reads.hold('find', 'answered')
  const read = scene.memory.read('a')
  await found.reached
  await scene.write('a', 2)
  await scene.log.isCurrent()
  found.release()
  await read
  scene.expectKept('a', 2)
}

/** The stream is cut, and a write is acknowledged before it is opened again. */
export const cutStream: LogHistory = async (scene) => {
  await scene.memory.read('a')
  await cutAndWrite(scene)
  scene.expectKept('a', 2)
}

/** As {@link cutStream}, between the read of a fill and its end. */
export const cutDuringFill: LogHistory = async (scene) => {
  const found = scene.reads.hold('find', 'answered')
  const read = scene.memory.read('a')
  await found.reached
  await cutAndWrite(scene)
  found.release()
  await read
  scene.expectKept('a', 2)
}

async function cutAndWrite(scene: LogScene): Promise<void> {
  const looking = scene.commands.hold('hello', 'sent')
  await looking.reached
  const { cursor } = scene.commands.answers.get('aggregate') ?? {}
  const { client } = scene.writer.db
  const opened = scene.commands.answers.get('aggregate')
  await client
    .db(scene.writer.dbName)
    .command({ killCursors: '$cmd.aggregate', cursors: [cursor.id] })
  await scene.write('a', 2)
  looking.release()
  await eventually(() => {
    if (scene.commands.answers.get('aggregate') === opened) throw new Error('not opened again')
  })
  await scene.isCurrent()
}

const otherDocuments = () => Array.from({ length: backlog }, (_, n) => ({ _id: `other ${n}`, n }))
