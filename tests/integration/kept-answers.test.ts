import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Db, MongoClient } from '../../src/db/mongo.ts'
import { changesOfAccounts, raiseVersions } from '../../src/db/versions.ts'
import { parsePostNodeId } from '../../src/graphql/node-id.ts'
import { Report } from '../../src/integrity/report.ts'
import { reconcile } from '../../src/integrity/run.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type AnsweringProcess, answeringProcess } from '../support/answering.ts'
import { sameLimits } from '../support/engagement.ts'
import { heldAtCall, holdable } from '../support/faulty.ts'
import { gate } from '../support/jobs.ts'
import { share } from '../support/repetition.ts'
import { handle, servicesOver, useServices } from '../support/services.ts'

const strategy = 'INBOX'
const harness = useServices('collection', undefined, { maintained: [strategy] })
const [reader, friend, other] = ['reader', 'friend', 'other'].map(handle) as [
  UserId,
  UserId,
  UserId,
]

/** A process of its own. */
function processOver(db: Db, client = harness.database.client): Services {
  const { clock } = harness
  const limits = sameLimits({ threshold: 3, capacity: 2 })
  return servicesOver({ client, db }, clock, limits, 'collection', {
    maintained: [strategy],
  })
}

/** Two processes that keep answers. The calls of the first can be held. */
let keepers: { readonly held: AnsweringProcess; readonly free: AnsweringProcess }
let hold: ReturnType<typeof holdable>['hold']
let rounds = 0

/** A page with the names of its authors that no process has answered. */
const newQuery = () =>
  `{ timeline(first: 5, strategy: ${strategy}) { edges { node { id author { name } } } } } # ${rounds++}`

/** Requests a page. */
async function readPage({ ask }: AnsweringProcess, query: string): Promise<string[]> {
  const { data } = await ask(reader, query)
  const edges: readonly { node: { id: string; author: { name: string } } }[] = data.timeline.edges
  return edges.map(({ node }) => `${parsePostNodeId('id', node.id).id} by ${node.author.name}`)
}

