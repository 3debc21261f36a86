import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { lifetimeWarning } from '../../src/db/lifetime.ts'
import { compiledProgram } from '../support/process.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const program = compiledProgram('transaction-child')
const harness = useServices()
const [ann, ben, cleo] = [handle('ann'), handle('ben'), handle('cleo')]

test('a process that is killed in a transaction delays no write of other accounts, and those of its own by a few tries', async () => {
  const { services, database } = harness
  await openAccounts(services, [ann, ben, cleo])
  const args = [program, database.uri, database.name, ann]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended

  await services.follows.follow(ben, cleo)
  let tries = 0
  for (let done = false; !done; tries++) {
    done = await services.follows.follow(ben, ann).then(
      () => true,
      (error) => {
        expect(error).toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringContaining('Other writes have locked the same data.'),
        })
        return false
      },
    )
  }
  // One try lasts 5 s, as long as MongoDB keeps the transaction of the killed process.
  expect(tries).toBeLessThanOrEqual(3)
})

test('an inline job is free for workers 10 s after its process was killed', async () => {
  const { services, database } = harness
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  await services.registrations.register('INBOX', services.configured.INBOX)
  const log = pino({ level: 'silent' })
  services.inline.start({ ...services.tasks, 'follow.created': () => held }, log)
  await openAccounts(services, [handle('dora'), handle('eve')])
  const following = services.follows.follow(handle('dora'), handle('eve'))
  const leases = () =>
    database.collections.outbox
      .aggregate<{ leftMs: number }>([
        { $match: { kind: 'follow.created', 'payload.follower': 'dora' } },
        { $project: { leftMs: { $subtract: ['$runAt', '$$NOW'] } } },
      ])
      .toArray()
  await expect.poll(async () => (await leases()).length).toBe(1)
  const [lease] = await leases()
  expect(lease?.leftMs).toBeLessThanOrEqual(10_000)
  finish()
  await following
})

test('a database that keeps the transactions of killed processes for long causes a warning', async () => {
  const { client } = harness.database
  const admin = client.db('admin')
  const name = 'transactionLifetimeLimitSeconds'
  const before = await admin.command({ getParameter: 1, [name]: 1 })
  try {
    await admin.command({ setParameter: 1, [name]: 10 })
    expect(await lifetimeWarning(client)).toBeUndefined()
    await admin.command({ setParameter: 1, [name]: 60 })
    expect(await lifetimeWarning(client)).toBe(
      'transactionLifetimeLimitSeconds is 60: a process that is killed may hold up the writes of all others for 90 s; set it to 5',
    )
  } finally {
    await admin.command({ setParameter: 1, [name]: before[name] })
  }
})
