import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exclusively, hold } from '../../src/dev/mongod/lock.ts'
import { isAlive } from '../../src/dev/mongod/pid.ts'
import { argumentsFor, lastWords } from '../../src/dev/mongod/process.ts'
import { readState, removeState, usersBeside, writeState } from '../../src/dev/mongod/state.ts'
import { runWatched } from '../../src/dev/mongod/watched.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-unit-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** The id of a process that has just ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

describe('the arguments of mongod', () => {
  test('an extra argument replaces the default of its name', () => {
    const extra = ['--wiredTigerCacheSizeGB', '1', '--oplogSize=300']
    const args = argumentsFor('/data', 1234, extra)
    expect(args.filter((arg) => arg === '--wiredTigerCacheSizeGB')).toHaveLength(1)
    expect(args).not.toContain('0.5')
    expect(args).not.toContain('--oplogSize')
    expect(args.slice(-3)).toEqual(extra)
  })

  test('parameters add up', () => {
    const args = argumentsFor('/data', 1234, ['--setParameter', 'enableTestCommands=1'])
    expect(args.filter((arg) => arg === '--setParameter')).toHaveLength(3)
    expect(args).toContain('transactionLifetimeLimitSeconds=5')
  })
})

describe('the last words of mongod', () => {
  const line = (entry: object) => `${JSON.stringify(entry)}\n`
  const chatter = line({ s: 'I', msg: 'Now exiting' })

  test('are its first error with the reason', () => {
    const plain = line({ s: 'E', msg: 'No listener', attr: { error: { errmsg: 'in use' } } })
    const later = line({ s: 'F', msg: 'Fatal assertion' })
    expect(lastWords(chatter + plain + later + chatter)).toBe('No listener: in use')
  })

  test('are the plain line where there is no error', () => {
    expect(lastWords('cannot open shared object file\ntry --help\n')).toBe(
      'cannot open shared object file',
    )
  })

  test('may be missing', () => {
    expect(lastWords(chatter)).toBeUndefined()
    expect(lastWords('')).toBeUndefined()
  })
})

describe('the record of who uses a mongod', () => {
  const me = { pid: process.pid, token: 'me' }

  test('is read back as written, and gone once removed', () => {
    const state = { pid: 12, port: 34, users: [me], stopping: false }
    writeState(folder, state)
    expect(readState(folder)).toEqual(state)
    removeState(folder)
    expect(readState(folder)).toBeUndefined()
  })

  test('is none when it cannot be read', async () => {
    await writeFile(join(folder, 'mongod.json'), '{"pid": "12"')
    expect(readState(folder)).toBeUndefined()
  })

  test('counts no dead user', () => {
    const other = { pid: process.pid, token: 'other' }
    const users = [me, other, { pid: deadPid(), token: 'dead' }]
    const state = { pid: 12, port: 34, users, stopping: false }
    expect(usersBeside(state, 'me')).toEqual([other])
    expect(usersBeside(state)).toEqual([me, other])
  })
})

describe('exclusively', () => {
  test('runs one at a time, and leaves nothing behind', async () => {
    const file = join(folder, 'lock')
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await sleep(20)
      inside--
    }
    await Promise.all([1, 2, 3, 4].map(() => exclusively(file, work)))
    expect(most).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })

  test('gives the lock back when the work fails', async () => {
    const file = join(folder, 'lock')
    await expect(exclusively(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await exclusively(file, async () => 'yes')).toBe('yes')
  })

  test.each([
    ['a holder that died', () => `${deadPid()} token`, 0],
    ['a holder that has been still for long', () => `${process.pid} token`, 60_000],
  ])('takes over the lock of %s', async (_, content, ageMs) => {
    const file = join(folder, 'lock')
    await writeFile(file, content())
    const touched = new Date(Date.now() - ageMs)
    await utimes(file, touched, touched)
    const holders = ['a', 'b', 'c'].map((name) => exclusively(file, async () => name))
    expect(await Promise.all(holders)).toEqual(['a', 'b', 'c'])
    expect(await readdir(folder)).toEqual([])
  })

  test('waits for a holder that lives', async () => {
    const file = join(folder, 'lock')
    const release = await hold(file)
    let entered = false
    const waiting = exclusively(file, async () => {
      entered = true
    })
    await sleep(200)
    expect(entered).toBe(false)
    await release()
    await waiting
    expect(entered).toBe(true)
  })
})

describe('a watched program', () => {
  const run = (script: string, idleMs = 10_000) =>
    runWatched(process.execPath, ['-e', script], { env: {}, folder, idleMs, say: () => {} })

  test('gives its output', async () => {
    expect(await run("console.log('out')")).toBe('out\n')
  })

  test('fails with the last line of what it complained of', async () => {
    const script = "console.error('first'); console.error('last'); process.exit(3)"
    await expect(run(script)).rejects.toThrow(/^last$/)
  })

  test('fails with its exit code when it does not complain', async () => {
    await expect(run('process.exit(3)')).rejects.toThrow('the command ended with 3')
  })

  test('is ended when its folder does not grow', async () => {
    await expect(run('setTimeout(() => {}, 60000)', 500)).rejects.toThrow('no output for 0.5 s')
  })

  test('is let through while its folder grows', async () => {
    const file = JSON.stringify(join(folder, 'growing'))
    const grow = `require('fs').appendFileSync(${file}, 'x')`
    const script = `const t = setInterval(() => ${grow}, 200)
      setTimeout(() => clearInterval(t), 4000)`
    expect(await run(script, 1_500)).toBe('')
  })
})

test('a dead process is not alive, and this one is', () => {
  expect(isAlive(deadPid())).toBe(false)
  expect(isAlive(process.pid)).toBe(true)
})
