import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { registry } from '../../src/metrics/registry.ts'
import { useApp } from '../support/app.ts'
import { eventually } from '../support/eventually.ts'
import { signByHmac } from '../support/key-server.ts'
import { failCommand } from '../support/mongo.ts'
import { handle, namesOf } from '../support/services.ts'
import { now } from '../support/sign-in.ts'

const secret = 's'.repeat(32)
const production = useApp({
  NODE_ENV: 'production',
  AUTH_JWT_SECRET: secret,
})
const slow = useApp({}, ({ operations }) => ({
  operations: { ...operations, slowMs: 700 },
}))
const silent = useApp()

interface Line {
  readonly level: number
  readonly msg: string
  readonly requestId: string
  readonly operation: string
  readonly viewer?: string
  readonly actor?: string
  readonly status?: number
  readonly code: string
  readonly commands: number
  readonly ms: number
}

/**
 * The lines of requests that a server logged during `work`, once the answer's end is logged too.
 */
async function linesDuring(app: { readonly logged: readonly string[] }, work: () => unknown) {
  const seen = app.logged.length
  const newLines = () =>
    app.logged
      .slice(seen)
      .map((line) => JSON.parse(line) as Line)
      .filter(({ operation }) => operation !== undefined)
  await work()
  await eventually(() => expect(newLines().length).toBeGreaterThan(0))
  return newLines()
}

const { SignJWT } = await import('jose')
let token = ''
beforeAll(async () => {
  token = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('ann')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))
  await production.services.users.create(handle('ann'), { ...namesOf(handle('ann')), name: 'Ann' })
})
const pseudonymOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 12)
const bearer = () => ({ authorization: `Bearer ${token}` })

