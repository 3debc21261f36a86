import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { engagementProblems, sameLimits } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { gate } from '../support/jobs.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = { threshold: 3, capacity: 2 }
const harness = useServices('collection', sameLimits(limits))
let scenes = 0

/** Creates three users with accounts and two posts of a fourth user. */
async function newScene() {
  const users = Array.from({ length: 4 }, (_, n) => handle(`turn${scenes}-u${n}`))
  scenes++
  await openAccounts(harness.services, users)
  const [author, ann, ben, carl] = users as [UserId, UserId, UserId, UserId]
  const publish = async (): Promise<PostRef> => {
    const { id } = await harness.services.posts.create(author, { text: 'hello' })
    return { id, author }
  }
  return { author, ann, ben, carl, post: await publish(), other: await publish() }
}

/** Makes commands on the by-user entries fail. */
const failing = (command: 'insert' | 'delete') =>
  failCommand(harness.database.client, {
    failCommands: [command],
    namespace: `${harness.database.db.databaseName}.engagements_by_user`,
    errorCode: 8000,
  })

test('a failed admission fails the likes of its turn, and no unlike of the same posts', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  const { engagements } = harness.services
  await engagements.add('likes', ann, post)
  {
    await using _ = await failing('insert')
    const results = await Promise.allSettled([
      engagements.add('likes', ben, post),
      engagements.remove('likes', ann, post),
      engagements.add('likes', carl, other),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
  }
  expect(await engagements.add('likes', ben, post)).toMatchObject({ changed: true })
  expect(await engagementProblems(harness.services, limits, [post, other])).toEqual([])
})

test('a refused like whose by-user entry cannot be deleted fails no other like of its turn', async () => {
  const { author, ann, ben, post, other } = await newScene()
  const { engagements, restrictions } = harness.services
  await restrictions.block(author, ben)
  await using _ = await failing('delete')
  const [refused, stored] = await Promise.allSettled([
    engagements.add('likes', ben, other),
    engagements.add('likes', ann, post),
  ])
  expect(stored).toMatchObject({ status: 'fulfilled', value: { changed: true } })
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND' } })
})

/** Services whose admissions of likes of `user` wait. */
function holding(user: UserId) {
  const [reached, going] = [gate(), gate()]
  const { client, db } = harness.database
  let admissions = 0
  const before = async ({ collection, method, args }: Call) => {
    const text = JSON.stringify(args[0])
    if (collection !== 'engagements_by_user' || method !== 'bulkWrite') return
    if (!text.includes('insertOne')) return
    admissions++
    if (!text.includes(`"${user}"`)) return
    reached.open()
    await going.opened
  }
  const held = { client, db: intercepted(db, { before }) }
  const { engagements } = servicesOver(held, harness.clock, sameLimits(limits))
  return { engagements, reached, going, admissions: () => admissions }
}

test('a slow admission does not hold up the likes of later turns, nor an unlike of its own turn', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  await harness.services.engagements.add('likes', carl, other)
  const { engagements, reached, going } = holding(ann)
  const slow = engagements.add('likes', ann, post)
  const unlike = engagements.remove('likes', carl, other)
  await reached.opened
  expect(await unlike).toMatchObject({ changed: true })
  expect(await engagements.add('likes', ben, other)).toMatchObject({ changed: true })
  going.open()
  expect(await slow).toMatchObject({ changed: true })
})

test('several likes of one post are stored only once they are admitted, and another write of the post does not wait for that', async () => {
  const { ann, ben, carl, post } = await newScene()
  const { engagements: others, engagementReader } = harness.services
  await others.add('likes', carl, post)
  const { engagements, reached, going } = holding(ann)
  const likes = [engagements.add('likes', ann, post), engagements.add('likes', ben, post)]
  await reached.opened
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await engagementReader.entries(['likes'], [post], [ann, ben])).toEqual([])
  expect(await others.remove('likes', carl, post)).toMatchObject({ changed: true })
  going.open()
  expect(await Promise.all(likes)).toMatchObject([{ changed: true }, { changed: true }])
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
})

test('a refused like among several likes of one post is not stored, and the others are', async () => {
  const { author, ann, ben, carl, post } = await newScene()
  const { engagements, engagementReader, restrictions } = harness.services
  await restrictions.block(author, ben)
  const results = await Promise.allSettled(
    [ann, ben, carl].map((user) => engagements.add('likes', user, post)),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const stored = await engagementReader.entries(['likes'], [post], [ann, ben, carl])
  expect(stored.map(({ actor }) => actor).sort()).toEqual([ann, carl].sort())
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
})

test('likes of several posts that arrive during an admission share the next one', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  const third = (await newScene()).post
  const { engagements, reached, going, admissions } = holding(ann)
  const works = [engagements.add('likes', ann, post)]
  await reached.opened
  for (const [fan, liked] of [
    [ben, other],
    [carl, third],
  ] as const) {
    works.push(engagements.add('likes', fan, liked))
    await new Promise(setImmediate)
  }
  going.open()
  await Promise.all(works)
  expect(admissions()).toBe(2)
})

test('a post that held up a shared command is written alone until it is quick again', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  const { client, db } = harness.database
  const { engagements } = harness.services
  const session = client.startSession()
  session.startTransaction()
  const lock = { $set: { lock: 1 } }
  await db.collection('posts').updateOne({ _id: toObjectId(post.id) }, lock, { session })
  let updates = 0
  const count = ({ commandName }: CommandStartedEvent) =>
    void (commandName === 'update' && updates++)
  client.on('commandStarted', count)
  const likes = [engagements.add('likes', ann, post)]
  // The combined command is given up after 200 ms, and the like is then sent alone.
  await expect.poll(() => updates).toBe(2)
  client.off('commandStarted', count)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await session.abortTransaction()
  await session.endSession()
  await Promise.all(likes)
  const { commands } = await recorded(client, () =>
    Promise.all([engagements.add('likes', ben, post), engagements.add('likes', carl, other)]),
  )
  const sent = commands.filter(
    ({ name, collection }) => name === 'update' && collection === 'posts',
  )
  expect(sent.map(({ command }) => command.updates.length)).toEqual([1, 1])
})
