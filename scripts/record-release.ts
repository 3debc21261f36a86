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
import type { RecordedAnswer, RecordedDatabase } from '../tests/support/release-fixture.ts'

// Writes the fixture of tests/integration/migrations.test.ts with the code of an earlier release:
//   git worktree add ../earlier e62058d && (cd ../earlier && npm ci && npm run build)
//   node --import tsx scripts/record-release.ts ../earlier
const checkout = resolve(process.argv[2] ?? '.')
const commit = execFileSync('git', ['-C', checkout, 'rev-parse', '--short=7', 'HEAD'])
  .toString()
  .trim()
/** A module of the earlier release, whose types this one does not know. */
const load = (path: string) => import(pathToFileURL(join(checkout, 'dist', path)).href)
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
/** INBOX is apart: while it is maintained, HYBRID has no celebrities. */
const settings: readonly { following: FollowingMode; strategies: readonly string[] }[] = [
  { following: 'collection', strategies: ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'HYBRID'] },
  { following: 'reverse-index', strategies: ['INBOX'] },
]

const page = 'edges { cursor node { id text author { handle } } } pageInfo { hasNextPage }'
const people = 'edges { cursor followedAt source node { handle } }'
const engagement = (more: string) =>
  `edges { cursor node { id createdAt user { handle } ${more} } }`
const queries = {
  timeline: `query($strategy: FeedStrategy!, $first: Int!, $group: String) { timeline(strategy: $strategy, first: $first, group: $group) { servedBy pending ${page} } }`,
  user: `query($handle: String!) { user(handle: $handle) { id name bio createdAt viewerFollows followsViewer viewerHasMuted viewerHasBlocked viewerGroups stats { followers following posts } followers(first: 100) { ${people} } following(first: 100) { ${people} } posts(first: 100) { ${page} } likedPosts(first: 100) { edges { cursor likedAt node { id } } } } }`,
  group: `query($handle: String!, $group: String!) { user(handle: $handle) { following(first: 100, group: $group) { ${people} } } }`,
  viewer:
    'query { viewer { groups(first: 100) { edges { node { name } } } mutes(first: 100) { edges { cursor node { handle } } } blocks(first: 100) { edges { cursor node { handle } } } } }',
  post: `query($id: ID!) { node(id: $id) { ... on Post { id text createdAt likeCount commentCount shareCount viewerHasLiked viewerHasShared likes(first: 100) { ${engagement('')} } comments(first: 100) { ${engagement('text')} } shares(first: 100) { ${engagement('')} } } } }`,
}
const mutation = (name: string, input: string, fields: string) =>
  `mutation($input: ${input}!) { ${name}(input: $input) { ${fields} } }`
const mutations = {
  createUser: mutation('createUser', 'CreateUserInput', 'user { handle name }'),
  deleteUser: mutation('deleteUser', 'DeleteUserInput', 'changed'),
  createPost: mutation('createPost', 'CreatePostInput', 'post { id text }'),
  deletePost: mutation('deletePost', 'DeletePostInput', 'changed'),
  followUser: mutation('followUser', 'UserInput', 'changed'),
  unfollowUser: mutation('unfollowUser', 'UserInput', 'changed'),
  muteUser: mutation('muteUser', 'UserInput', 'changed'),
  blockUser: mutation('blockUser', 'UserInput', 'changed'),
  setFollowGroups: mutation('setFollowGroups', 'SetFollowGroupsInput', 'groups'),
  likePost: mutation('likePost', 'PostInput', 'changed'),
  unlikePost: mutation('unlikePost', 'PostInput', 'changed'),
  sharePost: mutation('sharePost', 'PostInput', 'changed'),
  addComment: mutation('addComment', 'AddCommentInput', 'comment { id text }'),
}
type Mutation = keyof typeof mutations
/** The fields of mutations that are used here. */
interface Answered {
  readonly post?: { readonly id: string }
}

