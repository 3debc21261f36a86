import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openMongod } from '../../packages/mongod/open.ts'
import { connect } from '../../src/db/client.ts'
import { isSnapshotGone } from '../../src/db/errors.ts'
import type { Document } from '../../src/db/mongo.ts'
import { readConfig } from '../../src/environment.ts'
import { countUsers } from '../../src/integrity/invariants/accounts.ts'
import { verify } from '../../src/integrity/run.ts'
import { createServices } from '../../src/services.ts'
import { binFolder } from '../support/bin-folder.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
const people = Array.from({ length: 40 }, (_, n) => handle(`k${String(n).padStart(2, '0')}`))

test('a scan of users reads only their index keys, in as many commands for many followers as for few', async () => {
  const { services, database } = harness
  await openAccounts(services, people)
  const [star, ...fans] = people as [(typeof people)[0], ...typeof people]
  const count = async () => {
    const { commands } = await recorded(database.client, async () => {
      for await (const _ of countUsers(services, { $lte: star })) expect(_.key).toBe(star)
    })
    return commands
  }
  await services.posts.create(star, { text: 'one' })
  const few = await count()
  for (const fan of fans) await services.follows.follow(fan, star)
  const many = await count()
  expect(few.map(({ name }) => name)).toEqual(['find', 'find', ...Array(3).fill('aggregate')])
  expect(many.map(({ name }) => name)).toEqual(few.map(({ name }) => name))
  const examined: number[] = []
  for (const { name, command } of many.filter((one) => one.name === 'aggregate')) {
    const explained = await database.db.command({
      explain: { [name]: command[name], pipeline: command.pipeline, cursor: {} },
      verbosity: 'executionStats',
    })
    const stats = statsOf(explained)
    expect(stats.totalDocsExamined).toBe(0)
    examined.push(stats.totalKeysExamined)
  }
  expect(examined).toEqual([fans.length, 0, 1])
})

function statsOf(explained: Document): Document {
  return explained.executionStats ?? explained.stages[0].$cursor.executionStats
}

test('a snapshot that the server dropped is recognised, and a later check needs none of it', async () => {
  // Its own mongod, because the window of snapshots is the same for all databases.
  const dataFolder = await mkdtemp(join(tmpdir(), 'feedline-test-'))
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }))
  const mongod = await openMongod({
    ...{ dataFolder, binFolder, log: () => {} },
  })
  onTestFinished(() => mongod.stop())
  const client = await connect(mongod.uri)
  onTestFinished(() => client.close())
  const services = createServices(client, client.db('snapshots'), readConfig({}))
  await openAccounts(services, people)
  const admin = client.db('admin')
  const name = 'minSnapshotHistoryWindowInSeconds'
  const before = await admin.command({ getParameter: 1, [name]: 1 })
  await admin.command({ setParameter: 1, [name]: 0 })
  try {
    const { user_stats, users } = services.collections
    const tooLong = services.transactions.atSnapshot(async (at) => {
      await users.findOne({}, { ...at })
      for (let tries = 0; tries < 40; tries++) {
        await user_stats.updateOne({ _id: people[1] as string }, { $inc: { guard: 1 } })
        await sleep(250)
        await user_stats.findOne({ _id: people[1] as string }, { ...at })
      }
    })
    await expect(tooLong).rejects.toSatisfy(isSnapshotGone)
  } finally {
    await admin.command({ setParameter: 1, [name]: before[name] })
  }
  expect(await verify(services, { readers: 0 })).toMatchObject({
    checked: { users: 40 },
    differences: 0,
  })
})
