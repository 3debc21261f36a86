import { setTimeout as sleep } from 'node:timers/promises'
import type { Document, MongoClient } from 'mongodb'
import { type Cluster, memberCount } from '../../../faults/cluster.ts'
import { followed } from './log-memory.ts'
import type { LogProcesses } from './log-processes.ts'

/** What faults act on. */
export interface LogWorld {
  readonly cluster: Cluster
  readonly processes: LogProcesses
  readonly database: string
  /** A client for imports. */
  readonly client: MongoClient
}

const others = (member: number) => [...Array(memberCount).keys()].filter((each) => each !== member)

/** Stops a process, and lets it continue. */
async function freeze(cluster: Cluster, members: readonly number[], ms: number): Promise<void> {
  for (const member of members) await cluster.signalMember(member, 'SIGSTOP')
  await sleep(ms)
  for (const member of members) await cluster.signalMember(member, 'SIGCONT')
}

async function isolatePrimary(world: LogWorld, clients: 'with' | 'without' | 'both') {
  world.cluster.isolateMember(await world.cluster.waitForPrimary(), clients)
  await sleep(7_000)
}

async function withoutReplication({ cluster }: LogWorld, members: readonly number[], ms: number) {
  const set = (mode: string) =>
    Promise.all(
      members.map((member) =>
        cluster.runAdminCommand(member, { configureFailPoint: 'stopReplProducer', mode }),
      ),
    )
  await set('alwaysOn')
  await sleep(ms)
  await set('off')
}

async function importDocuments(world: LogWorld, collection: string, bytes: number) {
  const imported = world.client.db(world.database).collection<{ _id: string }>(collection)
  const text = 'x'.repeat(bytes)
  for (let from = 0; from < 50_000; from += 1_000) {
    const documents = Array.from({ length: 1_000 }, (_, n) => ({
      _id: `import-${from + n}`,
      n: 1,
      text,
    }))
    await imported.insertMany(documents, { ordered: false })
  }
  await imported.deleteMany({ _id: /^import-/ })
}

/** Kills the cursors of all change streams on the primary. */
async function cutStreams({ client, database }: LogWorld): Promise<void> {
  const pipeline = [
    { $currentOp: { idleCursors: true } },
    { $match: { type: 'idleCursor', 'cursor.originatingCommand.aggregate': 1 } },
  ]
  const list = { aggregate: 1, pipeline, cursor: {} }
  const { cursor } = await client.db('admin').command(list, { promoteLongs: false })
  const cursors = cursor.firstBatch.map((open: Document) => open.cursor.cursorId)
  if (cursors.length === 0) return
  await client.db(database).command({ killCursors: '$cmd.aggregate', cursors })
}

/** What happens while processes write and read. The cluster is healed after each. */
export const logFaults: Readonly<Record<string, (world: LogWorld) => Promise<void>>> = {
  'streams that are cut': async (world) => {
    for (let n = 0; n < 5; n++) {
      await cutStreams(world)
      await sleep(400)
    }
  },
  'readers that are busy': async ({ processes }) => {
    processes.blockReader(0, 4_000)
    processes.blockReader(1, 1_500)
    await sleep(5_000)
  },
  'an import of another collection': async (world) => importDocuments(world, 'others', 100),
  'an import of the collection': async (world) => importDocuments(world, followed.collection, 100),
  'a reader that is suspended until the history is lost': async (world) => {
    const [reader] = world.processes.readers
    reader?.kill('SIGSTOP')
    await importDocuments(world, 'others', 4_000)
    reader?.kill('SIGCONT')
  },
  'a primary that steps down': async ({ cluster }) => {
    const stepDown = { replSetStepDown: 5, secondaryCatchUpPeriodSecs: 2 }
    await cluster.runAdminCommand(await cluster.waitForPrimary(), stepDown)
  },
  'a primary that is killed': async ({ cluster }) => {
    await cluster.signalMember(await cluster.waitForPrimary(), 'SIGKILL')
    await sleep(4_000)
  },
  'a primary that freezes until another is elected': async ({ cluster }) =>
    freeze(cluster, [await cluster.waitForPrimary()], 6_000),
  'a primary that freezes for a moment': async ({ cluster }) =>
    freeze(cluster, [await cluster.waitForPrimary()], 1_500),
  'a majority that freezes': async ({ cluster }) =>
    freeze(cluster, others(await cluster.waitForPrimary()), 5_000),
  'a primary that only clients reach': async (world) => isolatePrimary(world, 'both'),
  'a primary that no one reaches': async (world) => isolatePrimary(world, 'without'),
  'a primary on the side of the clients': async (world) => isolatePrimary(world, 'with'),
  'a secondary without replication': async (world) => {
    const [secondary = 0] = others(await world.cluster.waitForPrimary())
    await withoutReplication(world, [secondary], 4_000)
  },
  'no replication': async (world) =>
    withoutReplication(world, others(await world.cluster.waitForPrimary()), 2_000),
}
