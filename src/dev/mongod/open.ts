import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { EmbeddedError } from './error.ts'
import { findMongod, type MongodBinary } from './find.ts'
import { exclusively } from './lock.ts'
import { hasEnded } from './pid.ts'
import { ensurePrimary, pidBehind, replicaSetName } from './primary.ts'
import {
  dbFolderOf,
  endMongod,
  freePort,
  lastWords,
  logFileOf,
  type MongodProcess,
  readLog,
  signalMongod,
  spawnMongod,
} from './process.ts'
import {
  type EmbeddedState,
  type EmbeddedUser,
  readState,
  removeState,
  usersBeside,
  writeState,
} from './state.ts'

const primaryMsMax = 60_000
const stoppingMsMax = 20_000
const portTries = 3
const lookMs = 1_000
const addressInUseExit = 48

/** Where an embedded mongod keeps its data, and how it is found and started. */
export interface EmbeddedOptions {
  /** Holds the database, the log and the record of who uses it. Made when missing. */
  readonly dataFolder: string
  /** Where a fetched mongod is kept. Default: `bin` in the data folder. */
  readonly binFolder?: string | undefined
  /** The mongod to use, whatever else there is. */
  readonly mongodBinary: string | undefined
  /** Told what is going on where that takes a while. */
  readonly say: (line: string) => void
  /** More arguments for mongod; they replace the defaults of the same name. */
  readonly extraArgs?: readonly string[] | undefined
}

/** One opening of the mongod of a data folder. */
export interface EmbeddedMongod {
  /** Names the replica set, so the driver waits for a primary instead of failing on a secondary. */
  readonly uri: string
  /** One line for the log: which mongod, where, on which data. */
  readonly description: string
  /** Whether another process, or an earlier opening in this one, was using it already. */
  readonly joined: boolean
  /** Resolves, with a sentence, should mongod end though nobody gave it back. */
  readonly lost: Promise<string>
  /** Gives it back. The last user to do so ends mongod, cleanly, before this returns. */
  stop(): Promise<void>
}

/**
 * Opens the database in a data folder: joins the mongod that serves it, takes over one whose users
 * have died, or starts one. It is the writable primary of a one-member replica set, so that
 * transactions work. mongod stays until its last user stops or exits; a user that is killed leaves
 * it running for the next. Openings of one folder go one after the other, in whichever process.
 * @throws {EmbeddedError} when no mongod can be found or started, or another one holds the folder.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedMongod> {
  const dataFolder = resolve(options.dataFolder)
  return withFolder(dataFolder, async () => {
    const me = { pid: process.pid, token: randomUUID() }
    const running = await findRunning(dataFolder)
    if (running) return joinRunning(dataFolder, running, me)
    return start({ ...options, dataFolder }, me)
  })
}

async function makeFolder(dataFolder: string): Promise<void> {
  try {
    await mkdir(dbFolderOf(dataFolder), { recursive: true })
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    throw new EmbeddedError(`The data folder ${dataFolder} cannot be created (${why}).`)
  }
}

async function withFolder<T>(dataFolder: string, work: () => Promise<T>): Promise<T> {
  await makeFolder(dataFolder)
  try {
    return await exclusively(join(dataFolder, 'opening.lock'), work)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (!code || !path?.startsWith(dataFolder)) throw error
    throw new EmbeddedError(`The data folder ${dataFolder} cannot be used (${code}: ${path}).`)
  }
}

async function findRunning(dataFolder: string): Promise<EmbeddedState | undefined> {
  const state = readState(dataFolder)
  if (!state || (await hasEnded(state.pid, 0))) return undefined
  if (state.stopping) {
    await hasEnded(state.pid, stoppingMsMax)
    return undefined
  }
  return (await pidBehind(state.port)) === state.pid ? state : undefined
}

async function joinRunning(dataFolder: string, state: EmbeddedState, me: EmbeddedUser) {
  const others = usersBeside(state)
  await ensurePrimary(addressOf(state.port), { withinMs: primaryMsMax }).catch((error: Error) => {
    throw new EmbeddedError(`The mongod of ${dataFolder} does not answer: ${error.message}.`)
  })
  writeState(dataFolder, { ...state, users: [...others, me] })
  const [other] = others
  const origin = other ? `shared with process ${other.pid}` : 'left by a process that died'
  return opened(dataFolder, state, me, `mongod ${origin}`, other !== undefined)
}

type Start = EmbeddedOptions & { readonly dataFolder: string }

async function start(options: Start, me: EmbeddedUser): Promise<EmbeddedMongod> {
  const { dataFolder, mongodBinary, say } = options
  const binFolder = resolve(options.binFolder ?? join(dataFolder, 'bin'))
  const binary = await findMongod({ mongodBinary, binFolder, say })
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const mongod = await spawned(options, binary, port)
    const state = { pid: mongod.pid, port, users: [me], stopping: false }
    writeState(dataFolder, state)
    const failure = await failureToBePrimary(mongod, port)
    if (!failure) return opened(dataFolder, state, me, binary.origin, false)
    removeState(dataFolder)
    if (failure.code === addressInUseExit && attempt < portTries) continue
    throw new EmbeddedError(failureSentence(dataFolder, failure))
  }
}

async function spawned(options: Start, binary: MongodBinary, port: number): Promise<MongodProcess> {
  try {
    return await spawnMongod(binary.path, options.dataFolder, port, options.extraArgs ?? [])
  } catch (error) {
    throw new EmbeddedError(`${binary.path} does not start: ${(error as Error).message}.`)
  }
}

interface Failure {
  /** The exit code, when mongod ended by itself. */
  readonly code: number | null
  readonly how: string
}

