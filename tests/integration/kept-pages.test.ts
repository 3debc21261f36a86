import { beforeAll, describe, expect, test } from 'vitest'
import type { Db, MongoClient } from '../../src/db/mongo.ts'
import { Stamping } from '../../src/db/stamps.ts'
import { accountsOf } from '../../src/db/versions.ts'
import type { KeptPages } from '../../src/feed/timeline/kept-pages.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { heldAtCall } from '../support/faulty.ts'
import { gate } from '../support/jobs.ts'
import { handle, servicesOver, useServices } from '../support/services.ts'

const strategy = 'INBOX'
const harness = useServices('collection', undefined, { maintained: [strategy] })
const [reader, friend, other] = ['reader', 'friend', 'other'].map(handle) as [
  UserId,
  UserId,
  UserId,
]
const request = {
  strategy,
  projection: 'ref',
  profiles: true,
  window: { limit: 5, backward: false },
} as const

/** A process of its own that keeps pages. */
function processOver(db: Db, client = harness.database.client): Services {
  const { clock } = harness
  const limits = sameLimits({ threshold: 3, capacity: 2 })
  return servicesOver({ client, db }, clock, limits, 'collection', {
    maintained: [strategy],
  })
}

/** The posts of a page with the names of their authors, by a request of its own. */
async function readPage({ feed, versions }: Services): Promise<string[]> {
  const { items, facts } = await feed.timeline(reader, request, new Stamping(versions))
  const nameOf = (author: UserId) =>
    facts.flatMap(({ profiles }) => profiles?.get(author)?.name ?? []).at(-1)
  return items.map(({ id, author }) => `${id} by ${nameOf(author)}`)
}

type Change = (by: Services) => Promise<unknown>

const follow: Change = ({ follows }) => follows.follow(reader, friend)
const unfollow: Change = ({ follows }) => follows.unfollow(reader, friend)
const mute: Change = ({ restrictions }) => restrictions.mute(reader, other)
const unmute: Change = ({ restrictions }) => restrictions.unmute(reader, other)
const post: Change = ({ posts }) => posts.create(other, { text: 'new' })
const deletePost: Change = async ({ posts, collections }) => {
  const found = await collections.posts.findOne({ author: other }, { sort: { _id: -1 } })
  return posts.delete(other, { author: other, id: found?._id.toHexString() as PostId })
}
let renamed = 0
const rename: Change = ({ users }) => users.update(other, { name: `Name ${renamed++}` })

/** Changes of a page, each with what makes it possible. */
const changes = {
  'an unfollow': [follow, unfollow],
  'a follow': [unfollow, follow],
  'a mute': [unmute, mute],
  'an unmute': [mute, unmute],
  'a post': [deletePost, post],
  'a deletion': [post, deletePost],
  'a new name': [rename, rename],
  'a rebuild': [rename, ({ registrations }) => registrations.rebuild(strategy)],
} as const satisfies Readonly<Record<string, readonly [Change, Change]>>
type ChangeName = keyof typeof changes

beforeAll(async () => {
  const { services } = harness
  for (const user of [reader, friend, other]) await services.users.create(user, { name: user })
  for (const user of [friend, other]) {
    await services.follows.follow(reader, user)
    for (const text of ['1', '2']) await services.posts.create(user, { text })
  }
  await harness.rest()
})

/** Makes a change while a process reads a page and keeps it. @returns its next pages, and the right page. */
async function raced(
  name: ChangeName,
  at: number,
  mutate: (services: Services) => void = () => {},
) {
  const [before, change] = changes[name]
  await before(harness.services)
  await harness.rest()
  const { db, reached, go } = heldAtCall(harness.database.db, at, 'all')
  const keeper = processOver(db)
  mutate(keeper)
  const reading = (async () => {
    await readPage(keeper)
    // Kept from here on.
    await readPage(keeper)
  })()
  await Promise.race([reached, reading])
  await change(harness.services)
  await harness.rest()
  go()
  await reading
  const next = [await readPage(keeper), await readPage(keeper)]
  const right = await readPage(processOver(harness.database.db))
  return { next, right }
}

/** More calls than two reads of a page have. */
const calls = 14

describe('a change while a page is read and kept', () => {
  test.each(Object.keys(changes) as ChangeName[])('%s shows on the next page', async (change) => {
    for (let at = 0; at < calls; at++) {
      const { next, right } = await raced(change, at)
      expect(next, `held at call ${at}`).toEqual([right, right])
    }
  })

  test('is missed by the mutant that reads versions after the page', async () => {
    const late = (services: Services) => {
      const { feed, keptPages } = services
      const inside = feed as unknown as { loadSlice: (...given: unknown[]) => Promise<unknown> }
      const kept = inside.loadSlice.bind(feed)
      inside.loadSlice = async (name, query, stamping) => {
        const of = stamping as Stamping
        const key = JSON.stringify(['page', name, query])
        const visit = await keptPages.findVisit(key)
        if (!visit || visit.slice) return kept(name, query, stamping)
        const slice = await feed.readSlice(strategy, query as never)
        const builder = await of.begin(reader, [])
        await builder.coverAccounts(accountsOf(slice.items.map(({ author }) => author)))
        const stamp = builder.finish()
        if (stamp) (keptPages as KeptPages).keep(key, slice, stamp)
        return { ...slice, stamp }
      }
    }
    let isFound = false
    for (let at = 0; at < calls && !isFound; at++) {
      const { next, right } = await raced('a mute', at, late)
      isFound = JSON.stringify(next) !== JSON.stringify([right, right])
    }
    expect(isFound).toBe(true)
  })
})

