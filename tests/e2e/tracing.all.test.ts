import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/environment.ts'
import { createLog } from '../../src/log.ts'
import { startSpan } from '../../src/tracing/spans.ts'
import { startTracing } from '../../src/tracing/start.ts'
import { useApp } from '../support/app.ts'
import { type ReceivedSpan, useCollector } from '../support/collector.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLog } from '../support/jobs.ts'
import { feedline } from '../support/process.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_MAINTAINED: 'INBOX', FANOUT_INLINE_MAX: '0' })
const inline = useApp({ FEED_STRATEGY: 'INBOX' })
const collector = useCollector()
const silent = createLog('silent', { write: () => {} })
const secretText = 'a text that only readers see'
const [ann, bob] = [handle('ann-the-author'), handle('bob-the-reader')]

const post = `mutation Publish($text: String!) { createPost(input: { text: $text }) { post { id } } }`
const isSdkLoaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some((path) =>
    /@opentelemetry\/(sdk|exporter)/.test(path),
  )

let traces = 0
/** A client's position in a new trace. */
function newTrace() {
  const traceId = `${++traces}`.padStart(32, 'a')
  return { traceId, headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } }
}

/** The names from a span up to the root of its trace. */
function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): readonly string[] {
  const above = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return above ? [span.name, ...pathOf(above, spans)] : [span.name]
}

const pathsOf = (spans: readonly ReceivedSpan[]) => spans.map((span) => pathOf(span, spans))

let tracing: AsyncDisposable
beforeAll(async () => {
  await openAccounts(app.services, [ann, bob])
  await openAccounts(inline.services, [ann, bob])
  // So a post to her followers is left to workers.
  await app.services.follows.follow(bob, ann)
  await app.rest()
})
afterAll(async () => {
  await tracing?.[Symbol.asyncDispose]()
  vi.unstubAllEnvs()
})

test('without a collector, no SDK is loaded, no job has a trace and nothing is sent', async () => {
  await using _ = await startTracing(undefined, silent)
  const { headers } = newTrace()
  const answer = await app.send({ as: ann, query: post, variables: { text: 'hi' }, headers })
  expect(answer.errors).toEqual([])
  const jobs = await app.database.collections.outbox.find().toArray()
  expect(jobs.length).toBeGreaterThan(0)
  expect(jobs.filter((job) => 'traceparent' in job)).toEqual([])
  expect(isSdkLoaded()).toBe(false)
  expect(collector.spans).toEqual([])
  await app.rest()
})

