import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandStartedEvent } from 'mongodb'
import { beforeAll, expect, test } from 'vitest'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import { release } from '../../src/lib/release.ts'
import { type TestApp, useApp, withRequestsMax } from '../support/app.ts'
import { storeEdges } from '../support/edges.ts'
import { failCommand } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const hurried = useApp({ REQUEST_TIMEOUT_SECONDS: '0.5' })
/** One request runs, and four wait. */
const queued = useApp({ REQUEST_TIMEOUT_SECONDS: '3' }, withRequestsMax(1))
const reader = handle('reader')
const people = Array.from({ length: 3_000 }, (_, n) => handle(`p${n}`))
const blockMs = 100
/**
 * A page that reads the followees and then, 200 after 200, their posts: 18 commands one after
 * another.
 */
const query = '{ timeline { edges { node { text } } } }'

beforeAll(async () => {
  const mint = new IdMint(Date.now)
  for (const { services } of [app, hurried]) {
    await openAccounts(services, [reader, ...people])
    const follow = (followee: UserId) => {
      return { id: mint.next<EdgeId>(), follower: reader, followee, source: 'FEEDLINE' as const }
    }
    await storeEdges(services, people.map(follow), { history: false })
  }
})

const housekeeping = new Set(['hello', 'configureFailPoint', 'killCursors'])

/** The names of the commands that the client sends from now on. */
function watched({ database }: TestApp) {
  const names: string[] = []
  const listener = ({ commandName }: CommandStartedEvent) => {
    // The log of the server reads by getMore.
    if (commandName !== 'getMore' && !housekeeping.has(commandName)) names.push(commandName)
  }
  database.client.on('commandStarted', listener)
  return { names, [Symbol.dispose]: () => void database.client.off('commandStarted', listener) }
}

/** Sends a request, and closes its connection once `isTime`. */
async function leave(body: object, isTime: () => boolean): Promise<void> {
  const sent = request(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Dev ${reader}` },
  })
  sent.on('error', () => {})
  sent.end(JSON.stringify(body))
  await expect.poll(isTime).toBe(true)
  sent.destroy()
}

const errorLinesOf = ({ logged }: TestApp) =>
  logged.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)

test('after a client has closed its connection, its request sends no further command', async () => {
  await using _ = await failCommand(app.database.client, {
    failCommands: ['find', 'aggregate'],
    blockMs,
  })
  using sent = watched(app)
  await leave({ query }, () => sent.names.length > 1)
  await sleep(3 * blockMs)
  const { length } = sent.names
  expect(length).toBeLessThan(10)
  await sleep(5 * blockMs)
  expect(sent.names).toHaveLength(length)
  expect(errorLinesOf(app)).toEqual([])
})

test('a mutation that has begun ends and is recorded, also if its client is gone', async () => {
  const input = { text: 'kept', clientMutationId: 'left' }
  const create = `mutation ($input: CreatePostInput!) { a: createPost(input: $input) { clientMutationId }
    b: createPost(input: { text: "never begun" }) { clientMutationId } }`
  {
    await using _ = await failCommand(app.database.client, {
      failCommands: ['commitTransaction'],
      blockMs: 300,
    })
    using sent = watched(app)
    await leave({ query: create, variables: { input } }, () =>
      sent.names.includes('commitTransaction'),
    )
  }
  const { posts } = app.services.collections
  await expect.poll(() => posts.countDocuments({ author: reader })).toBeGreaterThan(0)
  await sleep(100)
  expect(await posts.countDocuments({ author: reader })).toBe(1)
  const again = await app.send({ as: reader, query: create, variables: { input } })
  expect(again.errors).toEqual([])
  expect(await posts.countDocuments({ text: 'kept' })).toBe(1)
})

test('a request that takes too long is answered at its deadline with 503, and sends no further command', async () => {
  await using _ = await failCommand(hurried.database.client, {
    failCommands: ['find', 'aggregate'],
    blockMs,
  })
  using sent = watched(hurried)
  const { status, headers, errors } = await hurried.send({ as: reader, query })
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  const requestId = headers.get('x-request-id')
  expect(errors).toEqual([
    {
      message: expect.stringMatching(/^The request took too long/),
      extensions: { code: 'UNAVAILABLE', requestId, release, retryAfterSeconds: 1 },
    },
  ])
  // A command may be on its way to a connection at the deadline.
  await sleep(blockMs)
  const { length } = sent.names
  await sleep(5 * blockMs)
  expect(sent.names).toHaveLength(length)
  expect(errorLinesOf(hurried).map(({ code, requestId: id }) => [code, id])).toEqual([
    ['UNAVAILABLE', requestId],
  ])
})

test('after a field has ended the whole answer, the other fields send no further command', async () => {
  const list = (below: string) => `followers { edges { node { ${below} } } }`
  const more = `user(handle: "p1") { ${list(list('name'))} }`
  await using _ = await failCommand(app.database.client, {
    failCommands: ['find', 'aggregate'],
    blockMs,
  })
  using sent = watched(app)
  const { data, errors } = await app.send({
    as: reader,
    query: `query ($ids: [ID!]!) { ${more} nodes(ids: $ids) { id } }`,
    variables: { ids: Array(101).fill('x') },
  })
  expect(data).toBeNull()
  expect(errors).toMatchObject([{ path: ['nodes'], extensions: { code: 'BAD_USER_INPUT' } }])
  await sleep(5 * blockMs)
  expect(sent.names.length).toBeLessThanOrEqual(1)
})

test('a request that waits for its turn is answered at its deadline too', async () => {
  await using _ = await failCommand(queued.database.client, {
    failCommands: ['aggregate'],
    blockMs: 5_000,
  })
  using sent = watched(queued)
  const answers = Array.from({ length: 6 }, () =>
    queued.send({ query: '{ user(handle: "ann") { name } }' }),
  )
  // The sixth is refused at once, because the others are there. Then all deadlines pass before any
  // turn comes.
  expect((await Promise.race(answers)).errors[0]?.message).toMatch(/too busy/)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(503))
  // A request whose turn comes after its deadline would send its command.
  expect(sent.names).toHaveLength(1)
})
