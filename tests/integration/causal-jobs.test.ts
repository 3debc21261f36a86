import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { commitJobsFirst } from '../support/participants.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
const [ann, ben] = [handle('ann'), handle('ben')]

beforeAll(async () => {
  // As on a sharded cluster, nothing is kept.
  await harness.services.memory.close()
  // On a router no election is seen, so no read waits for the first write of a primary.
  const shared = harness.database.client.readConcern as { afterClusterTime?: unknown }
  shared.afterClusterTime = undefined
})

beforeEach(async () => {
  const { strategies, ...collections } = harness.services.collections
  for (const collection of Object.values(collections)) await collection.deleteMany({})
  await openAccounts(harness.services, [ann, ben])
})

interface Case {
  readonly before: (services: Services) => Promise<unknown>
  readonly write: (services: Services) => Promise<unknown>
  /** What the job leaves. */
  readonly left: (services: Services) => Promise<number>
  readonly expected: number
}

let post = '' as PostId
const publish = async ({ posts }: Services) => {
  post = (await posts.create(ann, { text: 'hello' })).id
}
const inboxOf = (reader: string) => (services: Services) =>
  services.collections.inbox.countDocuments({ '_id.reader': reader })

const cases: Record<string, Case> = {
  'a delivery of a post': {
    before: ({ follows }) => follows.follow(ben, ann),
    write: publish,
    left: inboxOf(ben),
    expected: 1,
  },
  'a back-fill of a follow': {
    before: publish,
    write: ({ follows }) => follows.follow(ben, ann),
    left: inboxOf(ben),
    expected: 1,
  },
  'a removal of the likes of a deleted post': {
    before: async (services) => {
      await publish(services)
      await services.engagements.add('likes', ben, { id: post, author: ann })
    },
    write: ({ posts }) => posts.delete(ann, { id: post, author: ann }),
    left: ({ collections }) =>
      collections.overflow.countDocuments({ '_id.post': toObjectId(post) }),
    expected: 0,
  },
  'a removal of an account': {
    before: publish,
    write: ({ users }) => users.delete(ann),
    left: ({ collections }) => collections.posts.countDocuments({ author: ann }),
    expected: 0,
  },
}

test.each(Object.entries(cases))(
  '%s waits until the rest of its transaction is visible',
  async (_, { before, write, left, expected }) => {
    const { services, database } = harness
    await before(services)
    await harness.rest()
    const half = await commitJobsFirst(database, write)
    expect(await services.collections.outbox.countDocuments()).toBeGreaterThan(0)
    let isDone = false
    const rest = harness.rest().finally(() => {
      isDone = true
    })
    await sleep(150)
    expect(isDone).toBe(false)
    await half.complete()
    await rest
    expect(await left(services)).toBe(expected)
  },
)

const isRead = ({ name, command }: RecordedCommand) =>
  ['find', 'aggregate'].includes(name) && command.txnNumber === undefined

test('a read of a request does not wait for jobs, and a job costs no command for its wait', async () => {
  const { services, database } = harness
  const shared = database.client.readConcern
  await services.posts.create(ann, { text: 'hello' })
  const { commands } = await recorded(database.client, () => harness.rest())
  const ofJob = commands.filter(isRead).filter(({ collection }) => collection !== 'outbox')
  expect(ofJob.length).toBeGreaterThan(0)
  for (const { command } of ofJob) {
    expect(command.readConcern.level).toBe('majority')
    expect(command.readConcern.afterClusterTime).toBeDefined()
  }
  const request = await recorded(database.client, () => services.users.byIds([ann]))
  expect(request.commands.map(({ name }) => name)).toEqual(['find'])
  expect(request.commands[0]?.command.readConcern).toEqual(shared)
  expect((shared as { afterClusterTime?: unknown }).afterClusterTime).toBeUndefined()
})
