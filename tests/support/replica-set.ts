import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { findMongod } from '../../packages/mongod/find.ts'
import { replicaSetName } from '../../packages/mongod/primary.ts'
import { dbFolderOf, freePort, signalMongod, spawnMongod } from '../../packages/mongod/process.ts'
import { binFolder } from './bin-folder.ts'
import { patient } from './patience.ts'

/** A replica set of three members. Disposing of it kills them. */
export interface ReplicaSet extends AsyncDisposable {
  readonly uri: string
  /** The members, as `host:port`. */
  readonly hosts: readonly string[]
  /**
   * Pauses or resumes replication to the secondaries. While it is paused, no majority has new
   * writes.
   */
  readonly setReplicating: (on: boolean) => Promise<void>
  /** Kills one of the two secondaries, which stays down. */
  readonly killSecondary: () => Promise<void>
  /** Stops the processes of all members, or of the primary alone. @returns what lets them go on. */
  readonly pause: (members: 'all' | 'primary') => Promise<() => void>
  /** Waits until the first member is the primary, as before any election. */
  readonly settle: () => Promise<void>
}

const primaryMsMax = patient(60_000)

/** The priorities of the second and the third member. The first has 2. */
const otherPriorities = { none: 0, temporary: 1, lasting: 2 }

/**
 * Starts three members, on a folder in memory if possible, and waits for their primary, which is
 * the first.
 * @param takeover whether another member takes over while the first is away, and then stays the
 * primary. Default: none takes over.
 */
export async function replicaSet({
  takeover = 'none',
}: {
  readonly takeover?: keyof typeof otherPriorities
} = {}): Promise<ReplicaSet> {
  const folder = await mkdtemp(join('/dev/shm', 'feedline-set-')).catch(() =>
    mkdtemp(join(tmpdir(), 'feedline-set-')),
  )
  const { path } = await findMongod({ binFolder, log: () => {} })
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
    await initiate(hosts, otherPriorities[takeover])
  } catch (error) {
    await end()
    throw error
  }
  return {
    uri: `mongodb://${hosts.join(',')}/?replicaSet=${replicaSetName}`,
    hosts,
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
    pause: async (which) => {
      const host = which === 'primary' ? await primaryOf(hosts) : undefined
      const paused = members.filter((_, n) => host === undefined || hosts[n] === host)
      for (const { pid } of paused) signalMongod(pid, 'SIGSTOP')
      return () => {
        for (const { pid } of paused) signalMongod(pid, 'SIGCONT')
      }
    },
    settle: () => firstIsPrimary(hosts),
    [Symbol.asyncDispose]: end,
  }
}

/**
 * The first member becomes the primary: it stands for election, and the others have no higher
 * priority.
 */
async function initiate(hosts: readonly string[], otherPriority: number): Promise<void> {
  const [first = ''] = hosts
  const members = hosts.map((host, _id) => ({ _id, host, priority: _id === 0 ? 2 : otherPriority }))
  const settings = { heartbeatIntervalMillis: 200, electionTimeoutMillis: 2_000 }
  let initiated = false
  await succeeds(async () => {
    if (!initiated) {
      await onMember(first, { replSetInitiate: { _id: replicaSetName, members, settings } })
      initiated = true
    }
    return true
  })
  await firstIsPrimary(hosts)
}

const firstIsPrimary = ([first = '']: readonly string[]) =>
  succeeds(async () => (await onMember(first, { hello: 1 })).isWritablePrimary)

/** Waits until a member is the primary. */
export async function primaryOf(hosts: readonly string[]): Promise<string> {
  let primary: string | undefined
  await succeeds(async () => {
    const states = await Promise.all(hosts.map((host) => onMember(host, { hello: 1 })))
    primary = hosts.find((_, n) => states[n]?.isWritablePrimary)
    return primary !== undefined
  })
  return primary as string
}

/** Repeats `check` until it is true. */
async function succeeds(check: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + primaryMsMax
  while (performance.now() < giveUpAt) {
    // A member may not be up yet.
    if (await check().catch(() => false)) return
    await sleep(100)
  }
  throw new Error('the replica set has no primary')
}

/** Runs a command on one member. */
export async function onMember(host: string, command: object) {
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
