import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import { explained, statementsOf } from '../explained/statements/explain.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, storeOf, useServices } from '../support/services.ts'

const harness = useServices()
const mint = new IdMint(Date.now)
const idsOf = (count: number) => Array.from({ length: count }, () => mint.next<PostId>())

/** The entries that each delete statement examines when it is explained again. */
async function examinedBy(commands: readonly RecordedCommand[]): Promise<number[]> {
  const statements = commands.filter(({ name }) => name === 'delete').flatMap(statementsOf)
  const examined: number[] = []
  for (const one of statements) {
    const found = await explained(harness.database.db, one)
    expect(found.scans).toEqual([])
    examined.push(found.examined)
  }
  return examined
}

test('a removal of posts from inboxes reads only their entries (INBOX)', async () => {
  const { inbox } = harness.services.collections
  await registerStrategies(harness.services, ['INBOX'])
  const INBOX = await storeOf(harness.services, 'INBOX')
  const others = Array.from({ length: 40 }, (_, n) => handle(`other${n}`))
  const posts = idsOf(100)
  await inbox.insertMany(
    others.flatMap((reader) => posts.map((id) => ({ _id: { reader, post: toObjectId(id) } }))),
  )
  const readers = [handle('ann'), handle('other7x')] as [UserId, UserId]
  const theirs = idsOf(1_200)
  for (const reader of readers) {
    const entries = theirs.map((id) => ({ id }))
    await INBOX.merge(reader, { entries, newest: true, oldest: true })
  }
  const { client } = harness.database
  const some = theirs.slice(0, 39)
  const removed = await recorded(client, () => INBOX.remove(readers, some))
  expect(removed.commands).toHaveLength(1)
  const each = await examinedBy(removed.commands)
  expect(each).toHaveLength(78)
  // A range of a clustered collection also examines the entry after its end.
  expect(Math.max(...each)).toBeLessThanOrEqual(2)
  expect(await inbox.countDocuments({ '_id.reader': readers[0] })).toBe(1_200 - 39)

  const left = await recorded(client, () => INBOX.deleteReader(readers[0]))
  expect(left.commands.map(({ name }) => name)).toEqual([
    'find',
    'delete',
    'find',
    'delete',
    'find',
  ])
  for (const entries of await examinedBy(left.commands)) expect(entries).toBeLessThanOrEqual(2)
  expect(await inbox.countDocuments({ '_id.reader': readers[0] })).toBe(0)
  expect(await inbox.countDocuments()).toBe(4_000 + 1_200 - 39)
})
