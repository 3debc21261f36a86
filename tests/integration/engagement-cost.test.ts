import { BSON, type CommandSucceededEvent } from 'mongodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { EngagementKind } from '../../src/engagement/kinds.ts'
import { UserEngagementIndex } from '../../src/engagement/user-index.ts'
import { readConfig } from '../../src/environment.ts'
import { chunks } from '../../src/lib/batch.ts'
import { type EngagementId, type PostRef, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { labelsOf, shardProblemOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const { engagement } = readConfig({})
const harness = useServices('collection', engagement)
const author = handle('author')
/** FEEDLINE_LIKES makes the most popular post more popular. */
const most = Number(process.env.FEEDLINE_LIKES ?? 10_000)
const fans = Array.from({ length: most }, (_, n) => handle(`fan${n}`))
const viewer = handle('viewer')
let popular: PostRef
let viral: PostRef

const publish = async (): Promise<PostRef> => {
  const { id } = await harness.services.posts.create(author, { text: 'x'.repeat(100) })
  return { id, author }
}

async function liked(post: PostRef, by: readonly UserId[]) {
  for (const some of chunks(by, 500)) {
    await Promise.all(some.map((fan) => harness.services.engagements.add('likes', fan, post)))
  }
}

beforeAll(async () => {
  // Its reads would count as bytes of others.
  await harness.services.memory.close()
  for (const some of chunks([author, viewer, ...fans], 10_000)) {
    await openAccounts(harness.services, some)
  }
  popular = await publish()
  viral = await publish()
  await liked(popular, fans.slice(0, 2_000))
  await liked(viral, fans)
  for (const post of [popular, viral]) {
    for (let n = 0; n < 30; n++)
      await harness.services.engagements.add('comments', viewer, post, { text: 'hello' })
  }
}, patient(600_000))

/** The commands of a call, and the bytes that it sends and receives. */
async function costOf(call: () => Promise<unknown>) {
  let bytes = 0
  const count = ({ reply }: CommandSucceededEvent) => {
    bytes += BSON.calculateObjectSize(reply as object)
  }
  const { client } = harness.database
  client.on('commandSucceeded', count)
  try {
    const { commands } = await recorded(client, call)
    return { bytes, labels: labelsOf(commands), commands }
  } finally {
    client.off('commandSucceeded', count)
  }
}

test('every write of a like waits for a majority, below and above the threshold', async () => {
  for (const post of [popular, await publish()]) {
    const add = () => harness.services.engagements.add('likes', viewer, post)
    const remove = () => harness.services.engagements.remove('likes', viewer, post)
    const { commands } = await recorded(harness.database.client, () => add().then(remove))
    const writes = commands.filter(({ name }) =>
      ['insert', 'update', 'delete', 'findAndModify'].includes(name),
    )
    const nameOf = ({ name, collection = '' }: (typeof commands)[number]) => `${name} ${collection}`
    const outside = writes.filter(({ command }) => command.autocommit === undefined)
    expect(outside.map(nameOf)).toEqual([])
    expect(writes.map(nameOf)).toEqual(
      expect.arrayContaining(['insert engagements_by_user', 'delete engagements_by_user']),
    )
    const commits = commands.filter(({ name }) => name === 'commitTransaction')
    expect(commits.map(({ command }) => command.writeConcern?.w)).toEqual(['majority', 'majority'])
  }
})

describe('the cost at 2,000 likes and at five times as many', () => {
  const window = { limit: 20, backward: false }
  const listOf = (kind: EngagementKind) => harness.services.engagementReader.list(kind)
  const calls: Record<string, (post: PostRef) => Promise<unknown>> = {
    like: (post) => harness.services.engagements.add('likes', viewer, post),
    'like again': (post) => harness.services.engagements.add('likes', viewer, post),
    'whether the viewer likes it': (post) =>
      harness.services.engagementReader.entries(['likes', 'shares'], [post], [viewer]),
    unlike: (post) => harness.services.engagements.remove('likes', viewer, post),
    'a page of likes': (post) => readPages(listOf('likes'), [post], window),
    'the oldest likes': (post) => readPages(listOf('likes'), [post], { limit: 20, backward: true }),
    'a page of comments': (post) => readPages(listOf('comments'), [post], window),
    comment: (post) =>
      harness.services.engagements.add('comments', viewer, post, { text: 'me too' }),
    share: (post) => harness.services.engagements.add('shares', viewer, post),
    unshare: (post) => harness.services.engagements.remove('shares', viewer, post),
    'the post': (post) => harness.services.posts.byRefs([post]),
  }

  test.each(Object.entries(calls))('%s has the same cost at any popularity', async (name, call) => {
    const [less, more] = [await costOf(() => call(popular)), await costOf(() => call(viral))]
    noteFact(`${name}: ${more.labels.length} commands, ${less.bytes} and ${more.bytes} bytes`)
    expect(more.labels).toEqual(less.labels)
    expect(more.bytes / less.bytes).toBeLessThan(2)
    expect(more.commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  })

  test('a page from the middle of a long list examines a bounded number of documents', async () => {
    const like = await harness.services.engagementReader.entries(
      ['likes'],
      [viral],
      [fans[4_000] as UserId],
    )
    const after = like[0]?.place
    const { commands } = await costOf(() =>
      readPages(listOf('likes'), [viral], { ...window, after }),
    )
    for (const { command, collection } of commands) {
      if (collection !== 'overflow') continue
      const { pipeline } = command
      const explained = await harness.database.db.command({
        explain: { aggregate: 'overflow', pipeline, cursor: {} },
        verbosity: 'executionStats',
      })
      const stats = (explained.stages?.[0]?.$cursor ?? explained).executionStats
      // MongoDB reads this far ahead before the page can stop it.
      expect(stats.totalDocsExamined).toBeLessThanOrEqual(32)
    }
    expect(like).toHaveLength(1)
  })
})

test('fifty posts with ten popular ones transfer as many bytes as fifty quiet posts', async () => {
  const quiet = await Promise.all(Array.from({ length: 50 }, publish))
  const loud = await Promise.all(Array.from({ length: 10 }, publish))
  for (const post of loud) await liked(post, fans.slice(0, 300))
  const mixed = [...quiet.slice(10), ...loud]
  const bytesOf = async (posts: readonly PostRef[]) =>
    (await costOf(() => harness.services.posts.byRefs(posts))).bytes
  const [calm, popularToo] = [await bytesOf(quiet), await bytesOf(mixed)]
  // Ten of them have counts.
  expect(popularToo - calm).toBeLessThan(10 * 40)
  const engagementOf = (posts: readonly PostRef[]) =>
    costOf(() => harness.services.engagementReader.entries(['likes', 'shares'], posts, [viewer]))
  expect((await engagementOf(quiet)).labels).toEqual(['read posts'])
  expect((await engagementOf(mixed)).labels).toEqual(['read overflow', 'read posts'])
})

test('no document of a list grows with the length of texts', async () => {
  const post = await publish()
  const long = '👩‍👩‍👧‍👦'.repeat(100)
  for (const some of chunks(fans.slice(0, 400), 100)) {
    await Promise.all(
      some.map((fan) => harness.services.engagements.add('comments', fan, post, { text: long })),
    )
  }
  const { posts, overflow } = harness.services.collections
  const stored = await posts.find({ author }).toArray()
  const levels = await overflow.find({ '_id.kind': 'comments' }).toArray()
  for (const document of stored) expect(BSON.calculateObjectSize(document)).toBeLessThan(64 * 1024)
  for (const level of levels) expect(BSON.calculateObjectSize(level)).toBeLessThan(257 * 1024)
  expect(levels.length).toBeGreaterThan(1)
})

test('a purge examines only the entries of its user, however many others have newer entries', async () => {
  const { db } = harness.database
  const { engagements_by_user } = harness.services.collections
  const leaver = handle('leaver')
  const entriesOf = (user: UserId, count: number, from: number) =>
    Array.from({ length: count }, (_, n) => ({
      _id: toObjectId(timeIdAt<EngagementId>(from + n, n.toString(16).padStart(12, '0'))),
      user,
      kind: 'likes' as const,
      post: toObjectId(popular.id),
      author,
    }))
  // The first entries of all belong to the leaver.
  await engagements_by_user.insertMany(entriesOf(leaver, 150, 1_000_000))
  await engagements_by_user.insertMany(entriesOf(handle('other'), 4_000, 2_000_000))
  const userIndex = new UserEngagementIndex(engagements_by_user)
  await db.command({ profile: 2 })
  const found = await userIndex.readBatch(leaver, 200, harness.services.mint.next())
  await db.command({ profile: 0 })
  expect(found).toHaveLength(150)
  const reads = await db
    .collection('system.profile')
    .find({ ns: engagements_by_user.namespace, op: { $in: ['query', 'getmore'] } })
    .toArray()
  expect(reads.length).toBeGreaterThan(0)
  for (const { keysExamined } of reads) expect(keysExamined).toBeLessThanOrEqual(201)
})
