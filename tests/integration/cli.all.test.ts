import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../support/mongo.ts'
import { compiled, root } from '../support/process.ts'

const database = useDatabase()
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-cli-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [`${compiled}/main.js`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { child, ended: endOf(child) }
}

async function endOf(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit'),
  ])
  return { stdout, stderr, code }
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  start(args, env).ended

describe('the error messages of commands', () => {
  test('an unusable data folder is reported with the folder and the error code', async () => {
    const lock = join(folder, 'opening.lock')
    await symlink(lock, lock)
    const { code, stderr } = await run(['indexes'], { FEEDLINE_DATA: folder })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `feedline: FEEDLINE_DATA: the folder ${folder} cannot be used (ELOOP: ${lock}); set a folder that this user may write.\n`,
    })
  })

  test('every compiled module finds the packages and names that it imports', async () => {
    const modules = join(root, 'test-dist/modules')
    const options = ['-p', 'tsconfig.build.json', '--outDir', modules]
    await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), options, { cwd: root })
    const files = await readdir(modules, { recursive: true })
    const all = files.filter((file) => file.endsWith('.js') && file !== 'main.js')
    expect(all.length).toBeGreaterThan(200)
    const code = `for (const file of ${JSON.stringify(all)}) await import('${modules}/' + file)`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
    expect(await endOf(child)).toMatchObject({ code: 0, stderr: '' })
  })

  test('feedline --version prints the version of package.json', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

test('an interrupted feedline load ends with its counts in one line of JSON', async () => {
  const file = join(folder, 'graph.txt')
  const lines = Array.from({ length: 20_000 }, (_, n) => `a${n % 300} b${Math.floor(n / 300)}`)
  await writeFile(file, lines.join('\n'))
  const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
  const load = ['load', file, '--json']
  const { child, ended } = start(load, env)
  const { imports } = database.collections
  const begun = async () => ((await imports.findOne({}))?.position ?? 0) !== 0
  await expect.poll(begun, { interval: 20 }).toBe(true)
  child.kill('SIGINT')
  const first = await ended
  expect(first.code).toBe(130)
  expect(first.stderr).toContain('Interrupted. Repeat the command')
  const done = lastObject(first.stdout)
  const edges = await database.collections.followers.countDocuments()
  expect(done).toMatchObject({ interrupted: true, edges, badLines: 0, total: { edges } })
  expect(edges).toBeGreaterThan(0)
  expect(edges).toBeLessThan(lines.length)
  const second = await run(load, env)
  expect(second.code).toBe(0)
  const rest = lastObject(second.stdout)
  expect(rest).toMatchObject({ edges: lines.length - edges, total: { edges: lines.length } })
  expect(rest).not.toHaveProperty('interrupted')
})

const lastObject = (stdout: string): unknown => JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
