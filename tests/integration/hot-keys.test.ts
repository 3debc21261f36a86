import { ObjectId } from 'mongodb'
import { expect, test } from 'vitest'
import { Contended, Poisoned } from '../../src/db/collisions.ts'
import { HotKeys } from '../../src/db/hot-keys.ts'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { Tx } from '../../src/db/transaction.ts'
import { DomainError } from '../../src/errors.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { engagementProblems, sameLimits, walked } from '../support/engagement.ts'
import { persist } from '../support/eventually.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, problemsOf, servicesOver, useServices } from '../support/services.ts'

const limits = { threshold: 1, capacity: 50 }
const harness = useServices('collection', sameLimits(limits))
const others = (count: number) =>
  Array.from({ length: count }, () =>
    servicesOver(harness.database, harness.clock, sameLimits(limits)),
  )

/** Hot keys whose writes add to the posts counter of the account that the key names. */
function counting(
  commit: () => Promise<never> = () => Promise.reject(new Contended()),
  beforeApply = async () => {},
) {
  const { collections, transactions } = harness.services
  const applied: (readonly number[])[] = []
  const apply = async (tx: Tx, key: string, ops: readonly number[]) => {
    applied.push(ops)
    await beforeApply()
    if (ops.length > 1 && ops.includes(13)) throw new Poisoned('thirteen')
    const sum = ops.filter((op) => op >= 0).reduce((total, op) => total + op, 0)
    const one = { _id: key, posts: { $exists: true } }
    await collections.user_stats.updateOne(one, { $inc: { posts: sum } }, { session: tx.session })
    const refused = () => new DomainError('BAD_USER_INPUT', 'op: negative', { argument: 'op' })
    return ops.map((op) => (op < 0 ? refused() : op * 2))
  }
  const keys = new HotKeys<number, number>(collections, transactions, {
    name: 'test',
    now: Date.now,
    lock: async () => {},
    apply,
    commit,
    commitAlone: (key, op) =>
      transactions.run(async (tx) => (await apply(tx, key, [op]))[0] as number),
    pack: (op) => ({ op }),
    unpack: ({ op }) => op as number,
  })
  return { keys, applied }
}

async function newCounter(name: string) {
  const key = handle(name)
  await openAccounts(harness.services, [key])
  const value = async () =>
    (await harness.services.collections.user_stats.findOne({ _id: key }))?.posts
  return { key, value }
}

const leftWrites = (key: string) =>
  harness.services.collections.hot_writes.countDocuments({ key: `test/${key}` })

test('the owner of a hot key commits the writes of four processes, and each gets its own answer', async () => {
  let owners = 0
  // A process that a busy machine holds up for two seconds loses its lease, and another one becomes the owner.
  for (let round = 0; round < 20 && owners !== 1; round++) {
    const { key, value } = await newCounter(`shared${round}`)
    const processes = Array.from({ length: 4 }, () => counting())
    const answers = await Promise.all(
      processes.map(async ({ keys }, at) => {
        const mine: unknown[] = []
        for (let n = 1; n <= 5; n++) mine.push(...(await keys.commitBatch(key, [at, n, -1])))
        return mine
      }),
    )
    for (const [at, mine] of answers.entries()) {
      const details = { argument: 'op' }
      const refused = expect.objectContaining({ code: 'BAD_USER_INPUT', details })
      expect(mine).toEqual([1, 2, 3, 4, 5].flatMap((n) => [at * 2, n * 2, refused]))
    }
    expect(await value()).toBe((0 + 1 + 2 + 3) * 5 + 15 * 4)
    await expect.poll(() => leftWrites(key)).toBe(0)
    owners = processes.filter(({ applied }) => applied.length > 0).length
  }
  expect(owners).toBe(1)
})

test('a write that poisons the batch of a hot key owner fails no write of another process', async () => {
  const { key, value } = await newCounter('poisoned')
  const [one, two] = [counting(), counting()]
  const [first, second] = await Promise.all([
    one.keys.commitBatch(key, [1, 13]),
    two.keys.commitBatch(key, [5, 6]),
  ])
  expect(first).toEqual([2, 26])
  expect(second).toEqual([10, 12])
  expect(await value()).toBe(25)
})

