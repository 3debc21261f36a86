import 'reflect-metadata'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { BSON, type Db, type Document, MongoClient } from 'mongodb'
import { pino } from 'pino'
import type { FollowingMode } from '../src/config.ts'
import { openMongod } from '../src/dev/mongod/open.ts'
import type {
  RecordedAnswer,
  RecordedDatabase,
} from '../tests/integration/migrations/release-fixture.ts'
import { type Mutation, type MutationAnswer, mutations, queries } from './release-operations.ts'

// Writes the fixture of tests/integration/migrations.test.ts with the code of an earlier release. Usage:
//   git worktree add ../earlier e62058d && (cd ../earlier && npm ci && npm run build)
//   node --import tsx scripts/record-release.ts ../earlier
const checkout = resolve(process.argv[2] ?? '.')
const revision = ['-C', checkout, 'rev-parse', '--short=7', 'HEAD']
const commit = execFileSync('git', revision).toString().trim()
/** Imports a module of the earlier release. This release does not know its types. */
const importModule = (path: string) => import(pathToFileURL(join(checkout, 'dist', path)).href)
const silent = pino({ level: 'silent' })
const hourMs = 3_600_000

const common = {
  NODE_ENV: 'test',
  TIME_BUCKET_DAYS: '1',
  SIZED_BUCKET_SIZE: '5',
  CACHE_SIZE: '5',
  CACHE_AWAY_DAYS: '3660',
  HYBRID_THRESHOLD: '5',
  LIKES_THRESHOLD: '3',
  COMMENTS_THRESHOLD: '2',
  SHARES_THRESHOLD: '3',
  OVERFLOW_CAPACITY: '4',
}
/** The databases to record. INBOX is in a separate database: while it is maintained, HYBRID has no celebrities. */
const settings: readonly { following: FollowingMode; strategies: readonly string[] }[] = [
  { following: 'collection', strategies: ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'HYBRID'] },
  { following: 'reverse-index', strategies: ['INBOX'] },
]