/** A client whose transactions wait before they commit. */
function heldAtCommit(client: MongoClient) {
  const [reached, going] = [gate(), gate()]
  const startSession: MongoClient['startSession'] = (...given) => {
    const session = client.startSession(...given)
    const commit = session.commitTransaction.bind(session)
    session.commitTransaction = async (...options) => {
      reached.open()
      await going.opened
      return commit(...options)
    }
    return session
  }
  const held = new Proxy(client, {
    get: (target, property) =>
      property === 'startSession' ? startSession : Reflect.get(target, property, target),
  })
  return { client: held, reached: reached.opened, go: going.open }
}

describe('a change whose version is created while it is under way', () => {
  /** The keeper creates the versions while the change is held. @returns its next page, and the right page. */
  async function created(
    name: ChangeName,
    { db = harness.database.db, client, reached, go }: Partial<Held> & Omit<Held, 'db' | 'client'>,
    mutate: (services: Services) => void = () => {},
  ) {
    const [before, change] = changes[name]
    await before(harness.services)
    await harness.rest()
    const [writer, keeper] = [processOver(db, client), processOver(harness.database.db)]
    mutate(writer)
    await readPage(keeper)
    await harness.database.collections.versions.deleteMany({})
    const changing = change(writer)
    await Promise.race([reached, changing])
    for (let times = 0; times < 3; times++) await readPage(keeper)
    go()
    await changing
    const next = await readPage(keeper)
    await harness.rest()
    const rested = await readPage(keeper)
    const right = await readPage(processOver(harness.database.db))
    return { next, rested, right }
  }
  interface Held {
    readonly db: Db
    readonly client: MongoClient
    readonly reached: Promise<void>
    readonly go: () => void
  }
  /** Changes that count from their commit on, not from a delivery. */
  const sudden: readonly ChangeName[] = ['an unfollow', 'a mute', 'a deletion', 'a new name']

  test.each(Object.keys(changes) as ChangeName[])('%s shows on the next page', async (name) => {
    const holds = Array.from({ length: 8 }, (_, at) => heldAtCall(harness.database.db, at, 'all'))
    for (const held of [...holds, heldAtCommit(harness.database.client)]) {
      const { next, rested, right } = await created(name, held)
      expect(rested).toEqual(right)
      if (sudden.includes(name)) expect(next).toEqual(right)
    }
  })

  test('is missed by the mutant that raises only the versions that it finds', async () => {
    const { next, right } = await created(
      'a mute',
      heldAtCommit(harness.database.client),
      ({ collections: { versions } }) => {
        const write = versions.bulkWrite.bind(versions)
        versions.bulkWrite = (operations, options) =>
          write(
            operations.map((one) => ({
              updateOne: { ...(one as Upsert).updateOne, upsert: false },
            })),
            options,
          )
      },
    )
    expect(next).not.toEqual(right)
  })
})

type Upsert = { readonly updateOne: { readonly filter: object; readonly update: object[] } }

/** Keeps a page after a change that a failover reverts. @returns the next page after another change, and the right page. */
async function reverted(mutate: (services: Services) => void) {
  const { database } = harness
  const [keeper, writer] = [processOver(database.db), processOver(database.db)]
  mutate(writer)
  const { following, restrictions, versions } = database.collections
  const reverting = [following, restrictions, versions]
  await unmute(writer)
  await writer.restrictions.unmute(reader, friend)
  for (let times = 0; times < 3; times++) await readPage(keeper)
  const saved = await Promise.all(reverting.map(contentsOf))
  await mute(writer)
  for (let times = 0; times < 3; times++) await readPage(keeper)
  // The primary that had the mute is gone, and another change is made instead.
  for (const [at, one] of reverting.entries()) {
    await one.deleteMany({})
    if (saved[at]?.length) await one.insertMany(saved[at] as never)
  }
  await writer.restrictions.mute(reader, friend)
  return { next: await readPage(keeper), right: await readPage(processOver(database.db)) }
}

test('a change that a failover reverts does not bring back its version', async () => {
  const { next, right } = await reverted(() => {})
  expect(next).toEqual(right)
})

test('a change that a failover reverts brings back the version of the mutant that counts', async () => {
  const { next, right } = await reverted(({ collections: { versions } }) => {
    const write = versions.bulkWrite.bind(versions)
    const update = [{ $set: { value: { $concat: [{ $ifNull: ['$value', ''] }, '+'] } } }]
    versions.bulkWrite = (operations, options) =>
      write(
        operations.map((one) => ({ updateOne: { ...(one as Upsert).updateOne, update } })),
        options,
      )
  })
  expect(next).not.toEqual(right)
})

const contentsOf = (collection: {
  find: (filter: object) => { toArray: () => Promise<unknown[]> }
}) => collection.find({}).toArray()
