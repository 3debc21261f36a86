import { randomUUID } from 'node:crypto'
import { chmod, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { bugOf } from '../../src/lib/bug.ts'
import { endReason, firstError, fullDisk } from './end-reason.ts'
import { MongodError } from './error.ts'
import { findMongod, type MongodBinary } from './find.ts'
import { withLock } from './lock.ts'
import { limitLog, logFileOf, readLog } from './log.ts'
import { hasEnded, isAlive } from './pid.ts'
import { ensurePrimary, pidBehind, replicaSetName } from './primary.ts'
import { dbFolderOf, endMongod, freePort, signalMongod, spawnMongod } from './process.ts'
import {
  type MongodState,
  type MongodUser,
  otherUsers,
  readState,
  removeState,
  writeState,
} from './state.ts'

const primaryMsMax = 60_000
const stoppingMsMax = 20_000
const portTries = 3
const watchMs = 1_000
const ownerOnly = 0o700

// MongoMemoryReplSet of mongodb-memory-server does not fit. It ends mongod with the process that
// started it, although other processes may still use it. It finds no primary if the data was
// created under another port.

/** Where an embedded mongod keeps its data, and how it is found and started. */
export interface MongodOptions {
  /** Holds the database, the log and the list of users. Created if it is missing. */
  readonly dataFolder: string
  /** Keeps a fetched mongod. Default: `bin` in the data folder. */
  readonly binFolder?: string | undefined
  /** Receives a line for each step that takes a while. */
  readonly log: (line: string) => void
  /** More arguments for mongod; they replace the defaults of the same name. */
  readonly extraArgs?: readonly string[] | undefined
}

/** One opening of the mongod of a data folder. */
export interface EmbeddedMongod {
  /** Names the replica set, so the driver waits for a primary instead of failing on a secondary. */
  readonly uri: string
  /** One line for the log: which mongod, where, on which data. */
  readonly description: string
  /** Whether another process, or an earlier opening in this process, was using it already. */
  readonly joined: boolean
  /** Resolves, with a sentence, if mongod ends before its last user has stopped it. */
  readonly lost: Promise<string>
  /** Ends this opening. The last user ends mongod, cleanly, before this returns. */
  stop(): Promise<void>
}

/**
 * Opens the database in a data folder: joins the mongod that serves it, takes over one whose users
 * have died, or starts one. It is the writable primary of a one-member replica set, so that
 * transactions work. mongod runs until its last user stops or exits. A killed user leaves it
 * running for the next user. Openings of one folder run in sequence, also from several processes.
 * @throws {MongodError} when no mongod can be found or started, or another one holds the folder.
 */
export async function openMongod(options: MongodOptions): Promise<EmbeddedMongod> {
  const dataFolder = resolve(options.dataFolder)
  return withFolder(dataFolder, async () => {
    const me = { pid: process.pid, token: randomUUID() }
    const running = await findRunning(dataFolder)
    if (running) return joinRunning(dataFolder, running, me)
    return start({ ...options, dataFolder }, me)
  })
}

async function withFolder<T>(dataFolder: string, work: () => Promise<T>): Promise<T> {
  try {
    // The data folder may hold more than the database, so only a new one is closed to other users.
    await mkdir(dataFolder, { recursive: true, mode: ownerOnly })
    await mkdir(dbFolderOf(dataFolder), { recursive: true })
    await chmod(dbFolderOf(dataFolder), ownerOnly)
    return await withLock(join(dataFolder, 'opening.lock'), work)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // A write to an open file names no path.
    if (code === 'ENOSPC') {
      throw new MongodError(
        `FEEDLINE_DATA: the disk of ${dataFolder} is full; free some space and start again.`,
      )
    }
    const concernsFolder = path?.startsWith(dataFolder) || (path && dataFolder.startsWith(path))
    if (!code || !concernsFolder) throw error
    throw new MongodError(
      `FEEDLINE_DATA: the folder ${dataFolder} cannot be used (${code}: ${path}); set a folder that this user may write.`,
    )
  }
}

async function findRunning(dataFolder: string): Promise<MongodState | undefined> {
  const state = readState(dataFolder)
  if (!state || (await hasEnded(state.pid, state.stopping ? stoppingMsMax : 0))) return undefined
  // After a reboot, another process may have the recorded id.
  return !state.stopping && (await pidBehind(state.port)) === state.pid ? state : undefined
}

async function joinRunning(dataFolder: string, state: MongodState, me: MongodUser) {
  const others = otherUsers(state)
  await ensurePrimary(addressOf(state), { withinMs: primaryMsMax }).catch((error: Error) => {
    if (bugOf(error)) throw error
    throw new MongodError(`The mongod of ${dataFolder} does not answer: ${error.message}.`)
  })
  writeState(dataFolder, { ...state, users: [...others, me] })
  const [other] = others
  const origin = other ? `shared with process ${other.pid}` : 'left by a process that died'
  return opened({ dataFolder, state, me, origin: `mongod ${origin}`, joined: other !== undefined })
}

type StartOptions = MongodOptions & { readonly dataFolder: string }

async function start(options: StartOptions, me: MongodUser): Promise<EmbeddedMongod> {
  const { dataFolder, log } = options
  const binFolder = resolve(options.binFolder ?? join(dataFolder, 'bin'))
  const binary = await findMongod({ binFolder, log })
  for (let attempt = 1; ; attempt++) {
    const started = await startOnce(options, binary, me)
    if (typeof started === 'object') {
      return opened({ dataFolder, state: started, me, origin: binary.origin, joined: false })
    }
    if (/Address already in use/.test(started) && attempt < portTries) continue
    throw new MongodError(
      /DBPathInUse|Unable to lock the lock file/.test(started)
        ? `The data folder ${dataFolder} is in use by another mongod: stop that mongod, or use another folder.`
        : `mongod did not start: ${started} (its log: ${logFileOf(dataFolder)}).`,
    )
  }
}

/** @returns the state of a mongod that is the primary, or why there is none: then it has ended. */
async function startOnce(
  { dataFolder, extraArgs = [] }: StartOptions,
  { path }: MongodBinary,
  me: MongodUser,
): Promise<MongodState | string> {
  const port = await freePort()
  const mongod = await spawnMongod(path, dataFolder, port, extraArgs).catch((error: Error) => {
    throw new MongodError(`${path} does not start: ${error.message}.`)
  })
  const state = { pid: mongod.pid, port, users: [me], stopping: false }
  writeState(dataFolder, state)
  const stop = new AbortController()
  const primary = ensurePrimary(addressOf(state), { withinMs: primaryMsMax, signal: stop.signal })
  const failure = await Promise.race([mongod.ended, primary.catch((error: Error) => error)])
  if (failure === undefined) return state
  stop.abort()
  await endMongod(mongod.pid)
  removeState(dataFolder)
  if (failure instanceof Error && bugOf(failure)) throw failure
  const message = failure instanceof Error ? failure.message : failure
  return (await fullDisk(dataFolder)) ?? firstError(readLog(dataFolder)) ?? message
}

const addressOf = ({ port }: MongodState) => `127.0.0.1:${port}`

/** A running mongod, and who uses it from now on. */
interface Running {
  readonly dataFolder: string
  readonly state: MongodState
  readonly me: MongodUser
  /** Where the binary came from. */
  readonly origin: string
  /** Whether another process had started it. */
  readonly joined: boolean
}

function opened({ dataFolder, state, me, origin, joined }: Running): EmbeddedMongod {
  const { pid } = state
  const address = addressOf(state)
  const onExit = () => {
    if (removeUser(dataFolder, pid, me)) signalMongod(pid, 'SIGTERM')
  }
  process.once('exit', onExit)
  let stopped: Promise<void> | undefined
  const watch = watchProcess(pid, dataFolder)
  const stop = () =>
    withFolder(dataFolder, async () => {
      process.off('exit', onExit)
      watch.end()
      if (!removeUser(dataFolder, pid, me)) return
      await endMongod(pid)
      removeState(dataFolder)
    }).catch((error) => {
      // The disk of a mongod that has ended may be full, and take no lock and no state. The next
      // start needs none.
      if (isAlive(pid)) throw error
    })
  return {
    uri: `mongodb://${address}/?replicaSet=${replicaSetName}`,
    description: `embedded ${origin}, on ${address}, data in ${dataFolder}`,
    joined,
    lost: watch.lost,
    stop: () => (stopped ??= stop()),
  }
}

/**
 * Checks every second whether mongod still runs, and limits its log, without keeping this process
 * alive.
 */
function watchProcess(pid: number, dataFolder: string) {
  let timer: NodeJS.Timeout | undefined
  const lost = new Promise<string>((resolve) => {
    timer = setInterval(async () => {
      limitLog(dataFolder)
      if (!(await hasEnded(pid, 0))) return
      clearInterval(timer)
      resolve(`The embedded mongod ended: ${await endReason(dataFolder)}.`)
    }, watchMs).unref()
  })
  return { lost, end: () => clearInterval(timer) }
}

/** Removes a user from the state. @returns whether mongod has no user left and must end. */
function removeUser(dataFolder: string, mongodPid: number, me: MongodUser): boolean {
  const state = readState(dataFolder)
  if (!state) return true
  if (state.pid !== mongodPid) return false
  const users = otherUsers(state, me.token)
  writeState(dataFolder, { ...state, users, stopping: users.length === 0 })
  return users.length === 0
}
