import { expect, test } from 'vitest'
import { countUsers } from '../../src/integrity/invariants/accounts.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, {
  maintained: feedStrategyNames,
})
const [ann, ben] = [handle('ann'), handle('ben')]
const window = { limit: 5, backward: false }

/** The distinct read concerns of reads outside transactions. */
const concernsOf = (commands: readonly RecordedCommand[]) => [
  ...new Set(
    commands
      .filter(({ name, command }) => ['find', 'aggregate'].includes(name) && !command.txnNumber)
      .map(({ command }) => command.readConcern?.level),
  ),
]

test('every read outside a transaction uses read concern majority', async () => {
  const { services, database } = harness
  await openAccounts(services, [ann, ben])
  const { commands } = await recorded(database.client, async () => {
    await services.follows.follow(ann, ben)
    const { id } = await services.posts.create(ben, { text: 'hello' })
    await harness.rest()
    await services.engagements.add('likes', ann, { id, author: ben })
    for (const strategy of ['FANOUT_ON_READ', 'CACHE', 'INBOX'] as const) {
      await services.feed.timeline(ann, { window, strategy, projection: 'ref' })
    }
    await readPages(services.follows.followers(), [ben], window)
    await services.users.byIds([ann])
    await services.restrictions.block(ann, ben)
    await services.users.delete(ben)
    await harness.rest()
  })
  expect(commands.length).toBeGreaterThan(50)
  expect(concernsOf(commands)).toEqual(['majority'])
  // A commit that waits for a majority proves what the transaction read.
  const commits = commands.filter(({ name }) => name === 'commitTransaction')
  expect(commits.every(({ command }) => command.writeConcern?.w === 'majority')).toBe(true)
})

test('a count of users reads edges and counters of one instant', async () => {
  const { services, database } = harness
  const { commands } = await recorded(database.client, () =>
    services.transactions.atSnapshot(async (at) => {
      for await (const { key } of countUsers(services, { $gte: '' }, at)) expect(key).not.toBe('')
    }),
  )
  expect(concernsOf(commands)).toEqual(['snapshot'])
  const instants = commands.map(({ command }) => String(command.readConcern?.atClusterTime))
  expect(new Set(instants.slice(1)).size).toBe(1)
})