test.each([
  ['its port is in use', () => ({ PORT: new URL(app.url).port })],
  [
    'the port of its admin listener is in use',
    () => ({ PORT: '0', ADMIN_PORT: new URL(app.url).port }),
  ],
  [
    'the database is unreachable',
    () => ({ MONGODB_URI: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=50' }),
  ],
])('a server that does not start because %s stops its tracing', async (_, env) => {
  const database = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: app.database.name }
  const config = readConfig({ NODE_ENV: 'test', ...database, ...collector.env(), ...env() })
  await expect(startApp(config, silent)).rejects.toThrow()
  expect(startSpan('a span')).toBeUndefined()
})

test('a request with a traceparent continues its trace: request, operation, field and commands', async () => {
  const env = collector.env()
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', env.OTEL_BSP_SCHEDULE_DELAY)
  tracing = await startTracing(env.OTEL_EXPORTER_OTLP_ENDPOINT, silent)
  const { traceId, headers } = newTrace()
  const query = 'query Card($who: String!) { user(handle: $who) { handle name } }'
  const answer = await app.send({ as: ann, query, variables: { who: bob }, headers })
  expect(answer.errors).toEqual([])
  const spans = await collector.trace(traceId, ['POST /graphql'])
  expect(pathsOf(spans)).toContainEqual([
    'aggregate handles',
    'Query.user',
    'query Card',
    'POST /graphql',
  ])
  const root = spans.find(({ name }) => name === 'POST /graphql')
  expect(root?.parentSpanId).toBe('00f067aa0ba902b7')
  expect(root?.attributes).toMatchObject({
    'http.response.status_code': 200,
    'feedline.request.id': answer.headers.get('x-request-id'),
  })
  const commands = spans.filter(({ attributes }) => attributes['db.system.name'] === 'mongodb')
  expect(commands).toHaveLength(Number(root?.attributes['feedline.request.commands']))
})

/** The spans of all tries of a post's job, once it is done. */
const triesOf = (traceId: string): Promise<readonly ReceivedSpan[]> =>
  eventually(() => {
    const tries = collector.spans.filter(
      (span) => span.traceId === traceId && span.name === 'job post.created',
    )
    if (tries.some(({ attributes }) => attributes['feedline.job.outcome'] === 'done')) return tries
    throw new Error('the trace has no job that is done')
  })

test.each([
  // The server delivers to the author alone and leaves the followers.
  ['a worker', () => app, ['unfinished', 'done']],
  ['the server itself', () => inline, ['done']],
])(
  'the job of a traced mutation that %s runs has the trace of the mutation',
  async (_, given, outcomes) => {
    const { send, rest } = given()
    const { traceId, headers } = newTrace()
    await send({ as: ann, query: post, variables: { text: secretText }, headers })
    await rest()
    const tries = await triesOf(traceId)
    expect(tries.map(({ attributes }) => attributes['feedline.job.outcome'])).toEqual(outcomes)
    const spans = await collector.trace(traceId, ['POST /graphql'])
    for (const one of tries)
      expect(pathOf(one, spans)).toEqual([
        'job post.created',
        'Mutation.createPost',
        'mutation Publish',
        'POST /graphql',
      ])
    expect(pathsOf(spans)).toContainEqual([
      'insert posts',
      'Mutation.createPost',
      'mutation Publish',
      'POST /graphql',
    ])
    const writesOfJobs = spans.filter(
      (span) => span.name === 'update outbox' && pathOf(span, spans)[1] === 'Mutation.createPost',
    )
    expect(writesOfJobs).toHaveLength(1)
  },
)

test('posts that share a transaction have jobs in the traces of their own requests', async () => {
  const sent = ['one', 'two', 'three', 'four', 'five'].map((text) => ({ text, ...newTrace() }))
  await Promise.all(
    sent.map(({ text, headers }) =>
      app.send({ as: ann, query: post, variables: { text }, headers }),
    ),
  )
  await app.rest()
  const tries = await Promise.all(sent.map(({ traceId }) => triesOf(traceId)))
  const jobsOf = (spans: readonly ReceivedSpan[]) => [
    ...new Set(spans.map(({ attributes }) => attributes['feedline.job.id'])),
  ]
  expect(tries.map((spans) => jobsOf(spans).length)).toEqual(sent.map(() => 1))
  expect(jobsOf(tries.flat())).toHaveLength(sent.length)
})

test('a job of a release that stored no traceparent runs, in a trace of its own', async () => {
  const { outbox } = app.database.collections
  await app.send({ as: ann, query: post, variables: { text: 'old' }, ...newTrace() })
  await outbox.updateMany({}, { $unset: { traceparent: '' } })
  const [job] = await outbox.find().toArray()
  await app.rest()
  expect(await outbox.countDocuments()).toBe(0)
  // Not the one of the request, which leaves the job to workers.
  await eventually(() => {
    const id = job?._id.toHexString()
    const roots = collector.spans.filter(({ parentSpanId = '' }) => parentSpanId === '')
    if (!roots.some((one) => one.attributes['feedline.job.id'] === id))
      throw new Error('the span of the job has not arrived')
  })
})

test('an invalid traceparent begins a new trace, and a refused mutation is a failed operation', async () => {
  const headers = { traceparent: '00-nonsense' }
  const query = 'mutation Refused { followUser(input: { user: { handle: "nobody"} }) { changed } }'
  const { errors } = await app.send({ as: ann, query, headers })
  expect(errors).toHaveLength(1)
  const operation = await eventually(() => {
    const found = collector.spans.find(({ name }) => name === 'mutation Refused')
    if (!found) throw new Error('the operation has not arrived')
    return found
  })
  expect(operation.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(operation.status.code).toBe(2)
  expect(operation.attributes['error.type']).toBe(errors[0]?.extensions.code)
})

test('spans hold no text, no handle and no token', async () => {
  const { traceId, headers } = newTrace()
  const authorization = `Dev ${bob}`
  const query = `mutation { followUser(input: { user: { handle: "${ann}"} }) { changed } }`
  await app.send({ query, headers: { ...headers, authorization, tracestate: `x=${bob}` } })
  await collector.trace(traceId, ['POST /graphql'])
  const all = collector.bodies.join('\n')
  for (const secret of [secretText, ann, bob, 'Dev ']) expect(all).not.toContain(secret)
})

test('feedline serve sends its spans to the collector, also those that wait when it stops', async () => {
  const server = feedline(['serve'], {
    MONGODB_URI: inject('mongoUri'),
    MONGODB_DATABASE: app.database.name,
    PORT: '0',
    ...collector.env(),
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  })
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  const { traceId, headers } = newTrace()
  const body = JSON.stringify({ query: 'query Last { viewer { handle } }' })
  const type = { 'content-type': 'application/json' }
  await fetch(`${url}/graphql`, { method: 'POST', headers: { ...headers, ...type }, body })
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  await collector.trace(traceId, ['POST /graphql', 'query Last'])
})

test('without a collector, requests are served and the log warns', async () => {
  await tracing[Symbol.asyncDispose]()
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200')
  const { log, lines } = recordingLog()
  tracing = await startTracing('http://127.0.0.1:9', log)
  const { errors } = await app.send({ as: ann, query: '{ viewer { handle } }' })
  expect(errors).toEqual([])
  const warning = { level: 40, msg: 'spans could not be sent' }
  await eventually(() => expect(lines).toContainEqual(expect.objectContaining(warning)))
})

test('a stop waits for no collector that never answers', async () => {
  await tracing[Symbol.asyncDispose]()
  const mute = createServer(() => {}).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '3600000')
  const { port } = mute.address() as AddressInfo
  tracing = await startTracing(`http://127.0.0.1:${port}`, recordingLog().log)
  await app.send({ as: ann, query: '{ viewer { handle } }' })
  await tracing[Symbol.asyncDispose]()
  mute.closeAllConnections()
  mute.close()
})
