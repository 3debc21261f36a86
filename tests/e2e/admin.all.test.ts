import { expect, inject, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { IdMint } from '../../src/lib/ids.ts'
import { useDatabase } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'

const database = useDatabase()

/** Starts a process, and gives the URL of its admin listener. */
async function started(...args: string[]) {
  const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name, PORT: '0' }
  const child = feedline(args, env)
  const [, admin = ''] = await child.says(/metrics and probes: (http:\/\/[^/]+)\/metrics/)
  return { child, admin }
}

const statuses = (url: string, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status))

test('serve and worker have metrics and probes on a loopback port of their own, serve has none in public', async () => {
  const old = new IdMint(() => Date.now() - 3_600_000).next()
  const runAt = new Date()
  const job = { about: '', kind: 'post.created', payload: {}, queue: 'QUICK' } as const
  await database.collections.outbox.insertOne({
    ...job,
    ...{ attempts: 10, fence: 1 },
    _id: toObjectId(old),
    state: 'PARKED',
    runAt,
  })
  const running = await Promise.all([started('serve'), started('worker')])
  for (const { child, admin } of running) {
    expect(new URL(admin).hostname).toBe('localhost')
    expect(await statuses(admin, ['/livez', '/readyz', '/metrics', '/graphql'])).toEqual([
      200, 200, 200, 404,
    ])
    const answer = await fetch(`${admin}/metrics`)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const text = await answer.text()
    expect(text).toContain('feedline_jobs{kind="post.created",state="PARKED"} 1')
    const [, age] = /^feedline_jobs_oldest_seconds\{.*state="PARKED"\} (\S+)$/m.exec(text) ?? []
    expect(Math.abs(Number(age) - 3_600)).toBeLessThan(60)
    expect(text).toMatch(/^feedline_mongodb_connections\{state="open"\} [1-9]/m)
    expect(text).toMatch(/_command_seconds_count\{command="find\w*",collection="\w+"\} [1-9]/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    expect(text).toMatch(/^feedline_clock_skew_seconds -?[\d.e-]+$/m)
    if (child === running[0]?.child) {
      const [, url = ''] = await child.says(/GraphQL: (http:\S+)\/graphql/)
      expect(await statuses(url, ['/metrics', '/livez', '/healthz', '/readyz'])).toEqual([
        404, 404, 200, 200,
      ])
    }
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
  }
})

test('a used admin port ends the start with one sentence that names ADMIN_PORT', async () => {
  const { child, admin } = await started('worker')
  const { port } = new URL(admin)
  for (const command of ['serve', 'worker']) {
    const env = {
      MONGODB_URI: inject('mongoUri'),
      MONGODB_DATABASE: database.name,
      PORT: '0',
      ADMIN_PORT: port,
    }
    const refused = feedline([command], env)
    expect(await refused.ended).toBe(1)
    expect(refused.err()).toBe(
      `feedline: ADMIN_PORT: port ${port} of 127.0.0.1 is in use; set another port\n`,
    )
  }
  child.child.kill('SIGTERM')
  expect(await child.ended).toBe(0)
})