/** A process of the earlier release on a database, with a clock of its own. */
async function startRelease(
  uri: string,
  name: string,
  env: Record<string, string>,
  now: () => number,
) {
  const [{ connect }, { applyIndexes, followingModeOf }, { readConfig }] = [
    await load('db/client.js'),
    await load('db/indexes.js'),
    await load('config.js'),
  ]
  const client = await connect(uri)
  const db = client.db(name)
  const config = readConfig(env)
  await followingModeOf(db, config.following)
  await applyIndexes(db, config.following)
  const services = (await load('services.js')).createServices(client, db, config, [], now)
  await (await load('feed/feeds.js')).registerStrategies(services, config.feed.maintained)
  const { Metrics } = await load('reconcile/metrics.js')
  const parts = { config, services, log: silent, nudge: () => {}, ready: async () => true }
  const http = await (await load('graphql/server.js')).createServer({
    ...parts,
    metrics: new Metrics(),
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (as: string, query: string, variables: object) => {
    const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
    const body = JSON.stringify({ query, variables })
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown }
    if (errors) throw new Error(`${as}: ${query}: ${JSON.stringify(errors)}`)
    return data
  }
  const runJobs = async () => {
    const { Worker } = await load('jobs/worker.js')
    await services.collections.outbox.updateMany({}, { $set: { runAt: new Date(0) } })
    const options = { concurrency: 4, pollMs: 20, leaseMs: 30_000 }
    await new Worker(services.queue, services.tasks, silent, options).drain()
    const left = await services.collections.outbox.findOne({})
    if (left) throw new Error(`a job is left: ${JSON.stringify(left)}`)
  }
  const stop = async () => {
    await http.close()
    await client.close()
  }
  return { services, ask, runJobs, stop }
}

/** Leaves the record of a repair, and of a reconciliation that has not ended. */
async function repairCounters(services: Awaited<ReturnType<typeof startRelease>>['services']) {
  const { reconcile } = await load('reconcile/reconcile.js')
  const options = { users: 'all', dryRun: false, now: () => Date.UTC(2099, 0, 1) }
  await services.collections.user_stats.updateOne({ _id: 'dan' }, { $inc: { followers: 3 } })
  await reconcile(services, options)
  const signal = AbortSignal.abort(new Error('stopped'))
  await reconcile(services, { ...options, signal }).catch(() => {})
}

/** What people do. Each act is an hour after the one before. */
async function act(uri: string, name: string, env: Record<string, string>) {
  let at = Date.UTC(2024, 0, 1)
  const now = () => ++at
  const server = await startRelease(uri, name, env, now)
  server.services.inline.start(server.services.tasks, silent)
  const repeats: Omit<RecordedAnswer, 'data'>[] = []
  const make =
    (release: typeof server) =>
    async (as: string, what: Mutation, input: object = {}) => {
      at += hourMs
      const variables = { input }
      if ('clientMutationId' in input) repeats.push({ as, query: what, variables })
      const data = (await release.ask(as, mutations[what], variables)) as Record<string, Answered>
      return data[what] as Answered
    }
  const does = make(server)
  const post = async (as: string, text: string, by = does) => {
    return (await by(as, 'createPost', { text })).post?.id as string
  }
  const read = (as: string, strategy: string, first: number) =>
    server.ask(as, queries.timeline, { strategy, first })

  const fans = ['ann', 'ben', 'cem', 'dan', 'eve', 'fay', 'gus', 'hal']
  const once = (n: number) => ({ clientMutationId: `first ${n}` })
  for (const one of [...fans, 'star', 'idol', 'gone', 'bye']) {
    await does(one, 'createUser', { name: `${one}!`, ...(one === 'ann' ? once(0) : {}) })
  }
  await post('star', 'before the fans')
  await post('idol', 'before the fans')
  for (const [n, fan] of fans.entries()) {
    await does(fan, 'followUser', { handle: 'star', ...(n === 0 ? once(1) : {}) })
    if (n < 6) await does(fan, 'followUser', { handle: 'idol' })
    for (const step of [1, 2]) await does(fan, 'followUser', { handle: fans[(n + step) % 8] })
    await does('gone', 'followUser', { handle: fan })
    await does('bye', 'followUser', { handle: fan })
    if (env.FEED_MAINTAINED?.includes('CACHE') && n < 5) await read(fan, 'CACHE', 5)
  }
  await does('ann', 'setFollowGroups', { handle: 'star', groups: ['close', 'work'] })
  await does('ann', 'setFollowGroups', { handle: 'ben', groups: ['close'] })
  await does('eve', 'setFollowGroups', { handle: 'fay', groups: ['close'] })
  const first = await does('ann', 'createPost', { text: 'twice is once', ...once(2) })
  const viral = await post('star', 'seen by all')
  await post('idol', 'seen by six')
  for (const round of [1, 2, 3]) {
    for (const fan of fans) await post(fan, `${fan} ${round}`)
    await post('star', `star ${round}`)
  }
  const posts = [viral, first.post?.id as string]
  for (const [n, fan] of [...fans, 'gone', 'bye'].entries()) {
    for (const postId of posts) {
      await does(fan, 'likePost', {
        postId,
        ...(n === 0 ? { clientMutationId: `like ${postId}` } : {}),
      })
      if (n % 2 === 0) await does(fan, 'sharePost', { postId })
      const key = n === 1 ? { clientMutationId: `comment ${postId}` } : {}
      await does(fan, 'addComment', { postId, text: `${fan} says`, ...key })
    }
  }
  await does('ben', 'unlikePost', { postId: viral })
  const removed = await post('cem', 'removed with its likes')
  for (const fan of fans) await does(fan, 'likePost', { postId: removed })
  await does('cem', 'deletePost', { postId: removed })
  await does('ann', 'muteUser', { handle: 'cem' })
  await does('eve', 'blockUser', { handle: 'gus' })
  await does('fay', 'blockUser', { handle: 'gus' })
  await does('gone', 'deleteUser')
  at += hourMs
  await server.runJobs()
  await repairCounters(server.services)
  for (const fan of fans.slice(0, 3)) await does(fan, 'unfollowUser', { handle: 'idol' })
  await server.runJobs()
  // The delivery of this post finds few followers, and leaves the job that delivers the posts that were left out.
  await post('idol', 'few are left')

  // A process that is killed after each of these commits, before it runs a job.
  const killed = await startRelease(uri, name, env, now)
  const leaves = make(killed)
  await leaves('hal', 'unfollowUser', { handle: 'ann' })
  if (!(await killed.services.queue.claim(1, 'QUICK'))) throw new Error('no job was claimed')
  await post('ben', 'not delivered yet', leaves)
  await leaves('hal', 'followUser', { handle: 'cem' })
  const last = await post('dan', 'removed before its delivery', leaves)
  await leaves('ann', 'likePost', { postId: last })
  await leaves('dan', 'deletePost', { postId: last })
  await leaves('bye', 'deleteUser')
  at += hourMs
  await killed.stop()
  return { server, fans, repeats }
}

/** Everything that a user may see, as the earlier release answers it. */
async function answersOf(
  { server, fans }: Awaited<ReturnType<typeof act>>,
  strategies: readonly string[],
): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = []
  const ask = async (as: string, query: keyof typeof queries, variables: object = {}) => {
    answers.push({ as, query, variables, data: await server.ask(as, queries[query], variables) })
    return answers.at(-1)?.data
  }
  const posts = new Set<string>()
  for (const as of [...fans, 'star', 'idol']) {
    for (const strategy of ['FANOUT_ON_READ', ...strategies]) {
      for (const first of [5, 100]) await ask(as, 'timeline', { strategy, first })
      if (as === 'ann') await ask(as, 'timeline', { strategy, first: 100, group: 'close' })
    }
    await ask(as, 'viewer')
    const { user } = (await ask(as, 'user', { handle: as })) as { user: Listed }
    for (const { node } of user.posts.edges) posts.add(node.id)
  }
  for (const handle of [...fans, 'star', 'idol', 'gone', 'bye'])
    await ask('ann', 'user', { handle })
  for (const group of ['close', 'work']) await ask('ann', 'group', { handle: 'ann', group })
  await ask('eve', 'group', { handle: 'eve', group: 'close' })
  for (const id of posts) await ask('ben', 'post', { id })
  return answers
}
interface Listed {
  readonly posts: { readonly edges: readonly { readonly node: { readonly id: string } }[] }
}

