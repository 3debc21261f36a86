import { beforeAll, expect, inject, test } from 'vitest'
import { SharedStore } from '../../src/graphql/rate-limit.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recordingLog } from '../support/jobs.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { handle, openAccounts, subjectOf } from '../support/services.ts'

const limits = {
  RATE_LIMIT_STORE: 'mongodb',
  RATE_LIMIT_COST: '20000',
  RATE_LIMIT_MUTATIONS: '5',
}
const app = useApp(limits)
const [ann, ben, cat, dan] = ['ann', 'ben', 'cat', 'dan'].map(handle) as [
  UserId,
  UserId,
  UserId,
  UserId,
]
const [eve, fay, gus] = ['eve', 'fay', 'gus'].map(handle) as [UserId, UserId, UserId]

beforeAll(async () => openAccounts(app.services, [ann, ben, cat, dan, eve, fay, gus]))

/** A quick mutation: tokens return while requests last. */
const mute = (who: string) =>
  `mutation { muteUser(input: { user: { handle: "${who}"} }) { changed } }`
/**
 * A process limits by itself if the database takes more than half a second, so the test is tried
 * again.
 */
const onQuickDatabase = { retry: 5 }
/** Makes all clients' last requests a time ago, however long they took. */
const setLastRequests = (agoMs: number) =>
  rateLimits().updateMany({}, [{ $set: { at: { $subtract: ['$$NOW', agoMs] } } }])
/**
 * How many mutations more a client may send after it has used its limit at a moment of the
 * monotonic clock.
 */
const returnedSince = (atMs: number) => Math.ceil((performance.now() - atMs) / 12_000) - 1
const rateLimits = () => app.database.collections.rate_limits
/** All documents, also those that no majority holds yet: rate limits wait for none. */
const storedLimits = () => rateLimits().find({}, { readConcern: 'local' }).toArray()

test('a request costs one command more, and says what is left', async () => {
  const query = '{ user(handle: "ann") { name } rateLimit { limit remaining cost } }'
  // A document that the server does not know costs one more.
  await app.send({ query })
  await app.services.subjects.load(subjectOf(cat))
  const { result, commands } = await recorded(app.database.client, () =>
    app.send({ as: cat, query }),
  )
  const { cost } = result.extensions as { cost: { requested: number } }
  expect(result.data.rateLimit).toEqual({
    limit: 20_000,
    remaining: 20_000 - cost.requested,
    cost: cost.requested,
  })
  expect(labelsOf(commands)).toEqual([
    'findAndModify rate_limits',
    'read restrictions',
    'read users',
  ])
})

test(
  'concurrent mutations of one client get exactly the limit, and other clients have their own',
  onQuickDatabase,
  async () => {
    await rateLimits().deleteMany({})
    const query = mute(ben)
    const begun = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => app.send({ as: ann, query })),
    )
    const codes = answers.map(({ errors }) => errors[0]?.extensions.code ?? 'OK')
    expect(codes.filter((code) => code !== 'OK' && code !== 'RATE_LIMITED')).toEqual([])
    const allowed = codes.filter((code) => code === 'OK').length
    expect(allowed).toBeGreaterThanOrEqual(5)
    expect(allowed).toBeLessThanOrEqual(5 + returnedSince(begun))
    const refused = answers.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.headers.get('ratelimit-remaining')).toBe('0')
    expect(await app.send({ as: ben, query: mute(ann) })).toMatchObject({ status: 200 })
  },
)

test(
  'tokens return with the time of the server, up to those of a minute',
  onQuickDatabase,
  async () => {
    await rateLimits().deleteMany({})
    const statuses = []
    for (const agoMs of [0, 0, 0, 0, 0, 0, 12_500, 0, 3_600_000, 0, 0, 0, 0, 0]) {
      await setLastRequests(agoMs)
      statuses.push((await app.send({ as: dan, query: mute(ben) })).status)
    }
    expect(statuses).toEqual([
      ...[200, 200, 200, 200, 200, 429],
      ...[200, 429],
      ...[200, 200, 200, 200, 200, 429],
    ])
  },
)

