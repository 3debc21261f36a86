import type { Document, MongoClient } from 'mongodb'
import { beforeAll, expect, test } from 'vitest'
import { failCommand } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
beforeAll(() => openAccounts(harness.services, [handle('ann'), handle('ben')]))

test.each(['reconcile', 'verify'])(
  'SIGTERM ends %s during a scan that the database has not answered',
  async (command) => {
    const { client, db, name, uri } = harness.database
    const env = { MONGODB_URI: uri, MONGODB_DATABASE: name }
    // The failpoint recognises a process by the name that its client has.
    const app = { options: { ...client.options, appName: 'feedline' } } as MongoClient
    const blocked = { failCommands: ['find'], namespace: `${name}.follow_events`, blockMs: 20_000 }
    await using _failpoint = await failCommand(app, blocked)
    const { child, err, ended } = feedline([command], env)
    const scans = async () => {
      const { inprog } = await db.admin().command({ currentOp: true, appName: 'feedline' })
      return inprog.filter(({ command }: Document) => command?.$db === name && command?.find)
    }
    // Scans of other collections come and go.
    const isBlocked = ({ command }: Document) => command.find === 'follow_events'
    await expect.poll(async () => (await scans()).filter(isBlocked).length).toBe(1)
    child.kill('SIGTERM')
    expect([await ended, err()]).toEqual([143, expect.stringContaining('Interrupted')])
    const [scan, ...others] = await scans()
    expect([scan?.command.find, others]).toEqual(['follow_events', []])
    await db.admin().command({ killOp: 1, op: scan?.opid })
    // The next command's scan must be the only one.
    await expect.poll(scans).toEqual([])
  },
)

test('a repeat after SIGTERM checks everything', async () => {
  const { user_stats } = harness.services.collections
  await user_stats.updateOne({ _id: 'ann' }, { $set: { followers: 3 } })
  const env = { MONGODB_URI: harness.database.uri, MONGODB_DATABASE: harness.database.name }
  const { out, ended } = feedline(['reconcile', '--json'], env)
  expect(await ended).toBe(0)
  expect(JSON.parse(out())).toMatchObject({ checked: { users: 2 }, repaired: 1 })
})
