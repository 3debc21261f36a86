import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import { type ClientSession, type Collection, type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientErrorOf, isUnreachable } from '../../src/db/errors.ts'
import { IdempotencyStore } from '../../src/db/idempotency.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { eventually } from '../support/eventually.ts'
import { type Failpoint, type Failure, reserveFailpoint, useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'

const database = useDatabase()
let failpoint: Failpoint
beforeAll(async () => {
  failpoint = await reserveFailpoint(database.client)
})
afterAll(async () => failpoint[Symbol.asyncDispose]())

const things = () => database.db.collection<Document>('things')
type Command = readonly [
  name: string,
  run: (options: { session?: ClientSession }) => Promise<unknown>,
]
const commands: Readonly<Record<string, Command>> = {
  insertOne: ['insert', (o) => things().insertOne({}, o)],
  insertMany: ['insert', (o) => things().insertMany([{}, {}], o)],
  bulkWrite: [
    'update',
    (o) => things().bulkWrite([{ updateOne: { filter: { a: 1 }, update: { $set: { b: 1 } } } }], o),
  ],
  'bulkWrite of many': [
    'update',
    (o) =>
      things().bulkWrite([{ updateMany: { filter: { a: 1 }, update: { $set: { b: 1 } } } }], o),
  ],
  updateOne: ['update', (o) => things().updateOne({ a: 1 }, { $set: { b: 1 } }, o)],
  deleteMany: ['delete', (o) => things().deleteMany({ a: 1 }, o)],
  findOneAndUpdate: [
    'findAndModify',
    (o) => things().findOneAndUpdate({ a: 1 }, { $set: { b: 1 } }, o),
  ],
  find: ['find', (o) => things().find({}, o).toArray()],
  aggregate: [
    'aggregate',
    (o) =>
      things()
        .aggregate([{ $match: { a: 1 } }], o)
        .toArray(),
  ],
}
const reads = new Set(['find', 'aggregate'])
const writeConcernError = (code: number) => ({
  writeConcernError: { code, errmsg: 'no majority', codeName: 'none' },
})
type Failures = Readonly<Record<string, Omit<Failure, 'failCommands'>>>
const quick: Failures = {
  'a connection that breaks': { closeConnection: true },
  'code 50': { errorCode: 50 },
  'code 10107': { errorCode: 10107 },
  'write concern error 50': writeConcernError(50),
  'write concern error 64': writeConcernError(64),
}
/** Codes after which the driver searches a primary for half a second, so few commands get them. */
const slow: Failures = {
  'code 91': { errorCode: 91 },
  'code 11600': { errorCode: 11600 },
  'write concern error 91': writeConcernError(91),
}

const casesOf = (names: readonly string[], failures: Failures) =>
  names.flatMap((name) => {
    const [command, run] = commands[name] as Command
    return Object.entries(failures)
      .filter(([, failure]) => !(reads.has(name) && failure.writeConcernError))
      .map(([what, failure]) => ({ name, what, command, run, failure }))
  })
const cases = [...casesOf(Object.keys(commands), quick), ...casesOf(['insertMany', 'find'], slow)]

/** The error of a command that always fails. */
async function errorOf(failed: string, failure: object, work: () => Promise<unknown>) {
  await failpoint.set({ failCommands: [failed], ...failure })
  return work().then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('outside a transaction', () => {
  test.each(share(1, cases))(
    '$name: $what outside a transaction means UNAVAILABLE',
    async ({ command, run, failure }) => {
      const error = await errorOf(command, failure, () => run({}))
      expect(error).toBeDefined()
      expect(clientErrorOf(error)).toMatchObject({ code: 'UNAVAILABLE' })
    },
  )
})

describe('in a transaction', () => {
  const inTransactions = cases.filter(({ failure }) => !failure.writeConcernError)

  test.each(share(1, inTransactions, 1))(
    '$name: $what in a transaction is retried until it succeeds',
    async ({ command, run, failure }) => {
      const results = new IdempotencyStore(database.collections, Date.now)
      await failpoint.set({ failCommands: [command], ...failure, times: 1 })
      let tries = 0
      const work = async ({ session }: Tx) => {
        tries++
        await run({ session })
        return 'done'
      }
      expect(await new Transactions(database.client, results).run(work)).toBe('done')
      expect(tries).toBe(2)
    },
  )

  test.each(Object.entries({ ...quick, 'code 91': { errorCode: 91 } }))(
    'a commit with %s is repeated',
    async (_, failure) => {
      const results = new IdempotencyStore(database.collections, Date.now)
      await failpoint.set({ failCommands: ['commitTransaction'], ...failure, times: 3 })
      const work = async ({ session }: Tx) => {
        await things().insertOne({ kind: 'committed' }, { session })
        return 'done'
      }
      expect(await new Transactions(database.client, results).run(work)).toBe('done')
      expect(await things().deleteMany({ kind: 'committed' })).toMatchObject({ deletedCount: 1 })
    },
  )
})

/** A client whose server can be cut off. */
async function cuttable() {
  const { host, port } = database.client.options.hosts[0] ?? {}
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connectSocket({ host: host ?? '', port: port ?? 0 })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).pipe(to)
    }
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port: own } = proxy.address() as AddressInfo
  const options = { directConnection: true, serverSelectionTimeoutMS: patient(1_000) }
  const client = await new MongoClient(`mongodb://127.0.0.1:${own}/`, options).connect()
  const cut = () => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  }
  return { client, cut }
}