/** Starts the server of the earlier release on a database, with the clock `now`. */
async function startRelease(
  uri: string,
  name: string,
  env: Record<string, string>,
  now: () => number,
) {
  const [{ connect }, { applyIndexes, followingModeOf }, { readConfig }] = [
    await importModule('db/client.js'),
    await importModule('db/indexes.js'),
    await importModule('config.js'),
  ]
  const client = await connect(uri)
  const db = client.db(name)
  const config = readConfig(env)
  await followingModeOf(db, config.following)
  await applyIndexes(db, config.following)
  const services = (await importModule('services.js')).createServices(client, db, config, [], now)
  await (await importModule('feed/feeds.js')).registerStrategies(services, config.feed.maintained)
  const { Metrics } = await importModule('reconcile/metrics.js')
  const parts = { config, services, log: silent, nudge: () => {}, ready: async () => true }
  const http = await (await importModule('graphql/server.js')).createServer({
    ...parts,
    metrics: new Metrics(),
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const sendQuery = async (as: string, query: string, variables: object) => {
    const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
    const body = JSON.stringify({ query, variables })
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown }
    if (errors) throw new Error(`${as}: ${query}: ${JSON.stringify(errors)}`)
    return data
  }
  const runJobs = async () => {
    const { Worker } = await importModule('jobs/worker.js')
    await services.collections.outbox.updateMany({}, { $set: { runAt: new Date(0) } })
    const options = { concurrency: 4, pollMs: 20, leaseMs: 30_000 }
    await new Worker(services.queue, services.tasks, silent, options).drain()
    const left = await services.collections.outbox.findOne({})
    if (left) throw new Error(`a job did not end: ${JSON.stringify(left)}`)
  }
  const stop = async () => {
    await http.close()
    await client.close()
  }
  return { services, sendQuery, runJobs, stop }
}

/** Stores the record of a repair, and of a reconciliation that has not ended. */
async function recordRepairs(services: Awaited<ReturnType<typeof startRelease>>['services']) {
  const { reconcile } = await importModule('reconcile/reconcile.js')
  const options = { users: 'all', dryRun: false, now: () => Date.UTC(2099, 0, 1) }
  await services.collections.user_stats.updateOne({ _id: 'dan' }, { $inc: { followers: 3 } })
  await reconcile(services, options)
  const signal = AbortSignal.abort(new Error('stopped'))
  await reconcile(services, { ...options, signal }).catch(() => {})
}

/**
 * Fills a database with the operations of users. Each operation is one hour after the previous operation.
 * Then leaves jobs of a killed process.
 */
async function fillDatabase(uri: string, name: string, env: Record<string, string>) {
  let at = Date.UTC(2024, 0, 1)
  const now = () => ++at
  const server = await startRelease(uri, name, env, now)
  server.services.inline.start(server.services.tasks, silent)
  const repeats: Omit<RecordedAnswer, 'data'>[] = []
  const createMutate =
    (release: typeof server) =>
    async (as: string, mutationName: Mutation, input: object = {}) => {
      at += hourMs
      const variables = { input }
      if ('clientMutationId' in input) repeats.push({ as, query: mutationName, variables })
      const data = (await release.sendQuery(as, mutations[mutationName], variables)) as Record<
        string,
        MutationAnswer
      >
      return data[mutationName] as MutationAnswer
    }
  const mutate = createMutate(server)
  const publish = async (as: string, text: string, by = mutate) => {
    return (await by(as, 'createPost', { text })).post?.id as string
  }
  const read = (as: string, strategy: string, first: number) =>
    server.sendQuery(as, queries.timeline, { strategy, first })

  const fans = ['ann', 'ben', 'cem', 'dan', 'eve', 'fay', 'gus', 'hal']
  const keyOf = (n: number) => ({ clientMutationId: `first ${n}` })
  for (const handle of [...fans, 'star', 'idol', 'gone', 'bye']) {
    await mutate(handle, 'createUser', {
      name: `${handle}!`,
      ...(handle === 'ann' ? keyOf(0) : {}),
    })
  }
  await publish('star', 'before the fans')
  await publish('idol', 'before the fans')
  for (const [n, fan] of fans.entries()) {
    await mutate(fan, 'followUser', { handle: 'star', ...(n === 0 ? keyOf(1) : {}) })
    if (n < 6) await mutate(fan, 'followUser', { handle: 'idol' })
    for (const step of [1, 2]) await mutate(fan, 'followUser', { handle: fans[(n + step) % 8] })
    await mutate('gone', 'followUser', { handle: fan })
    await mutate('bye', 'followUser', { handle: fan })
    if (env.FEED_MAINTAINED?.includes('CACHE') && n < 5) await read(fan, 'CACHE', 5)
  }
  await mutate('ann', 'setFollowGroups', { handle: 'star', groups: ['close', 'work'] })
  await mutate('ann', 'setFollowGroups', { handle: 'ben', groups: ['close'] })
  await mutate('eve', 'setFollowGroups', { handle: 'fay', groups: ['close'] })
  const first = await mutate('ann', 'createPost', { text: 'twice is once', ...keyOf(2) })
  const viral = await publish('star', 'seen by all')
  await publish('idol', 'seen by six')
  for (const round of [1, 2, 3]) {
    for (const fan of fans) await publish(fan, `${fan} ${round}`)
    await publish('star', `star ${round}`)
  }
  const posts = [viral, first.post?.id as string]
  for (const [n, fan] of [...fans, 'gone', 'bye'].entries()) {
    for (const postId of posts) {
      await mutate(fan, 'likePost', {
        postId,
        ...(n === 0 ? { clientMutationId: `like ${postId}` } : {}),
      })
      if (n % 2 === 0) await mutate(fan, 'sharePost', { postId })
      const key = n === 1 ? { clientMutationId: `comment ${postId}` } : {}
      await mutate(fan, 'addComment', { postId, text: `${fan} says`, ...key })
    }
  }
  await mutate('ben', 'unlikePost', { postId: viral })
  const removed = await publish('cem', 'removed with its likes')
  for (const fan of fans) await mutate(fan, 'likePost', { postId: removed })
  await mutate('cem', 'deletePost', { postId: removed })
  await mutate('ann', 'muteUser', { handle: 'cem' })
  await mutate('eve', 'blockUser', { handle: 'gus' })
  await mutate('fay', 'blockUser', { handle: 'gus' })
  await mutate('gone', 'deleteUser')
  at += hourMs
  await server.runJobs()
  await recordRepairs(server.services)
  for (const fan of fans.slice(0, 3)) await mutate(fan, 'unfollowUser', { handle: 'idol' })
  await server.runJobs()
  // The author now has too few followers for a celebrity. So the delivery of this post demotes the author, and leaves the
  // job that delivers the earlier posts.
  await publish('idol', 'few are left')

  // A process that is killed after these commits, before it runs their jobs.
  const killed = await startRelease(uri, name, env, now)
  const mutateKilled = createMutate(killed)
  await mutateKilled('hal', 'unfollowUser', { handle: 'ann' })
  if (!(await killed.services.queue.claim(1, 'QUICK'))) throw new Error('no job was claimed')
  await publish('ben', 'not delivered yet', mutateKilled)
  await mutateKilled('hal', 'followUser', { handle: 'cem' })
  const last = await publish('dan', 'removed before its delivery', mutateKilled)
  await mutateKilled('ann', 'likePost', { postId: last })
  await mutateKilled('dan', 'deletePost', { postId: last })
  await mutateKilled('bye', 'deleteUser')
  at += hourMs
  await killed.stop()
  return { server, fans, repeats }
}

/** Records the answers of the earlier release to all queries of a user. */
async function recordAnswers(
  { server, fans }: Awaited<ReturnType<typeof fillDatabase>>,
  strategies: readonly string[],
): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = []
  const recordAnswer = async (as: string, query: keyof typeof queries, variables: object = {}) => {
    answers.push({
      as,
      query,
      variables,
      data: await server.sendQuery(as, queries[query], variables),
    })
    return answers.at(-1)?.data
  }
  const posts = new Set<string>()
  for (const as of [...fans, 'star', 'idol']) {
    for (const strategy of ['FANOUT_ON_READ', ...strategies]) {
      for (const first of [5, 100]) await recordAnswer(as, 'timeline', { strategy, first })
      if (as === 'ann') await recordAnswer(as, 'timeline', { strategy, first: 100, group: 'close' })
    }
    await recordAnswer(as, 'viewer')
    const { user } = (await recordAnswer(as, 'user', { handle: as })) as { user: UserAnswer }
    for (const { node } of user.posts.edges) posts.add(node.id)
  }
  for (const handle of [...fans, 'star', 'idol', 'gone', 'bye'])
    await recordAnswer('ann', 'user', { handle })
  for (const group of ['close', 'work'])
    await recordAnswer('ann', 'group', { handle: 'ann', group })
  await recordAnswer('eve', 'group', { handle: 'eve', group: 'close' })
  for (const id of posts) await recordAnswer('ben', 'post', { id })
  return answers
}
interface UserAnswer {
  readonly posts: { readonly edges: readonly { readonly node: { readonly id: string } }[] }
}

