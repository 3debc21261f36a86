import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createIdempotencyKey, type IdempotencyKey } from '../../src/db/idempotency.ts'
import { apartMs } from '../../src/db/shared-transactions.ts'
import type { DomainError } from '../../src/errors.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { labelOf, labelsOf } from '../support/commands.ts'
import { type Failure, failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
let scenes = 0

/**
 * Opens accounts of new authors, when no collision keeps authors from sharing transactions any
 * more.
 */
async function newAuthors(count: number): Promise<{ prefix: string; authors: UserId[] }> {
  await sleep(apartMs)
  const prefix = `s${scenes++}-`
  const authors = Array.from({ length: count }, (_, n) => handle(`${prefix}${n}`))
  await openAccounts(harness.services, authors)
  return { prefix, authors }
}

const publish = async (author: UserId, text = 'hello', idempotencyKey?: IdempotencyKey) =>
  (await harness.services.posts.create(author, { text }, idempotencyKey)) as PostRef

/** Publishes a post of each author at once. */
const publishAtOnce = (authors: readonly UserId[]) =>
  Promise.allSettled(authors.map((author) => publish(author)))

function keyOf(author: UserId, text: string) {
  const input = { clientMutationId: 'once', text }
  return createIdempotencyKey(author, 'createPost', input)
}

/** Makes a command on one collection of the test's database, or without one, fail once. */
const failingOnce = (command: string, collection: string | undefined, failure: Partial<Failure>) =>
  failCommand(harness.database.client, {
    failCommands: [command],
    ...(collection ? { namespace: `${harness.database.name}.${collection}` } : {}),
    times: 1,
    ...failure,
  })

/**
 * Expects one post of each author, with its job and its count, and that each follower's timeline
 * shows it once.
 */
async function expectOneEach(prefix: string, authors: readonly UserId[]) {
  const { collections } = harness.services
  const posts = await collections.posts.find({ author: { $in: [...authors] } }).toArray()
  expect(posts.map(({ author }) => author).sort()).toEqual([...authors].sort())
  const ids = posts.map(({ _id }) => _id.toHexString())
  const jobs = await collections.outbox.find({ 'payload.post': { $in: ids } }).toArray()
  expect(jobs.map(({ payload }) => payload.post).sort()).toEqual(ids.sort())
  expect(await problemsOf(harness, prefix)).toEqual([])
  await harness.rest()
  const stored = await collections.inbox.find({ '_id.reader': { $in: [...authors] } }).toArray()
  expect(stored.map(({ _id }) => _id.reader).sort()).toEqual([...authors].sort())
}

test('posts of several authors that arrive together are published by five commands', async () => {
  // The first post of a process reads what the deployment is.
  for (const author of (await newAuthors(1)).authors) await publish(author)
  await harness.rest()
  const { prefix, authors } = await newAuthors(16)
  const { client } = harness.database
  const { result, commands } = await recorded(client, () => publishAtOnce(authors))
  expect(result.every(({ status }) => status === 'fulfilled')).toBe(true)
  expect(labelsOf(commands)).toEqual([
    'commitTransaction',
    'insert posts',
    'read user_stats',
    'update outbox',
    'update user_stats',
  ])
  await expectOneEach(prefix, authors)
})

test('posts that arrive during a transaction of another author share the next one', async () => {
  const { authors } = await newAuthors(5)
  const [first, ...others] = authors as [UserId, ...UserId[]]
  const { client } = harness.database
  const { commands } = await recorded(client, async () => {
    const early = publish(first)
    for (let n = 0; n < 3; n++) await new Promise(setImmediate)
    await Promise.all([early, ...others.map((author) => publish(author))])
  })
  const commits = labelsOf(commands).filter((label) => label === 'commitTransaction')
  expect(commits).toHaveLength(2)
})

const failures: Readonly<Record<string, Partial<Failure>>> = {
  'collides with another write': {
    errorCode: 112,
    errorLabels: ['TransientTransactionError'],
  },
  'is refused a unique value': { errorCode: 11_000 },
  'fails for a reason of one author': { errorCode: 8000 },
}

test.each(Object.entries(failures))(
  'each author publishes alone, and once, after a shared transaction that %s',
  async (_, failure) => {
    for (const [command, collection] of [
      ['update', 'user_stats'],
      ['insert', 'posts'],
      ['update', 'outbox'],
    ] as const) {
      const { prefix, authors } = await newAuthors(4)
      await using _failing = await failingOnce(command, collection, failure)
      const { result, commands } = await recorded(harness.database.client, () =>
        publishAtOnce(authors),
      )
      expect(result.filter(({ status }) => status === 'rejected')).toEqual([])
      const sent = (label: string) => labelsOf(commands).filter((one) => one === label).length
      // Only a shared transaction updates counters without reading them.
      expect(sent('update user_stats'), `${command} ${collection}`).toBe(1)
      // On a busy machine, a try that collides is aborted and tried again: each author has one that
      // is not.
      const tries = (label: string) =>
        new Set(
          commands
            .filter((one) => labelOf(one) === label)
            .map(({ command: { lsid, txnNumber } }) => `${lsid.id.toString('hex')} ${txnNumber}`),
        )
      const aborted = tries('abortTransaction')
      const alone = [...tries('findAndModify user_stats')].filter((one) => !aborted.has(one))
      expect(alone).toHaveLength(authors.length)
      expect(sent('commitTransaction')).toBe(authors.length)
      await expectOneEach(prefix, authors)
    }
  },
)

test('each post is published once though a connection breaks, or a commit is not confirmed', async () => {
  const unconfirmed = { writeConcernError: { code: 64, errmsg: 'no majority in time' } }
  for (const [command, collection, failure] of [
    ['insert', 'posts', { closeConnection: true }],
    ['commitTransaction', undefined, { closeConnection: true }],
    ['commitTransaction', undefined, unconfirmed],
  ] as const) {
    const { prefix, authors } = await newAuthors(3)
    await using _ = await failingOnce(command, collection, failure)
    const results = await publishAtOnce(authors)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    await expectOneEach(prefix, authors)
  }
})

test('after a commit that failed no author publishes again, and each learns of the failure', async () => {
  const { authors } = await newAuthors(3)
  await using _ = await failingOnce('commitTransaction', undefined, { errorCode: 8000 })
  const { result, commands } = await recorded(harness.database.client, () => publishAtOnce(authors))
  expect(result.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(labelsOf(commands).filter((label) => label === 'insert posts')).toHaveLength(1)
  const { posts } = harness.services.collections
  expect(await posts.countDocuments({ author: { $in: authors } })).toBe(0)
})

test('an author without an account is refused, and publishes no other author’s post less', async () => {
  const { prefix, authors } = await newAuthors(3)
  const stranger = handle(`${prefix}stranger`)
  const [refused, ...others] = await publishAtOnce([stranger, ...authors])
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND' } })
  expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  await expectOneEach(prefix, authors)
})

test('repeats in a shared transaction have the result of the first, and a changed repeat is a conflict', async () => {
  const { prefix, authors } = await newAuthors(3)
  const withKeys = (text: string) =>
    Promise.all(authors.map((author) => publish(author, text, keyOf(author, text))))
  const idsOf = (posts: readonly PostRef[]) => posts.map(({ id }) => id)
  const [first, repeated] = await Promise.all([withKeys('a'), withKeys('a')])
  expect(idsOf(repeated)).toEqual(idsOf(first))
  expect(idsOf(await withKeys('a'))).toEqual(idsOf(first))
  const changed = await Promise.allSettled(
    authors.map((author, n) =>
      publish(author, n === 0 ? 'b' : 'a', keyOf(author, n === 0 ? 'b' : 'a')),
    ),
  )
  const codes = changed.map((one) =>
    one.status === 'rejected' ? (one.reason as DomainError).code : 'OK',
  )
  expect(codes).toEqual(['CONFLICT', 'OK', 'OK'])
  await expectOneEach(prefix, authors)
})

test('the locked counters of one author delay no other author', async () => {
  const { prefix, authors } = await newAuthors(4)
  const [locked, ...others] = authors as [UserId, ...UserId[]]
  const { user_stats } = harness.services.collections
  const session = harness.database.client.startSession()
  session.startTransaction()
  await user_stats.updateOne({ _id: locked }, { $inc: { guard: 1 } }, { session })
  const late = publish(locked)
  await Promise.all(others.map((author) => publish(author)))
  await session.abortTransaction()
  await session.endSession()
  await late
  await expectOneEach(prefix, authors)
})

test('authors beyond the sixteenth publish in another transaction, and each audience has its queue', async () => {
  const { prefix, authors } = await newAuthors(17)
  const { user_stats, outbox } = harness.services.collections
  const [famous] = authors as [UserId]
  await user_stats.updateOne({ _id: famous }, { $set: { followers: 3_000 } })
  const { commands } = await recorded(harness.database.client, () => publishAtOnce(authors))
  expect(labelsOf(commands).filter((label) => label === 'commitTransaction')).toHaveLength(2)
  const bulk = await outbox.find({ queue: 'BULK' }).toArray()
  expect(bulk.map(({ payload }) => payload.author)).toEqual([famous])
  await user_stats.updateOne({ _id: famous }, { $set: { followers: 0 } })
  await expectOneEach(prefix, authors)
})

test('several posts of each of several authors keep their order and are counted', async () => {
  const { prefix, authors } = await newAuthors(3)
  const texts = ['one', 'two', 'three']
  await Promise.all(texts.flatMap((text) => authors.map((author) => publish(author, text))))
  const { posts, user_stats } = harness.services.collections
  for (const author of authors) {
    const stored = await posts.find({ author }).sort({ _id: 1 }).toArray()
    expect(stored.map(({ text }) => text)).toEqual(texts)
    expect(await user_stats.findOne({ _id: author })).toMatchObject({ posts: 3 })
  }
  expect(await problemsOf(harness, prefix)).toEqual([])
})
