import { beforeAll, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, servicesOver, useServices } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const harness = useServices('collection', engagement)
/** Readers by the number of their followees. */
const [few, some, many] = [handle('few'), handle('some'), handle('many')]
const followees = { few: 3, some: 5_001, many: 10_001 }

beforeAll(async () => {
  const mint = new IdMint(harness.clock.now)
  for (const [user, count] of Object.entries(followees)) {
    const edges = Array.from({ length: count }, (_, n) => {
      const _id = toObjectId(mint.next<EdgeId>())
      return { _id, user, followee: `u${n}`, source: 'FEEDLINE' as const }
    })
    await harness.services.collections.following.insertMany(edges)
  }
})

/** Loads the relations of readers at once, in a process that has none in memory. */
async function load(readers: readonly UserId[]) {
  const { keptRelations } = servicesOver(harness.database, harness.clock, engagement)
  const { result, commands } = await recorded(harness.database.client, () =>
    Promise.all(readers.map((one) => keptRelations.load(one))),
  )
  return { sizes: result.map((one) => one?.followees.size), labels: labelsOf(commands) }
}

const both = ['read following', 'read restrictions']

test('readers who come at the same time share the commands for their relations, and none has those of another', async () => {
  expect(await load([few, some, few])).toEqual({ sizes: [3, undefined, 3], labels: both })
})

test('readers with too many followees for one command have commands of their own', async () => {
  const { sizes, labels } = await load([few, many])
  expect(sizes).toEqual([3, undefined])
  expect(labels).toEqual([...both, ...both, 'read following'].sort())
})

test('a reader with too many followees alone is read once', async () => {
  expect(await load([many])).toEqual({ sizes: [undefined], labels: both })
})
