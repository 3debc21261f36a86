import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { findMongod } from '../../src/dev/mongod/find.ts'
import { ensurePrimary, replicaSetName } from '../../src/dev/mongod/primary.ts'
import { dbFolderOf, freePort, signalMongod, spawnMongod } from '../../src/dev/mongod/process.ts'
import { binFolder } from './bin-folder.ts'
import { patient } from './patience.ts'

const args = [
  ...['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64'],
  ...['--setParameter', 'enableTestCommands=1'],
]
const primaryMsMax = patient(60_000)

/** A replica set of one member, which can be lost. Disposing of it kills the member. */
export interface TimelinesSet extends AsyncDisposable {
  readonly uri: string
  /** Kills the member with SIGKILL. */
  readonly kill: () => Promise<void>
  /** Stops the member with SIGSTOP until {@link thaw}. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Makes commands of the member fail, or wait, until the result is disposed of. */
  readonly fail: (failure: SetFailure) => Promise<AsyncDisposable>
  /** Saves the files of the member, which must not run. */
  readonly save: () => Promise<void>
  /** Starts the member on the same port, with the files that it had, and waits until it is the primary. */
  readonly start: (how?: 'empty' | 'saved') => Promise<void>
}

/** Which commands of a member fail, and how. */
interface SetFailure {
  readonly failCommands: readonly string[]
  /** The database and collection whose commands fail. Default: all. */
  readonly namespace?: string
  readonly errorCode?: number
  /** The command waits before the server runs it, in milliseconds. */
  readonly blockTimeMS?: number
}

async function configureFailure(uri: string, mode: string, data: object = {}): Promise<void> {
  const client = await MongoClient.connect(uri)
  try {
    await client.db('admin').command({ configureFailPoint: 'failCommand', mode, data })
  } finally {
    await client.close()
  }
}

/** Starts a replica set of one member, on a folder in memory if possible. */
export async function timelinesSet(): Promise<TimelinesSet> {
  const folder = await mkdtemp(join('/dev/shm', 'feedline-timelines-')).catch(() =>
    mkdtemp(join(tmpdir(), 'feedline-timelines-')),
  )
  const mongodBinary = process.env.MONGOD_BINARY
  const { path } = await findMongod({ mongodBinary, binFolder, log: () => {} })
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  let member: Awaited<ReturnType<typeof spawnMongod>> | undefined
  const [files, saved] = [dbFolderOf(folder), join(folder, 'saved')]
  const start = async (how?: 'empty' | 'saved') => {
    if (how) await rm(files, { recursive: true, force: true })
    if (how === 'saved') await cp(saved, files, { recursive: true })
    await mkdir(files, { recursive: true })
    member = await spawnMongod(path, folder, port, args)
    await ensurePrimary(address, { withinMs: primaryMsMax })
  }
  const signal = (name: NodeJS.Signals) => {
    if (member) signalMongod(member.pid, name)
  }
  const kill = async () => {
    signal('SIGKILL')
    await member?.ended
    member = undefined
  }
  await start()
  const uri = `mongodb://${address}/?replicaSet=${replicaSetName}`
  return {
    uri,
    kill,
    fail: async (failure) => {
      const blockConnection = failure.blockTimeMS !== undefined
      await configureFailure(uri, 'alwaysOn', { ...failure, blockConnection })
      return { [Symbol.asyncDispose]: () => configureFailure(uri, 'off') }
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    save: () => cp(files, saved, { recursive: true }),
    start,
    [Symbol.asyncDispose]: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
