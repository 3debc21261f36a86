import { spawnSync } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstError } from '../../packages/mongod/end-reason.ts'
import { run } from '../../packages/mongod/fetch.ts'
import { acquireLock, withLock } from '../../packages/mongod/lock.ts'
import { limitLog, logFileOf, openLog } from '../../packages/mongod/log.ts'
import { isAlive } from '../../packages/mongod/pid.ts'
import { argumentsFor } from '../../packages/mongod/process.ts'
import { otherUsers, readState, removeState, writeState } from '../../packages/mongod/state.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-unit-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** The id of a process that has just ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

describe('the arguments of mongod', () => {
  test('an extra argument of mongod replaces the default of the same name', () => {
    const extra = ['--wiredTigerCacheSizeGB', '1', '--oplogSize=300']
    const args = argumentsFor('/data', 1234, extra)
    expect(args.filter((arg) => arg === '--wiredTigerCacheSizeGB')).toHaveLength(1)
    expect(args).not.toContain('0.5')
    expect(args).not.toContain('--oplogSize')
    expect(args.slice(-3)).toEqual(extra)
  })

  test('parameters of mongod are added to the default parameters', () => {
    const args = argumentsFor('/data', 1234, ['--setParameter', 'enableTestCommands=1'])
    expect(args.filter((arg) => arg === '--setParameter')).toHaveLength(3)
    expect(args).toContain('transactionLifetimeLimitSeconds=5')
  })
})

describe('the log of mongod', () => {
  const previous = () => readFile(`${logFileOf(folder)}.old`, 'utf8')

  test('a log of mongod beyond its size moves to the previous log, while mongod writes to it', async () => {
    const log = openLog(folder)
    writeSync(log, '1234567890')
    limitLog(folder, 10)
    expect((await stat(logFileOf(folder))).size).toBe(10)
    writeSync(log, '!')
    limitLog(folder, 10)
    writeSync(log, 'later')
    closeSync(log)
    expect(await previous()).toBe('1234567890!')
    expect(await readFile(logFileOf(folder), 'utf8')).toBe('later')
  })

  test('a new log of mongod keeps the last one, and only its owner may read it', async () => {
    closeSync(openLog(folder))
    await writeFile(logFileOf(folder), 'before')
    closeSync(openLog(folder))
    expect(await previous()).toBe('before')
    expect((await stat(logFileOf(folder))).mode & 0o777).toBe(0o600)
    limitLog(join(folder, 'missing'))
  })
})

describe('the first error of mongod', () => {
  const line = (entry: object) => `${JSON.stringify(entry)}\n`
  const chatter = line({ s: 'I', msg: 'Now exiting' })

  test('the first error in a mongod log includes its reason', () => {
    const plain = line({ s: 'E', msg: 'No listener', attr: { error: { errmsg: 'in use' } } })
    const later = line({ s: 'F', msg: 'Fatal assertion' })
    expect(firstError(chatter + plain + later + chatter)).toBe('No listener: in use')
  })

  test('the first error is the plain line if no JSON line is an error', () => {
    expect(firstError('cannot open shared object file\ntry --help\n')).toBe(
      'cannot open shared object file',
    )
  })

  test('a mongod log without an error has no first error', () => {
    expect(firstError(chatter)).toBeUndefined()
    expect(firstError('')).toBeUndefined()
  })
})

describe('the record of who uses a mongod', () => {
  const me = { pid: process.pid, token: 'me' }

  test('the state of a mongod is read back as written, and absent after its removal', () => {
    const state = { pid: 12, port: 34, users: [me], stopping: false }
    writeState(folder, state)
    expect(readState(folder)).toEqual(state)
    removeState(folder)
    expect(readState(folder)).toBeUndefined()
  })

  test('an unreadable state of a mongod counts as absent', async () => {
    await writeFile(join(folder, 'mongod.json'), '{"pid": "12"')
    expect(readState(folder)).toBeUndefined()
  })

  test('the users of a mongod exclude dead processes', () => {
    const other = { pid: process.pid, token: 'other' }
    const users = [me, other, { pid: deadPid(), token: 'dead' }]
    const state = { pid: 12, port: 34, users, stopping: false }
    expect(otherUsers(state, 'me')).toEqual([other])
    expect(otherUsers(state)).toEqual([me, other])
  })
})

describe('the lock', () => {
  test('the file lock has one holder at a time, and leaves no file', async () => {
    const file = join(folder, 'lock')
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await sleep(20)
      inside--
    }
    await Promise.all([1, 2, 3, 4].map(() => withLock(file, work)))
    expect(most).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })

  test('the file lock is released if the work fails', async () => {
    const file = join(folder, 'lock')
    await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await withLock(file, async () => 'yes')).toBe('yes')
  })

  test.each([
    ['a holder that died', () => `${deadPid()} token`, 0],
    ['a holder without a heartbeat', () => `${process.pid} token`, 60_000],
  ])('the file lock of %s is taken over', async (_, content, ageMs) => {
    const file = join(folder, 'lock')
    await writeFile(file, content())
    const touched = new Date(Date.now() - ageMs)
    await utimes(file, touched, touched)
    const holders = ['a', 'b', 'c'].map((name) => withLock(file, async () => name))
    expect(await Promise.all(holders)).toEqual(['a', 'b', 'c'])
    expect(await readdir(folder)).toEqual([])
  })

  test('the file lock waits for a live holder', async () => {
    const file = join(folder, 'lock')
    const release = await acquireLock(file)
    let entered = false
    const waiting = withLock(file, async () => {
      entered = true
    })
    await sleep(200)
    expect(entered).toBe(false)
    await release()
    await waiting
    expect(entered).toBe(true)
  })
})

describe('a program that fetches', () => {
  const node = (script: string, log: (line: string) => void = () => {}) =>
    run(process.execPath, ['-e', script], { env: {}, log, msMax: 3_000 })

  test('each output line of a fetching program is logged', async () => {
    const lines: string[] = []
    await node("console.log('first'); console.log('second')", (line) => lines.push(line))
    expect(lines).toEqual(['first', 'second'])
  })

  test('a failed fetching program is reported with the last line of its standard error', async () => {
    const script = "console.error('first'); console.error('last'); process.exit(3)"
    await expect(node(script)).rejects.toThrow(/^last$/)
  })

  test('a failed fetching program without error output is reported with its exit code', async () => {
    await expect(node('process.exit(3)')).rejects.toThrow('the command ended with 3')
  })

  test('a fetching program that runs too long is ended and reported', async () => {
    await expect(node('for (;;);')).rejects.toThrow('the command ran longer than 3 s')
  })
})

test('isAlive is false for a dead process and true for this process', () => {
  expect(isAlive(deadPid())).toBe(false)
  expect(isAlive(process.pid)).toBe(true)
})