test('a refused mutation takes no cost, and a request beyond its cost is refused', async () => {
  const { collections } = app.database
  await collections.rate_limits.deleteMany({})
  for (let n = 0; n < 7; n++) await app.send({ as: eve, query: mute(ben) })
  const [doc] = await storedLimits()
  const costOfOne = (20_000 - (doc?.cost ?? 0)) / 5
  expect(doc?.mutations).toBeLessThan(1)
  expect(costOfOne).toBeLessThan(2_000)
  await collections.rate_limits.updateMany({}, { $set: { cost: -100, at: new Date() } })
  const refused = await app.send({ as: eve, query: '{ user(handle: "ann") { name } }' })
  expect(refused).toMatchObject({ status: 429 })
  expect(refused.errors[0]?.message).toContain('20000 units of cost per minute')
})

test('documents expire, and hold neither a handle nor an address', async () => {
  await app.send({ query: '{ user(handle: "ann") { name } }' })
  const docs = await storedLimits()
  expect(docs.length).toBeGreaterThan(1)
  for (const { _id, at, expiresAt } of docs) {
    expect(_id).toMatch(/^[0-9a-f]{64}$/)
    expect(expiresAt.getTime() - at.getTime()).toBeGreaterThanOrEqual(60_000)
  }
  const indexes = await rateLimits().indexes()
  expect(indexes).toContainEqual(expect.objectContaining({ expireAfterSeconds: 0 }))
})

test.each([
  ['fails', { errorCode: 11_600 }],
  ['does not answer', { blockMs: 1_500, times: 1 }],
])('when the database %s, the process limits by itself', async (_, how) => {
  const query = '{ user(handle: "ann") { name } }'
  await rateLimits().updateMany({}, { $set: { cost: 0, at: new Date() } })
  await using _fault = await failCommand(app.database.client, {
    failCommands: ['findAndModify'],
    namespace: `${app.database.name}.rate_limits`,
    ...how,
  })
  const answer = await app.send({ as: fay, query })
  expect(answer).toMatchObject({ status: 200, errors: [] })
  // The database would say that nearly nothing is left.
  expect(Number(answer.headers.get('ratelimit-remaining'))).toBeGreaterThan(9_900)
})

test('a store that fails is logged once in ten seconds, and never refuses within the limit of the process', async () => {
  const failing = { take: async () => Promise.reject(new Error('down')) }
  const { log, lines } = recordingLog()
  const store = new SharedStore(failing, { cost: 10, mutations: 0 }, log)
  const allowed = []
  for (let n = 0; n < 12; n++) {
    allowed.push((await store.take('x', { cost: 1, mutations: 0 })).cost?.isAllowed)
  }
  expect(allowed.filter(Boolean).length).toBeGreaterThanOrEqual(10)
  expect(allowed).toContain(false)
  expect(lines).toEqual([expect.objectContaining({ level: 40, msg: 'rate limits are not shared' })])
})

test('two server processes share the limit of a client', onQuickDatabase, async () => {
  await rateLimits().deleteMany({})
  await registerStrategies(app.services, ['FANOUT_ON_READ'])
  const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: app.database.name, PORT: '0' }
  const servers = [1, 2].map(() => feedline(['serve'], { ...env, ...limits }))
  const urls = await Promise.all(
    servers.map(async ({ says }) => (await says(/GraphQL: (http:\S+\/graphql)/))[1] as string),
  )
  const body = JSON.stringify({ query: mute(ben) })
  const headers = { 'content-type': 'application/json', authorization: `Dev ${gus}` }
  const statuses: number[] = []
  for (let n = 0; n < 8; n++) {
    await setLastRequests(0)
    const { status } = await fetch(urls[n % 2] as string, { method: 'POST', headers, body })
    statuses.push(status)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
  for (const { child } of servers) child.kill('SIGTERM')
  expect(await Promise.all(servers.map(({ ended }) => ended))).toEqual([0, 0])
})
