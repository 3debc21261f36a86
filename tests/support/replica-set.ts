import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { findMongod } from '../../src/dev/mongod/find.ts'
import { replicaSetName } from '../../src/dev/mongod/primary.ts'
import { dbFolderOf, freePort, signalMongod, spawnMongod } from '../../src/dev/mongod/process.ts'
import { binFolder } from './bin-folder.ts'
import { patient } from './patience.ts'

/** A replica set of three members. Disposing of it kills them. */
export interface ReplicaSet extends AsyncDisposable {
  readonly uri: string
  /** Pauses or resumes replication to the secondaries. While it is paused, no majority has new writes. */
  readonly setReplicating: (on: boolean) => Promise<void>
  /** Kills one of the two secondaries, which stays down. */
  readonly killSecondary: () => Promise<void>
}

const primaryMsMax = patient(60_000)

/** Starts three members, on a folder in memory if possible, and waits for their primary. */
export async function replicaSet(): Promise<ReplicaSet> {
  const folder = await mkdtemp(join('/dev/shm', 'feedline-set-')).catch(() =>
    mkdtemp(join(tmpdir(), 'feedline-set-')),
  )
  const mongodBinary = process.env.MONGOD_BINARY
  const { path } = await findMongod({ mongodBinary, binFolder, log: () => {} })
  const extraArgs = [
    ...['--setParameter', 'enableTestCommands=1'],
    ...['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64'],
  ]
  const members = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const own = join(folder, name)
      await mkdir(dbFolderOf(own), { recursive: true })
      const port = await freePort()
      return { port, ...(await spawnMongod(path, own, port, extraArgs)) }
    }),
  )
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`)
  const end = async () => {
    for (const { pid } of members) signalMongod(pid, 'SIGKILL')
    await Promise.all(members.map(({ ended }) => ended))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await initiate(hosts)
  } catch (error) {
    await end()
    throw error
  }
  return {
    uri: `mongodb://${hosts.join(',')}/?replicaSet=${replicaSetName}`,
    setReplicating: async (on) => {
      const mode = on ? 'off' : 'alwaysOn'
      await Promise.all(
        hosts
          .slice(1)
          .map((host) => onMember(host, { configureFailPoint: 'stopReplProducer', mode })),
      )
    },
    killSecondary: async () => {
      const last = members.at(-1)
      if (last) signalMongod(last.pid, 'SIGKILL')
      await last?.ended
    },
    [Symbol.asyncDispose]: end,
  }
}

/** The first member becomes the primary: the others have no priority. */
async function initiate(hosts: readonly string[]): Promise<void> {
  const [first = ''] = hosts
  const members = hosts.map((host, _id) => ({ _id, host, priority: _id === 0 ? 1 : 0 }))
  const settings = { heartbeatIntervalMillis: 200, electionTimeoutMillis: 2_000 }
  const giveUpAt = performance.now() + primaryMsMax
  let initiated = false
  while (performance.now() < giveUpAt) {
    try {
      if (!initiated) {
        await onMember(first, { replSetInitiate: { _id: replicaSetName, members, settings } })
        initiated = true
      }
      if ((await onMember(first, { hello: 1 })).isWritablePrimary) return
    } catch {
      // Not up yet.
    }
    await sleep(100)
  }
  throw new Error('the replica set has no primary')
}

async function onMember(host: string, command: object) {
  const client = new MongoClient(`mongodb://${host}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: 2_000,
  })
  try {
    return await client.db('admin').command(command)
  } finally {
    await client.close()
  }
}
