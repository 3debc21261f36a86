import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { DriveResult } from '../../packages/drive/result.ts'
import { readAccountNames } from '../support/account-names.ts'
import { runCommand } from '../support/command-line.ts'
import { useDatabase } from '../support/mongo.ts'
import { type FeedlineProcess, feedline } from '../support/process.ts'

const database = useDatabase()
const users = 8
const secret = 'a secret of tests with 32 characters or more'

/** Starts a server on the database of this file. */
async function serve(env: Readonly<Record<string, string>> = {}) {
  const server = feedline(['serve'], {
    MONGODB_URI: inject('mongoUri'),
    MONGODB_DATABASE: database.name,
    PORT: '0',
    FEED_STRATEGY: 'INBOX',
    FEED_MAINTAINED: 'CACHE',
    ...env,
  })
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  return { server, url }
}

const drive = (urls: readonly string[], more: readonly string[], env = {}): FeedlineProcess =>
  feedline(['drive', '--url', ...urls, ...more], env)

const size = ['--users', String(users), '--follows', '3', '--posts', '2', '--sample', '8']
const load = [...size, '--step', '2', '--warmup', '0', '--json']

/** The result of a run that has ended, and its exit code. */
async function resultOf(run: FeedlineProcess) {
  const code = await run.ended
  const line = run.out().trim()
  if (!line.startsWith('{')) throw new Error(`no result: ${code} ${line}${run.err()}`)
  return { code, result: JSON.parse(line) as DriveResult }
}

/**
 * The exit code of a run whose feeds are right. On a busy machine, the generator may be at its
 * limit.
 */
const codeOf = ({ limits }: DriveResult) => (limits.length > 0 ? 2 : 0)

/** The ids of the live accounts of a prefix. */
async function accountsOf(prefix: string): Promise<string[]> {
  const own = { handle: RegExp(`^${prefix}-`), deletedAt: { $exists: false } }
  return (await database.collections.users.find(own).toArray()).map(({ _id }) => _id)
}
/** The number of posts of the accounts of a prefix. */
const countPosts = async (prefix: string) =>
  database.collections.posts.countDocuments({ author: { $in: await accountsOf(prefix) } })

let first: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  first = await serve()
})

