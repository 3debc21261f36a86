import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { viewerNodeId } from '../../src/graphql/node-id.ts'
import { release } from '../../src/lib/release.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { subjectOf } from '../support/services.ts'

const database = useDatabase()
const settings = () => ({
  MONGODB_URI: inject('mongoUri'),
  MONGODB_DATABASE: database.name,
  PORT: '0',
})

/** Starts a server, and gives its URL. */
async function serving(env: Readonly<Record<string, string>> = {}) {
  const server = feedline(['serve'], { ...settings(), ...env })
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  return { server, url }
}

describe('a server', () => {
  test('a server logs its database, URL and strategy, answers requests, and stops on a signal', async () => {
    const { server, url } = await serving()
    await server.says(/timeline strategy/)
    const lines = server.out().trim().split('\n')
    const said = lines.map((line) => JSON.parse(line).msg as string)
    expect(
      said.filter((line) => /^database: MongoDB at .*, database test_/.test(line)),
    ).toHaveLength(1)
    expect(said.filter((line) => line.startsWith('GraphQL: http://localhost:'))).toHaveLength(1)
    expect(
      said.filter((line) => line.startsWith('timeline strategy: FANOUT_ON_READ')),
    ).toHaveLength(1)
    for (const path of ['/healthz', '/readyz']) {
      expect((await fetch(`${url}${path}`)).status).toBe(200)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(server.err()).toBe('')
  })

  test('a server and a worker log the release and their deployment', async () => {
    for (const command of ['serve', 'worker'] as const) {
      const running = feedline([command], settings())
      await running.says(/metrics and probes/)
      running.child.kill('SIGTERM')
      expect(await running.ended).toBe(0)
      const lines = running.out().trim().split('\n')
      const said = lines.map((line) => JSON.parse(line).msg as string)
      expect(said[0]).toBe(`release: Feedline ${release}`)
      expect(said.filter((msg) => /^deployment:/.test(msg))).toEqual(['deployment: replica set'])
    }
  })

  test('a server keeps an idle connection longer than balancers do, and says so', async () => {
    const { server, url } = await serving()
    const agent = new Agent({ keepAlive: true })
    const ask = async () => {
      const request = get(`${url}/healthz`, { agent })
      const [answer] = (await once(request, 'response')) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
      return { header: answer.headers['keep-alive'], isOld: request.reusedSocket }
    }
    expect(await ask()).toEqual({ header: 'timeout=620', isOld: false })
    expect(await ask()).toEqual({ header: 'timeout=620', isOld: true })
    agent.destroy()
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })

  test('a server listens on an IPv6 address in brackets', async () => {
    const { server, url } = await serving({ HOST: '[::1]' })
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })

  test('the playground loads no external resource and has a field for the Authorization header', async () => {
    const { server, url } = await serving()
    const page = await (await fetch(url)).text()
    const loads = page.matchAll(
      /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?([^"'\s>]+)/g,
    )
    const elsewhere = Array.from(loads, ([, from = '']) => from).filter((from) =>
      /^(https?:)?\/\//.test(from),
    )
    expect(elsewhere).toEqual([])
    expect(page).toContain('Dev alice')
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
  })

  test('production has no playground', async () => {
    const secret = { NODE_ENV: 'production', AUTH_JWT_SECRET: 's'.repeat(32), DRAIN_SECONDS: '0' }
    const { server, url } = await serving(secret)
    expect((await fetch(url)).status).toBe(404)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })
})

describe('a server that cannot start prints one sentence and exits with 1:', () => {
  const refused = async (env: Readonly<Record<string, string>>) => {
    const { code, stderr } = await runCommand(['serve'], { ...settings(), ...env })
    expect(code).toBe(1)
    const lines = stderr.trim().split('\n')
    expect(lines).toHaveLength(1)
    return lines[0] ?? ''
  }

  test('a server on a used port prints one sentence and exits with 1', async () => {
    const { server, url } = await serving()
    const port = new URL(url).port
    expect(await refused({ PORT: port })).toContain(`PORT: port ${port} of 127.0.0.1 is in use`)
    server.child.kill('SIGTERM')
    await server.ended
  })

  test('a server with several configuration errors prints them and exits with 1', async () => {
    const said = await refused({ PORT: 'x', FEED_STRATEGY: 'ELSE', AUTH_JWT_SECRET: 'short' })
    for (const name of ['PORT', 'FEED_STRATEGY', 'AUTH_JWT_SECRET']) expect(said).toContain(name)
  })

  test('a server in production without MONGODB_URI prints one sentence and exits with 1', async () => {
    const env = { NODE_ENV: 'production', AUTH_JWT_SECRET: 's'.repeat(32), MONGODB_URI: '' }
    expect(await refused(env)).toMatch(/MONGODB_URI: production requires it/)
  })

  test('a server without a reachable MongoDB prints one sentence and exits with 1', async () => {
    const uri = 'mongodb://someone:hidden@127.0.0.1:9/?replicaSet=none'
    const said = await refused({ MONGODB_URI: uri })
    expect(said).toContain('127.0.0.1:9')
    expect(said).not.toContain('hidden')
  })

  test('a server with the other following mode prints one sentence and exits with 1', async () => {
    expect(await refused({ FOLLOWING: 'reverse-index' })).toContain('FOLLOWING=collection')
  })
})

describe('the command line', () => {
  test('feedline token prints a token that the server accepts, and a server warns of its account under another issuer', async () => {
    const issuer = 'https://id.example'
    const secret = { AUTH_JWT_SECRET: 's'.repeat(32) }
    const signIn = { ...secret, AUTH_ISSUER: issuer, AUTH_ROLES_CLAIM: 'realm_access.roles' }
    const asked = ['token', 'tokens-ann', '--roles', 'admin,Moderator']
    const token = await runCommand(asked, { ...settings(), ...signIn })
    expect([token.code, token.stderr]).toEqual([0, ''])
    const { server, url } = await serving(signIn)
    const query = 'mutation { createUser(input: {name: "Ann"}) { viewer { id roles } } }'
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token.stdout.trim()}`,
      },
      body: JSON.stringify({ query }),
    })
    const id = viewerNodeId({ ...subjectOf('tokens-ann'), issuer })
    const viewer = { id, roles: ['MODERATOR', 'ADMIN'] }
    expect(await answer.json()).toMatchObject({ data: { createUser: { viewer } } })
    server.child.kill('SIGTERM')
    await server.ended
    const renamed = await serving({ ...secret, AUTH_ISSUER: `${issuer}/` })
    expect(renamed.server.out()).toContain(
      'The database has accounts of \\"https://id.example\\", which no variable names',
    )
    renamed.server.child.kill('SIGTERM')
    await renamed.server.ended
    const roles = await runCommand(['token', 'ann', '--roles', 'owner'], signIn)
    expect([roles.code, roles.stderr]).toEqual([1, expect.stringContaining('MODERATOR, ADMIN')])
    const unread = await runCommand(['token', 'ann', '--roles', 'admin'], secret)
    expect([unread.code, unread.stderr]).toEqual([
      ...[1, expect.stringContaining('AUTH_ROLES_CLAIM: must be set for --roles')],
    ])
  })

  test('feedline load imports a file, reports invalid lines by number, and ends with one line of JSON', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'feedline-serve-')), 'graph.txt')
    await writeFile(file, '# a comment\nl1 l2\nnonsense\nl2 l3\nl3 l3\n')
    const load = feedline(['load', file, '--json'], settings())
    expect(await load.ended).toBe(0)
    await rm(dirname(file), { recursive: true })
    const lines = load.out().trim().split('\n')
    expect(lines.filter((line) => line.startsWith('{'))).toHaveLength(1)
    const { seconds, ...counts } = JSON.parse(lines.at(-1) ?? '')
    expect(seconds).toBeGreaterThan(0)
    const written = { users: 3, edges: 2, unknown: 0 }
    const skipped = { known: 0, blocked: 0, deleted: 0 }
    const all = { ...written, ...skipped }
    const held = { read: 5, edges: 2, headings: 0, comments: 1, empty: 0, self: 1, invalid: 1 }
    expect(counts).toEqual({ ...all, badLines: 2, total: all, lines: held })
    expect(load.err().match(/line \d+/g)).toEqual(['line 3', 'line 5'])
    const { users, followers } = database.collections
    const imported = await users.find({ handle: /^l\d$/ }).toArray()
    const ids = imported.map(({ _id }) => _id)
    const edges = await followers.countDocuments({ user: { $in: ids } })
    expect({ users: ids.length, edges, unknown: 0 }).toEqual(written)
  })

  test('feedline indexes shows a missing index, and creates it only with --apply', async () => {
    const indexes = async (...more: string[]) => {
      const { code, stdout } = await runCommand(['indexes', ...more], settings())
      expect(code).toBe(0)
      return stdout
    }
    const { posts } = database.collections
    expect(await indexes()).toMatch(/All indexes are present\.\n$/)
    await posts.dropIndexes()
    for (let n = 0; n < 2; n++) {
      const { missing, indexes: all } = JSON.parse(await indexes('--json'))
      const absent = all.filter(({ present }: { present: boolean }) => !present)
      expect(new Set(absent.map((one: { collection: string }) => one.collection))).toEqual(
        new Set(['posts']),
      )
      expect(missing).toBe(absent.length)
    }
    expect(await indexes()).toMatch(/^missing +posts /m)
    expect(await indexes('--apply')).toMatch(/All indexes are present\.\n$/)
    expect((await posts.indexes()).length).toBeGreaterThan(1)
  })

  test.each([[], ['serve'], ['load'], ['token'], ['indexes']])(
    'feedline %s --help prints the help',
    async (...command) => {
      const { code, stdout } = await runCommand([...command, '--help'])
      expect(code).toBe(0)
      expect(stdout).toMatch(/^Usage: feedline/)
    },
  )

  test('an unknown command is refused', async () => {
    const wrong = feedline(['swerve'])
    expect(await wrong.ended).not.toBe(0)
    expect(wrong.err()).toContain('swerve')
  })
})