async function dump(db: Db): Promise<RecordedDatabase['collections']> {
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

async function record(uri: string, { following, strategies }: (typeof settings)[number]) {
  const env = { ...common, FOLLOWING: following, FEED_MAINTAINED: strategies.join() }
  const name = `recorded_${following.replace('-', '_')}`
  const acted = await act(uri, name, env)
  const client = await MongoClient.connect(uri)
  const collections = await dump(client.db(name))
  await client.close()
  await acted.server.runJobs()
  const answers = await answersOf(acted, strategies)
  const repeats: RecordedAnswer[] = []
  for (const { as, query, variables } of acted.repeats) {
    const data = await acted.server.ask(as, mutations[query as Mutation], variables)
    repeats.push({ as, query, variables, data })
  }
  await acted.server.stop()
  return { following, env, collections, queries: { ...queries, ...mutations }, answers, repeats }
}

const dataFolder = await mkdtemp(join(tmpdir(), 'feedline-record-'))
const mongod = await openMongod({
  dataFolder,
  binFolder: join(import.meta.dirname, '../.feedline/bin'),
  mongodBinary: process.env.MONGOD_BINARY,
  log: console.error,
  // The recorded idempotency keys are older than a day.
  extraArgs: ['--setParameter', 'ttlMonitorEnabled=false'],
})
try {
  const databases: RecordedDatabase[] = []
  for (const setting of settings) databases.push(await record(mongod.uri, setting))
  const folder = join(import.meta.dirname, '../tests/fixtures')
  await mkdir(folder, { recursive: true })
  const text = BSON.EJSON.stringify({ commit, databases })
  await writeFile(join(folder, `${commit}.json.gz`), gzipSync(text, { level: 9 }))
} finally {
  await mongod.stop()
  await rm(dataFolder, { recursive: true, force: true })
}