/** The page as a process reads it that keeps nothing. */
async function readRight(): Promise<string[]> {
  const window = { limit: 5, backward: false }
  const { feed } = processOver(harness.database.db)
  const request = { strategy, window, projection: 'ref', profiles: true } as const
  const { items, facts } = await feed.timeline(reader, request)
  const nameOf = (author: UserId) =>
    facts.flatMap(({ profiles }) => profiles?.get(author)?.name ?? []).at(-1)
  return items.map(({ at, by }) => `${at} by ${nameOf(by)}`)
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

beforeAll(async () => {
  const held = holdable(harness.database.db, 'all')
  hold = held.hold
  const [first, second] = await Promise.all(
    [held.db, harness.database.db].map((db) => answeringProcess(processOver(db))),
  )
  keepers = { held: first as AnsweringProcess, free: second as AnsweringProcess }
})

afterAll(async () => {
  await Promise.all([keepers.held.close(), keepers.free.close()])
})

/** Makes a change while a process reads a page and keeps the answer. @returns its next answers, and the right page. */
async function raced(name: ChangeName, at: number) {
  const [before, change] = changes[name]
  await before(harness.services)
  await harness.rest()
  const { held: keeper } = keepers
  const query = newQuery()
  const { reached, go } = hold(at)
  const reading = (async () => {
    await readPage(keeper, query)
    // Kept from here on.
    await readPage(keeper, query)
    return 'ended' as const
  })()
  const isHeld = (await Promise.race([reached, reading])) !== 'ended'
  await change(harness.services)
  await harness.rest()
  go()
  await reading
  const next = [await readPage(keeper, query), await readPage(keeper, query)]
  return { next, right: await readRight(), isHeld }
}

/** More calls than two requests of a page have. */
const callsMax = 20

describe('a change while a page is read and its answer is kept', () => {
  test.each(share(1, Object.keys(changes) as ChangeName[]))(
    '%s shows on the next page',
    async (change) => {
      for (let at = 0; ; at++) {
        const { next, right, isHeld } = await raced(change, at)
        expect(next, `held at call ${at}`).toEqual([right, right])
        if (!isHeld) break
        expect(at).toBeLessThan(callsMax)
      }
    },
  )

  test('is missed by the mutant that reads versions after the page', async () => {
    const { feed } = keepers.held.services
    const readSlice = feed.readSlice.bind(feed)
    feed.readSlice = async (name, query, stamping) => {
      const slice = await readSlice(name, query)
      return { ...slice, stamp: (await readSlice(name, query, stamping)).stamp }
    }
    let isFound = false
    for (let at = 0; at < callsMax && !isFound; at++) {
      const { next, right } = await raced('a mute', at)
      isFound = JSON.stringify(next) !== JSON.stringify([right, right])
    }
    feed.readSlice = readSlice
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
    const writer = processOver(db, client)
    mutate(writer)
    const query = newQuery()
    const read = () => readPage(keepers.free, query)
    await read()
    await harness.database.collections.versions.deleteMany({})
    const changing = change(writer)
    await Promise.race([reached, changing])
    for (let times = 0; times < 3; times++) await read()
    go()
    await changing
    const next = await read()
    await harness.rest()
    return { next, rested: await read(), right: await readRight() }
  }
  interface Held {
    readonly db: Db
    readonly client: MongoClient
    readonly reached: Promise<void>
    readonly go: () => void
  }
  /** Changes that count from their commit on, not from a delivery. */
  const sudden: readonly ChangeName[] = ['an unfollow', 'a mute', 'a deletion', 'a new name']

  test.each(share(1, Object.keys(changes) as ChangeName[], 1))(
    '%s shows on the next page',
    async (name) => {
      const holds = Array.from({ length: 8 }, (_, at) => heldAtCall(harness.database.db, at, 'all'))
      for (const held of [...holds, heldAtCommit(harness.database.client)]) {
        const { next, rested, right } = await created(name, held)
        expect(rested).toEqual(right)
        if (sudden.includes(name)) expect(next).toEqual(right)
      }
    },
  )

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

describe('an account without a readable profile', () => {
  const undamage = () =>
    harness.services.collections.users.updateOne({ _id: other }, { $unset: { settlesAt: '' } })
  const versionOf = async (user: UserId) => {
    const subject = `account:${user}` as const
    return (await harness.services.versions.load([subject])).get(subject)
  }
  const corrections: Readonly<Record<string, () => Promise<unknown>>> = {
    'a repair': async () => {
      const before = await versionOf(other)
      await reconcile(harness.services, { readers: 'all' }, new Report(100))
      expect(await versionOf(other)).not.toEqual(before)
    },
    'an operator': undamage,
  }

  test.each(Object.keys(corrections))('shows on the next page after %s corrects it', async (by) => {
    const { services } = harness
    const query = newQuery()
    const countPosts = async () => {
      const { data } = await keepers.free.ask(reader, query)
      const edges: readonly { node: unknown }[] = data.timeline.edges
      return edges.filter(({ node }) => node !== null).length
    }
    await unmute(services)
    await post(services)
    await harness.rest()
    const whole = (await readRight()).length
    await services.collections.users.updateOne(
      { _id: other },
      { $set: { settlesAt: 'soon' as never } },
    )
    // A kept answer does not see the damage, which raises no version.
    await services.transactions.run((tx) =>
      raiseVersions(services.collections, changesOfAccounts([other]), tx),
    )
    for (let times = 0; times < 3; times++) expect(await countPosts()).toBeLessThan(whole)
    await corrections[by]?.()
    expect(await countPosts()).toBe(whole)
    await undamage()
  })
})

/** Keeps an answer after a change that a failover reverts. @returns the next answer after another change, and the right page. */
async function reverted(mutate: (services: Services) => void) {
  const { database } = harness
  const writer = processOver(database.db)
  mutate(writer)
  const query = newQuery()
  const read = () => readPage(keepers.free, query)
  const { following, restrictions, versions } = database.collections
  const reverting = [following, restrictions, versions]
  await unmute(writer)
  await writer.restrictions.unmute(reader, friend)
  for (let times = 0; times < 3; times++) await read()
  const saved = await Promise.all(reverting.map(contentsOf))
  await mute(writer)
  for (let times = 0; times < 3; times++) await read()
  // The primary that had the mute is gone, and another change is made instead.
  for (const [at, one] of reverting.entries()) {
    await one.deleteMany({})
    if (saved[at]?.length) await one.insertMany(saved[at] as never)
  }
  await writer.restrictions.mute(reader, friend)
  return { next: await read(), right: await readRight() }
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
