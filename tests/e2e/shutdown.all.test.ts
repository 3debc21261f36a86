import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { MongoClient } from 'mongodb'
import { expect, inject, test } from 'vitest'
import { release } from '../../src/lib/release.ts'
import { failCommand, useDatabase } from '../support/mongo.ts'
import { compiled, feedline, root } from '../support/process.ts'

const database = useDatabase()

const settings = (env: Readonly<Record<string, string>> = {}) => ({
  MONGODB_URI: inject('mongoUri'),
  MONGODB_DATABASE: database.name,
  PORT: '0',
  ...env,
})

async function serving(env: Readonly<Record<string, string>> = {}) {
  const server = feedline(['serve'], settings(env))
  const [, admin = ''] = await server.says(/metrics and probes: (http:\/\/[^/]+)\/metrics/)
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  return { server, url, admin }
}

const ask = (url: string, query = '{ user(handle: "ann") { name } }') =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Dev ann' },
    body: JSON.stringify({ query }),
  })

test('on SIGTERM readiness says 503 while requests are answered and connections closed, then the server ends', async () => {
  const { server, url, admin } = await serving({ DRAIN_SECONDS: '1' })
  expect((await ask(url)).headers.get('connection')).toBe('keep-alive')
  server.child.kill('SIGTERM')
  await server.says(/SIGTERM: draining for 1 s/)
  for (const base of [url, admin]) {
    const probe = await fetch(`${base}/readyz`)
    expect([probe.status, await probe.json()]).toEqual([503, { status: 'stopping' }])
  }
  expect((await fetch(`${admin}/livez`)).status).toBe(200)
  const answer = await ask(url)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect(await server.ended).toBe(0)
  expect(server.err()).toBe('')
})

test('a worker in its drain is not ready, and ends', async () => {
  const worker = feedline(['worker'], settings({ DRAIN_SECONDS: '1' }))
  const [, admin = ''] = await worker.says(/metrics and probes: (http:\/\/[^/]+)\/metrics/)
  expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  worker.child.kill('SIGTERM')
  await worker.says(/draining/)
  expect((await fetch(`${admin}/readyz`)).status).toBe(503)
  expect(await worker.ended).toBe(0)
})

test('a request that does not end is answered with UNAVAILABLE, and the server ends within its time', async () => {
  const { server, url } = await serving({ REQUEST_TIMEOUT_SECONDS: '60' })
  // The process has a client of its own, so the failure is limited by database and not by client.
  const { hosts } = database.client.options
  const client = { options: { appName: 'feedline', hosts } } as unknown as MongoClient
  await using _ = await failCommand(client, {
    failCommands: ['find', 'update', 'findAndModify'],
    namespace: `${database.name}.user_stats`,
    blockMs: 4_000,
  })
  // Each waits for the one before it, so together they take longer than a stop.
  const mute = 'muteUser(input: { user: { handle: "ben" } }) { changed }'
  const asked = ask(url, `mutation { ${Array.from({ length: 6 }, (_, n) => `m${n}: ${mute}`)} }`)
  const half = createConnection(Number(new URL(url).port))
  await once(half, 'connect')
  half.write(
    'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  )
  const cut = text(half)
  await new Promise((resolve) => setTimeout(resolve, 200))
  server.child.kill('SIGTERM')
  const answer = await asked
  const requestId = answer.headers.get('x-request-id')
  expect([answer.status, answer.headers.get('connection'), await answer.json()]).toEqual([
    503,
    'close',
    {
      errors: [
        {
          message: expect.stringContaining('The server stops'),
          extensions: { code: 'UNAVAILABLE', requestId, release, retryAfterSeconds: 1 },
        },
      ],
    },
  ])
  expect(await cut).toMatch(/^HTTP\/1\.1 503 .*"UNAVAILABLE"/s)
  expect(await server.ended).toBe(0)
})

test('a second signal ends the process at once', async () => {
  const { server } = await serving({ DRAIN_SECONDS: '60' })
  server.child.kill('SIGTERM')
  await server.says(/draining/)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(1)
  expect(server.out()).toContain('a second signal (SIGTERM): stopped at once')
})

test('npm start passes SIGTERM on to the server, and ends with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-npm-'))
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, compiled), join(folder, 'dist'))
  const { PATH, HOME } = process.env
  // Without scripts: the build has been done.
  const npm = spawn('npm', ['start', '--ignore-scripts'], {
    cwd: folder,
    env: { PATH, HOME, ...settings() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  npm.stdout.on('data', (chunk) => {
    out += chunk
  })
  await expect.poll(() => out).toMatch(/GraphQL: http/)
  const pid = Number(/"pid":(\d+)/.exec(out)?.[1])
  try {
    npm.kill('SIGTERM')
    await once(npm, 'exit')
    await expect.poll(() => isRunning(pid)).toBe(false)
    expect(out).toContain('stopped')
  } finally {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    await rm(folder, { recursive: true })
  }
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