/** Waits for mongod to be the primary. @returns why it is not; then it has ended. */
async function failureToBePrimary(
  mongod: MongodProcess,
  port: number,
): Promise<Failure | undefined> {
  const stop = new AbortController()
  const ended = mongod.ended.then(({ code, signal }): Failure => {
    stop.abort()
    return { code, how: `it ended with ${code ?? signal}` }
  })
  const wait = { withinMs: primaryMsMax, signal: stop.signal }
  const primary = ensurePrimary(addressOf(port), wait).then(() => undefined)
  try {
    return await Promise.race([ended, primary])
  } catch (error) {
    if (stop.signal.aborted) return ended
    await endMongod(mongod.pid)
    return { code: null, how: (error as Error).message }
  }
}

function failureSentence(dataFolder: string, { how }: Failure): string {
  const words = lastWords(readLog(dataFolder)) ?? how
  return /DBPathInUse|Unable to lock the lock file/.test(words)
    ? `The data folder ${dataFolder} is in use by another mongod: stop that mongod, or use another folder.`
    : `mongod did not start: ${words} (its log: ${logFileOf(dataFolder)}).`
}

const addressOf = (port: number) => `127.0.0.1:${port}`

function opened(
  dataFolder: string,
  { pid, port }: EmbeddedState,
  me: EmbeddedUser,
  origin: string,
  joined: boolean,
): EmbeddedMongod {
  const onExit = () => {
    if (left(dataFolder, pid, me)) signalMongod(pid, 'SIGTERM')
  }
  process.once('exit', onExit)
  let stopped: Promise<void> | undefined
  const watch = watchFor(pid, dataFolder)
  const stop = () =>
    withFolder(dataFolder, async () => {
      process.off('exit', onExit)
      watch.end()
      if (!left(dataFolder, pid, me)) return
      await endMongod(pid)
      removeState(dataFolder)
    })
  return {
    uri: `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSetName}`,
    description: `embedded ${origin}, on 127.0.0.1:${port}, data in ${dataFolder}`,
    joined,
    lost: watch.lost,
    stop: () => (stopped ??= stop()),
  }
}

/** Looks every second whether mongod is still there, without keeping this process alive. */
function watchFor(pid: number, dataFolder: string) {
  let timer: NodeJS.Timeout | undefined
  const lost = new Promise<string>((resolve) => {
    const look = async () => {
      if (await hasEnded(pid, 0)) {
        clearInterval(timer)
        resolve(`The embedded mongod ended unexpectedly (its log: ${logFileOf(dataFolder)}).`)
      }
    }
    timer = setInterval(look, lookMs).unref()
  })
  return { lost, end: () => clearInterval(timer) }
}

/** Strikes a user off the record. @returns whether mongod has no user left and is to end. */
function left(dataFolder: string, mongodPid: number, me: EmbeddedUser): boolean {
  const state = readState(dataFolder)
  if (!state) return true
  if (state.pid !== mongodPid) return false
  const users = usersBeside(state, me.token)
  writeState(dataFolder, { ...state, users, stopping: users.length === 0 })
  return users.length === 0
}