test('another process takes over a hot key when the lease of a dead owner ends', async () => {
  const { key, value } = await newCounter('orphan')
  const until = new Date(Date.now() + 700)
  await harness.services.collections.hot_keys.insertOne({
    _id: `test/${key}`,
    owner: 'dead',
    until,
  })
  expect(await counting().keys.commitBatch(key, [4])).toEqual([8])
  expect(await value()).toBe(4)
  await expect.poll(() => leftWrites(key)).toBe(0)
})

test('requests that are withdrawn again and again hold up no write of the owner', async () => {
  const { key, value } = await newCounter('withdrawing')
  const { hot_writes } = harness.services.collections
  let left = 20
  const request = () => {
    const stored = { key: `test/${key}`, ops: [{ op: 100 }], at: new Date() }
    return hot_writes.insertOne({ _id: new ObjectId(), ...stored })
  }
  const { keys, applied } = counting(undefined, async () => {
    await hot_writes.deleteMany({ key: `test/${key}` })
    if (left-- > 0) await request()
  })
  await request()
  expect(await keys.commitBatch(key, [1])).toEqual([2])
  expect(applied.length).toBeLessThan(6)
  left = 0
  await hot_writes.deleteMany({ key: `test/${key}` })
  expect(await value()).toBe(1)
})

test('a write to a hot key that no owner answers is withdrawn, and never committed', async () => {
  const { key, value } = await newCounter('silent')
  const until = new Date(Date.now() + 60_000)
  const { hot_keys } = harness.services.collections
  await hot_keys.insertOne({ _id: `test/${key}`, owner: 'frozen', until })
  await expect(counting().keys.commitBatch(key, [4])).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('Nothing was changed'),
  })
  await expect.poll(() => leftWrites(key)).toBe(0)
  await hot_keys.deleteMany({})
  expect(await counting().keys.commitBatch(key, [1])).toEqual([2])
  expect(await value()).toBe(1)
})

test('six processes that like one post, follow one user and post as one author repeat few transactions', async () => {
  const users = Array.from({ length: 6 * 12 }, (_, n) => handle(`hk-u${n}`))
  const [star] = users as [UserId]
  const writer = handle('hk-writer')
  await openAccounts(harness.services, [...users, writer])
  const { id } = await harness.services.posts.create(star, { text: 'hot' })
  const post: PostRef = { id, author: star }
  const processes = others(6)
  // A post that may have been stored is not stored again.
  const keyOf = (viewer: UserId, clientMutationId: string) =>
    createIdempotencyKey(viewer, 'createPost', { clientMutationId })
  const begun = performance.now()
  const { commands } = await recorded(harness.database.client, () =>
    Promise.all(
      processes.map(async ({ engagements, follows, posts }, at) => {
        for (const user of users.slice(at * 12 + 1, at * 12 + 12)) {
          const posted = keyOf(writer, user)
          await Promise.all([
            persist(() => engagements.add('likes', user, post)),
            persist(() => follows.follow(user, star)),
            persist(() => posts.create(writer, { text: 'hello' }, posted)),
          ])
        }
      }),
    ),
  )
  const sent = (command: string) => commands.filter(({ name }) => name === command).length
  noteFact(`hot keys: ${sent('commitTransaction')} commits, ${sent('abortTransaction')} aborts`)
  // Each process collides once or twice on each key before it knows that the key is hot. It forgets that after 3 s without
  // a write, which a busy machine may take.
  const periods = 1 + Math.floor((performance.now() - begun) / 3_000)
  expect(sent('abortTransaction')).toBeLessThan(60 * periods)
  expect(await walked(harness.services, 'likes', post)).toHaveLength(66)
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  expect(await problemsOf(harness, 'hk-')).toEqual([])
  expect(await harness.services.stats.byIds([star, writer])).toEqual(
    new Map([
      [star, { followers: 66, following: 0, posts: 1 }],
      [writer, { followers: 0, following: 0, posts: 66 }],
    ]),
  )
})