async function dumpCollections(db: Db): Promise<RecordedDatabase['collections']> {
  const collections = await db.listCollections().toArray()
  return Promise.all(
    collections.map(async ({ name, options = {} }: Document) => ({
      name,
      options,
      indexes: (await db.collection(name).indexes())
        .filter((index) => index.name !== '_id_' && !index.clustered)
        .map(({ v: _, ...index }) => index),
      documents: await db.collection(name).find().sort({ _id: 1 }).toArray(),
    })),
  )
}

async function recordDatabase(uri: string, { following, strategies }: (typeof settings)[number]) {
  const env = { ...common, FOLLOWING: following, FEED_MAINTAINED: strategies.join() }
  const name = `recorded_${following.replace('-', '_')}`
  const filled = await fillDatabase(uri, name, env)
  const client = await MongoClient.connect(uri)
  const collections = await dumpCollections(client.db(name))
  await client.close()
  await filled.server.runJobs()
  const answers = await recordAnswers(filled, strategies)
  const repeats: RecordedAnswer[] = []
  for (const { as, query, variables } of filled.repeats) {
    const data = await filled.server.sendQuery(as, mutations[query as Mutation], variables)
    repeats.push({ as, query, variables, data })
  }
  await filled.server.stop()
  return { following, env, collections, queries: { ...queries, ...mutations }, answers, repeats }
}

const dataFolder = await mkdtemp(join(tmpdir(), 'feedline-record-'))
const mongod = await openMongod({
  dataFolder,
  binFolder: join(import.meta.dirname, '../.feedline/bin'),
  mongodBinary: process.env.MONGOD_BINARY,
  log: console.error,
  // Keeps the recorded idempotency keys, which are older than a day.
  extraArgs: ['--setParameter', 'ttlMonitorEnabled=false'],
})
try {
  const databases: RecordedDatabase[] = []
  for (const setting of settings) databases.push(await recordDatabase(mongod.uri, setting))
  const folder = join(import.meta.dirname, '../tests/fixtures')
  await mkdir(folder, { recursive: true })
  const text = BSON.EJSON.stringify({ commit, databases })
  await writeFile(join(folder, `${commit}.json.gz`), gzipSync(text, { level: 9 }))
} finally {
  await mongod.stop()
  await rm(dataFolder, { recursive: true, force: true })
}