describe('feedline drive', () => {
  test('drive measures and verifies a deployment, and deletes its accounts', async () => {
    const more = ['--rate', '30', '--prefix', 'cleaned', '--clean']
    const run = drive([first.url], [...load, ...more])
    const { code, result } = await resultOf(run)
    expect(result.verification).toMatchObject({
      ...{ differences: 0, sample: [], unverified: 0, readers: users },
      ...{ pollers: users, writers: users, acknowledged: result.acknowledged },
      strategies: ['CACHE', 'INBOX'].map((name) => ({ name, timelines: users })),
    })
    for (const { pages, pagesByFanoutOnRead, posts } of result.verification?.strategies ?? []) {
      expect(pagesByFanoutOnRead).toBeLessThan(pages)
      expect(posts).toBeGreaterThan(0)
    }
    expect(code).toBe(codeOf(result))
    const { steps, operations, acknowledged, total } = result
    expect(steps[0]?.arrivals).toBeGreaterThan(30)
    const failed = Object.values(total.errors).reduce((sum, count) => sum + count, 0)
    expect([total.ok > 20, total.ok + failed]).toEqual([true, total.sent])
    expect(operations.home?.latency?.p99Ms).toBeGreaterThan(0)
    expect(acknowledged.posts).toBeGreaterThanOrEqual(2 * users)
    expect(run.err()).toContain(`Deleted ${users} accounts`)
    expect(await accountsOf('cleaned')).toEqual([])
    expect(await database.collections.users.countDocuments({ handle: /^cleaned-/ })).toBe(users)
  })

  test('drive fails and names the reader if entries of a timeline are missing', async () => {
    const { collections } = database
    const before = await resultOf(drive([first.url], [...load, '--rate', '10']))
    expect(before.result.verification?.differences).toBe(0)
    const { idOf } = await readAccountNames(collections)
    const damaged = await collections.inbox.deleteMany({ '_id.reader': idOf('drive-000003') })
    expect(damaged.deletedCount).toBeGreaterThan(0)
    // New posts change the versions of the pages that the server keeps.
    const more = ['--step', '1', '--warmup', '0', '--rate', '20', '--mix', 'home=1,compose=2']
    const run = drive([first.url], [...size, ...more])
    expect(await run.ended).toBe(1)
    expect(run.out()).toMatch(/MISSING {2}timeline INBOX of drive-000003: \S+/)
    expect(run.out()).not.toContain('timeline INBOX of drive-000004')
  })

  test('drive counts the failures of a process that is killed, and verifies what was acknowledged', async () => {
    const second = await serve()
    const urls = [first.url, second.url]
    const mix = ['--mix', 'home=2,compose=5,like=5,follow=3', '--prefix', 'killed']
    const run = drive(urls, [...load, ...mix, '--rate', '30'])
    await expect.poll(() => countPosts('killed'), { interval: 20 }).toBeGreaterThan(2 * users + 3)
    second.server.child.kill('SIGKILL')
    const { code, result } = await resultOf(run)
    expect(result.total.errors.CONNECTION).toBeGreaterThan(0)
    expect(result.verification).toMatchObject({ differences: 0, sample: [], writers: users })
    expect(code).toBe(codeOf(result))
  })

  test('drive refuses to write to production without --yes-write, and counts refused requests without repeating them', async () => {
    const limited = await serve({
      NODE_ENV: 'production',
      AUTH_JWT_SECRET: secret,
      RATE_LIMIT_MUTATIONS: '4',
    })
    // Two users are soon at their limit, however few of the requests a busy machine serves.
    const few = ['--users', '2', '--follows', '1', '--posts', '1', '--sample', '2']
    const more = [...load, ...few, '--mix', 'compose=1', '--rate', '120', '--prefix', 'limited']
    const refused = drive([limited.url], more, { AUTH_JWT_SECRET: secret })
    expect(await refused.ended).toBe(1)
    expect(refused.err()).toContain('--yes-write lets the run write to it')
    expect(await accountsOf('limited')).toEqual([])
    const run = drive([limited.url], [...more, '--yes-write'], { AUTH_JWT_SECRET: secret })
    const { code, result } = await resultOf(run)
    const { compose } = result.operations
    expect(compose?.errors.RATE_LIMITED).toBeGreaterThan(10)
    expect(compose?.sent).toBe(result.steps[0]?.arrivals)
    expect(result.acknowledged.posts).toBe(2 + (compose?.ok ?? 0))
    expect(result.verification?.differences).toBe(0)
    expect(code).toBe(codeOf(result))
  })

  test('drive neither uses nor deletes an account that another client created', async () => {
    const query = 'mutation { createUser(input: { name: "A person" }) { user { id } } }'
    const headers = { authorization: 'Dev taken-000002', 'content-type': 'application/json' }
    const body = JSON.stringify({ query })
    expect(
      await (await fetch(`${first.url}/graphql`, { method: 'POST', headers, body })).json(),
    ).toMatchObject({ data: { createUser: { user: {} } } })
    const run = drive([first.url], [...load, '--rate', '5', '--prefix', 'taken', '--clean'])
    expect(await run.ended).toBe(1)
    expect(run.err()).toContain('No run has created taken-000002. Set another --prefix')
    expect(run.err()).toContain('no run has created, which stay: 1')
    expect(await accountsOf('taken')).toHaveLength(1)
  })

  test('drive ends at Ctrl-C with what it measured, and without a verdict on feeds', async () => {
    const more = ['--posts', '0', '--prefix', 'ended', '--mix', 'home=1,compose=1']
    const run = drive([first.url], [...load, ...more, '--rate', '20', '--step', '60'])
    await expect.poll(() => countPosts('ended'), { interval: 20 }).toBeGreaterThan(3)
    run.child.kill('SIGINT')
    const { code, result } = await resultOf(run)
    expect(code).toBe(130)
    expect([result.interrupted, result.unverified]).toEqual([true, 'the run was interrupted'])
    expect(result.total.ok).toBeGreaterThan(0)
  })

  test.each([
    [['--rate', '0'], '--rate'],
    [['--rate', '50', '--mix', 'home=x'], '--mix'],
    [['--rate', '20000', '--step', '1h'], '--step'],
    [['--rate', '5', '--prefix', 'No handle'], '--prefix'],
    [['--rate', '5', '--users', '1'], '--users'],
    [['--rate', '50..10/2', '--until-p99', '9'], '--until-p99'],
    [['--rate', '5', '--url', 'http://:secret@localhost'], '--url'],
    [['--clean', '--json'], '--rate'],
    [[], '--rate'],
  ])('drive %j is refused with the name of the argument', async (given, named) => {
    const { code, stderr } = await runCommand(['drive', '--url', first.url, ...given])
    expect(code).toBe(1)
    expect(stderr).toContain(named)
  })
})
