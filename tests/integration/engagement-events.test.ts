import { afterEach, expect, test } from 'vitest'
import type { Reactions } from '../../src/events.ts'
import { reactions } from '../../src/features.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { outcomeOf } from '../laws/model/model.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

/** No feature reacts to likes. A test adds a reaction, and it is removed after the test. */
const ofFeatures = reactions as Reactions[]
const standard = ofFeatures.length
const subscribe = () => ofFeatures.push({ 'like.added': 'test.like.added' })
afterEach(() => {
  ofFeatures.length = standard
})

const harness = useServices('collection', sameLimits({ threshold: 2, capacity: 2 }))
let scenes = 0

async function newScene() {
  const names = ['ann', 'ben', 'carl', 'dora', 'eve']
  const users = names.map((name) => handle(`ev${scenes++}-${name}`)) as [
    UserId,
    UserId,
    ...UserId[],
  ]
  await openAccounts(harness.services, users)
  const [author, ben, ...fans] = users
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  await harness.rest()
  return { post: { id, author }, author, ben, fans }
}

const jobs = () => harness.services.collections.outbox.find({ kind: /^test\./ }).toArray()

test('a like has one job for each subscriber of its event, in the transaction that stores it', async () => {
  subscribe()
  const { post, author, ben, fans } = await newScene()
  const { engagements, collections } = harness.services
  const expected: unknown[] = []
  for (const user of [ben, ...fans]) {
    const { entry } = await engagements.add('likes', user, post)
    expected.push({ author, post: post.id, user, entry: entry.id })
    expect((await jobs()).map(({ payload }) => payload)).toEqual(expected)
  }
  await engagements.add('likes', ben, post)
  await engagements.add('comments', ben, post, { text: 'no subscriber' })
  await harness.services.restrictions.block(author, ben)
  await engagements.remove('likes', ben, post)
  expect(await outcomeOf(engagements.add('likes', ben, post))).toBe('NOT_FOUND')
  expect(await jobs()).toHaveLength(expected.length)
  await collections.outbox.deleteMany({})
})

test('a like whose transaction fails leaves no job of its event', async () => {
  subscribe()
  const { post, ben } = await newScene()
  {
    const failing = { failCommands: ['update'], errorCode: 8000 }
    await using _ = await failCommand(harness.database.client, failing)
    await expect(harness.services.engagements.add('likes', ben, post)).rejects.toThrow()
  }
  expect(await jobs()).toEqual([])
})

test('concurrent likes of one post and the repeat of a like have one job each', async () => {
  subscribe()
  const { post, ben, fans } = await newScene()
  const { engagements, collections } = harness.services
  await Promise.all([ben, ...fans, ben].map((user) => engagements.add('likes', user, post)))
  const users = (await jobs()).map(({ payload }) => payload.user)
  expect(users.sort()).toEqual([ben, ...fans].sort())
  await collections.outbox.deleteMany({})
})

test('a like takes three commands, and no job without subscribers', async () => {
  const { post, ben } = await newScene()
  // Memory has the accounts and the blocks.
  await harness.services.engagements.add('shares', ben, post)
  const { commands } = await recorded(harness.database.client, () =>
    harness.services.engagements.add('likes', ben, post),
  )
  expect(labelsOf(commands)).toEqual([
    'commitTransaction',
    'insert engagements_by_user',
    'update posts',
  ])
  expect(await jobs()).toEqual([])
})