describe('without a server', () => {
  test.each([
    ['insertMany', (lost: Collection) => lost.insertMany([{}, {}])],
    ['bulkWrite', (lost: Collection) => lost.bulkWrite([{ insertOne: { document: {} } }])],
    ['findOne', (lost: Collection) => lost.findOne({})],
  ] as const)('%s without a server means UNAVAILABLE', async (_, run) => {
    const { client, cut } = await cuttable()
    const lost: Collection = client.db(database.name).collection('things')
    await run(lost)
    cut()
    for (let times = 0; times < 2; times++) {
      const work: Promise<unknown> = run(lost)
      const error = await work.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      expect(clientErrorOf(error)).toMatchObject({ code: 'UNAVAILABLE' })
    }
    await client.close()
  })

  test('an insert with a duplicate key and no majority means UNAVAILABLE', async () => {
    await failpoint.set({ failCommands: ['insert'], ...writeConcernError(64), times: 1 })
    const twice = [{ _id: 'twice' as never }, { _id: 'twice' as never }]
    const error = await things()
      .insertMany(twice, { ordered: false })
      .catch((reason: unknown) => reason)
    expect(clientErrorOf(error)).toMatchObject({ code: 'UNAVAILABLE' })
  })

  test('a command that waits too long for a connection means UNAVAILABLE', async () => {
    const narrow = await new MongoClient(database.uri, {
      maxPoolSize: 1,
      waitQueueTimeoutMS: patient(100),
      monitorCommands: true,
    }).connect()
    try {
      const db = narrow.db(database.name)
      await things().insertOne({})
      // Opens the connection, so that the slow command does not wait for it.
      await eventually(() => db.command({ ping: 1 }))
      const begun = once(narrow, 'commandStarted')
      const slow = db.command({
        find: 'things',
        filter: { $where: `sleep(${patient(1_000)}) || true` },
        limit: 1,
      })
      await begun
      const error = await db
        .collection('things')
        .findOne({})
        .catch((reason: unknown) => reason)
      await slow.catch(() => {})
      expect(clientErrorOf(error)).toMatchObject({ code: 'UNAVAILABLE' })
    } finally {
      await narrow.close()
    }
  })
})

test('a command that the database refuses permanently is an INTERNAL_SERVER_ERROR', async () => {
  const refused = await things()
    .updateOne({}, { $rename: { a: 'a' } })
    .catch((reason: unknown) => reason)
  expect(isUnreachable(refused)).toBe(false)
  await things().insertOne({ _id: 'taken' as never })
  const taken = await things()
    .insertMany([{ _id: 'taken' as never }])
    .catch((reason: unknown) => reason)
  expect(isUnreachable(taken)).toBe(false)
})
