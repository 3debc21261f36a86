import * as operations from '@feedline/client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { knowViewers, useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { gate } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const count = 16
// On a busy machine, the server would execute fewer requests at once.
const { adjust } = ConcurrencyLimit.prototype
ConcurrencyLimit.prototype.adjust = () => {}
afterAll(() => {
  ConcurrencyLimit.prototype.adjust = adjust
})
const app = useApp({ FEED_MAINTAINED: 'INBOX' })
const usersOf = (name: string) => Array.from({ length: count }, (_, n) => handle(`${name}${n}`))
const [fans, authors] = [usersOf('fan'), usersOf('author')]
const [lone, famous, other] = [handle('lone'), handle('famous'), handle('other')]

beforeAll(async () => {
  await openAccounts(app.services, [...fans, ...authors, lone, famous, other])
  for (const author of [...authors, famous])
    await app.services.posts.create(author, { text: 'hello' })
  await app.rest()
})
/** Makes calls wait for each other, so that all of them are made in one turn of the event loop. */
function together<Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) {
  const { open, opened } = gate()
  let arrived = 0
  return async (...args: Args): Promise<Result> => {
    if (++arrived === count) open()
    await opened
    return call(...args)
  }
}

const follow = (fan: UserId, author: UserId) =>
  app.ask(fan, operations.FollowUserDocument, {
    input: { user: { handle: author }, clientMutationId: `follow ${author}` },
  })
const postOf = async (author: UserId) => {
  const post = await app.services.collections.posts.findOne({ author })
  return postNodeId({ author, id: post?._id.toHexString() as never })
}
const like = (fan: UserId, postId: string) =>
  app.ask(fan, operations.LikePostDocument, { input: { postId, clientMutationId: postId } })

/** The labels of all commands of some work, until its jobs are done. */
async function labelsOfAll<T>(work: () => Promise<T>) {
  await knowViewers(app, lone, ...fans)
  const { result, commands } = await recorded(app.database.client, work)
  return { result, labels: labelsOf(commands) }
}

/** The commands of a transaction of follows with idempotency keys. */
const followTransaction = [
  'read handles',
  'read restrictions',
  'read follow_events',
  'insert followers',
  'insert following',
  'insert follow_events',
  'update user_stats',
  'insert idempotency_keys',
  'update outbox',
  'commitTransaction',
]
/** The commands of the jobs that add posts of followees to inboxes. */
const followJobs = [
  'read strategies',
  'read following',
  'read posts',
  'insert inbox',
  'read posts',
  'delete outbox',
]
/** The commands of the answers: profile and relations of the followee, and counters of both. */
const followAnswers = [
  'read users',
  'read user_stats',
  'read restrictions',
  'read following',
  'read following',
  'read followers',
]
const likeTransaction = [
  'update posts',
  'insert engagements_by_user',
  'insert idempotency_keys',
  'commitTransaction',
]
/** What memory lacks of the actors of a first like, and of the authors. */
const likeAdmission = ['read user_stats', 'read users', 'read restrictions']
/** What is read before entries of one list are added together. */
const likesReadBefore = ['read users', 'read idempotency_keys', 'read posts']
/** The commands of the answers: the post with its counts and the viewer's flags, and the viewer. */
const likeAnswers = ['read restrictions', 'read posts', 'read posts', 'read users']

const followAlone = [...followTransaction, ...followJobs, ...followAnswers].sort()
// The process remembers none of the followers.
const followsAtOnce = [...followAlone, 'read users'].sort()
const likeAlone = [...likeTransaction, ...likeAnswers].sort()

test(`a follow costs ${followAlone.length} commands alone, with its job and its answer`, async () => {
  // The process remembers when the account of the follower was opened.
  await follow(lone, other)
  await app.rest()
  const { result, labels } = await labelsOfAll(() => follow(lone, famous))
  expect(result.followUser).toMatchObject({ changed: true, user: { viewerFollows: true } })
  expect(labels).toEqual(followAlone)
  noteFact(`a follow alone: ${labels.length} commands: ${labels.join(', ')}`)
})

test(`16 follows of different accounts cost ${followsAtOnce.length} commands at once`, async () => {
  const { follows, stats, collections } = app.services
  const call = follows.follow.bind(follows)
  const arriving = vi.spyOn(follows, 'follow').mockImplementation(together(call))
  const { result, labels } = await labelsOfAll(() =>
    Promise.all(fans.map((fan, at) => follow(fan, authors[at] as UserId))),
  )
  arriving.mockRestore()
  for (const [at, { followUser }] of result.entries()) {
    const user = { handle: authors[at], viewerFollows: true, followerCount: 1, postCount: 1 }
    const viewer = { user: { followingCount: 1, followerCount: 0 } }
    expect(followUser).toMatchObject({ changed: true, user, viewer })
  }
  expect(labels).toEqual(followsAtOnce)
  noteFact(`${count} follows at once: ${labels.length} commands`)
  expect([...(await stats.byIds(authors)).values()].every(({ followers }) => followers === 1)).toBe(
    true,
  )
  const entries = await collections.inbox.find({ '_id.reader': { $in: fans } }).toArray()
  expect(entries.map(({ _id, author }) => `${_id.reader} ${author}`).sort()).toEqual(
    fans.map((fan, at) => `${fan} ${authors[at]}`).sort(),
  )
  expect(await collections.outbox.countDocuments()).toBe(0)
})

test(`a like costs ${likeAlone.length} commands alone, with its answer`, async () => {
  const post = await postOf(famous)
  const before = postNodeId(await app.services.posts.create(famous, { text: 'another one' }))
  await like(lone, before)
  const { result, labels } = await labelsOfAll(() => like(lone, post))
  expect(result.likePost).toMatchObject({ changed: true, post: { likeCount: 1 } })
  expect(labels).toEqual(likeAlone)
  noteFact(`a like alone: ${labels.length} commands: ${labels.join(', ')}`)
})

test.each([
  [
    'different posts cost 11 commands at once: 0.7 each',
    async () => Promise.all(authors.map(postOf)),
    [...likeTransaction, ...likeAdmission],
  ],
  [
    'one post cost 11 commands at once: 0.7 each',
    async () => Array<string>(count).fill(await postOf(famous)),
    [...likeTransaction, ...likesReadBefore],
  ],
])('16 likes of %s', async (_, findPosts, transaction) => {
  const posts = await findPosts()
  const { engagements } = app.services
  const add = engagements.add.bind(engagements) as (...given: unknown[]) => Promise<never>
  const arriving = vi.spyOn(engagements, 'add').mockImplementation(together(add))
  const { result, labels } = await labelsOfAll(() =>
    Promise.all(fans.map((fan, at) => like(fan, posts[at] as string))),
  )
  arriving.mockRestore()
  for (const [at, { likePost }] of result.entries()) {
    expect(likePost).toMatchObject({
      changed: true,
      likeEdge: { node: { user: { handle: fans[at] } } },
      post: { id: posts[at], viewerHasLiked: true },
    })
  }
  expect(labels).toEqual([...transaction, ...likeAnswers].sort())
  noteFact(`${count} likes at once: ${labels.length} commands`)
})