test('production logs one line a request: operation, hashed viewer, status, code, commands and duration', async () => {
  const query = 'query Me { user(handle: "ann") { handle name } }'
  const [line, ...more] = await linesDuring(production, () =>
    production.send({ query, headers: bearer() }),
  )
  expect(more).toEqual([])
  expect(line).toMatchObject({
    level: 30,
    msg: 'request',
    operation: 'Me',
    viewer: pseudonymOf('ann'),
    status: 200,
    code: 'OK',
    // The user, and once a minute the account of the viewer's subject.
    commands: 2,
  })
  expect(line?.requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(line?.ms).toBeGreaterThanOrEqual(0)
})

test('the line of a request that acts for a user also has the server as its actor', async () => {
  const token = signByHmac('HS256', secret, { sub: 'bot', scope: 'act-for', exp: now() + 60 })
  const lineFor = async (headers: Readonly<Record<string, string>>) => {
    const all = { authorization: `Bearer ${token}`, ...headers }
    const [line] = await linesDuring(production, () =>
      production.send({ query: 'query Named { viewer { id } }', headers: all }),
    )
    return line
  }
  const names = { viewer: pseudonymOf('ann'), actor: pseudonymOf(' bot') }
  expect(await lineFor({ 'feedline-act-for': 'subject:ann' })).toMatchObject({
    ...names,
    code: 'OK',
  })
  const refused = await lineFor({ 'feedline-act-for': 'subject:' })
  expect(refused).toMatchObject({ actor: names.actor, code: 'BAD_REQUEST' })
  expect(refused).not.toHaveProperty('viewer')
  expect(await lineFor({})).not.toHaveProperty('actor')
})

test.each([
  ['a refused document', { query: '{ nothing }' }, 'none', 'GRAPHQL_VALIDATION_FAILED'],
  [
    'an anonymous mutation',
    { query: 'mutation M { deleteUser(input: {}) { handle } }' },
    'M',
    'UNAUTHENTICATED',
  ],
  [
    'a bad token',
    { query: '{ viewer { handle } }', headers: { authorization: 'Bearer x' } },
    'none',
    'UNAUTHENTICATED',
  ],
  ['bad JSON', { body: '{' }, 'none', 'BAD_REQUEST'],
])('the line of %s has the code of the first error', async (_, request, operation, code) => {
  const lines = await linesDuring(production, () => production.send(request))
  expect(lines).toMatchObject([{ operation, code }])
})

test('probes are not logged', async () => {
  const seen = production.logged.length
  await fetch(`${production.url}/readyz`)
  await fetch(`${production.url}/healthz`)
  await linesDuring(production, () => production.send({ query: '{ __typename }' }))
  expect(production.logged.length).toBe(seen + 1)
})

test('a slow request is logged at warn, and outside production no other request', async () => {
  await slow.send({ query: '{ __typename }' })
  await silent.send({ query: '{ __typename }' })
  await using _ = await failCommand(slow.database.client, {
    failCommands: ['find', 'aggregate'],
    blockMs: 800,
    times: 1,
  })
  const lines = await linesDuring(slow, () =>
    slow.send({ query: 'query Slow { user(handle: "ann") { name } }' }),
  )
  expect(lines).toMatchObject([{ level: 40, msg: 'slow request', operation: 'Slow', code: 'OK' }])
  expect(slow.logged).toHaveLength(1)
  expect(silent.logged).toEqual([])
})

test('a client that leaves before the answer is logged as CLOSED', async () => {
  await using _ = await failCommand(production.database.client, {
    failCommands: ['find', 'aggregate'],
    blockMs: 400,
    times: 1,
  })
  const leave = () =>
    fetch(`${production.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'query Left { user(handle: "ann") { name } }' }),
      signal: AbortSignal.timeout(150),
    }).catch(() => {})
  expect(await linesDuring(production, leave)).toMatchObject([
    { msg: 'request', operation: 'Left', code: 'CLOSED' },
  ])
})

const marks = ['canary-text', 'canary-alt', 'canary-variable', 'canary-comment', 'canary-key']

test('no line of the log has a token, a text or a variable, whatever fails', async () => {
  const text = `${marks[0]} ${'x'.repeat(50)}`
  const query = `# ${marks[3]}
    mutation P($input: CreatePostInput!) { createPost(input: $input) { post { text } } }`
  const attachments = [{ url: 'https://a.example/x.png', kind: 'IMAGE', alt: marks[1] }]
  const input = { text, attachments, clientMutationId: marks[4] }
  const create = (more: object = {}) =>
    production.send({ query, variables: { input: { ...input, ...more } }, headers: bearer() })
  const seen = production.logged.length
  for (const failure of [
    { failCommands: ['bulkWrite', 'insert'], errorCode: 121 },
    { failCommands: ['update', 'insert'], errorCode: 11000 },
    { failCommands: ['update', 'insert', 'aggregate', 'find'], errorCode: 8000 },
  ]) {
    await using _ = await failCommand(production.database.client, failure)
    await create()
  }
  // A refused document comes back in the error of the driver.
  const { db } = production.database
  await db.command({ collMod: 'posts', validator: { never: 1 } })
  await create()
  await db.command({ collMod: 'posts', validator: {} })
  await create({ text: '' })
  await create({ unknown: marks[2] })
  await production.send({ query: `{ user(handle: "${marks[2]}") { name } }`, headers: bearer() })
  await production.send({ body: `{"query": ${marks[2]}` })
  await linesDuring(production, () => create())
  const logged = production.logged.slice(seen).join('\n')
  expect(logged).toContain('INTERNAL_SERVER_ERROR')
  for (const secretText of [...marks, token, token.slice(-20), 'Bearer']) {
    expect(logged).not.toContain(secretText)
  }
})

test('requests and the cache of documents are counted, requests by operation and code', async () => {
  await production.send({ query: 'query Counted { __typename }' })
  const query = 'query Counted { user(handle: "?") { name } }'
  await production.send({ query })
  await production.send({ query: '{ __typename }' })
  await eventually(async () => {
    const text = await registry.metrics()
    expect(text).toContain('feedline_requests_total{operation="Counted",code="OK"} 1')
    expect(text).toContain('feedline_request_seconds_count{operation="Counted"} 2')
    expect(text).toContain('feedline_requests_in_flight 0')
    expect(text).toMatch(/^feedline_cache_reads_total\{cache="documents",result="hit"\} [1-9]/m)
    expect(text).toMatch(/^feedline_cache_bytes\{cache="documents"\} [1-9]/m)
  })
})
