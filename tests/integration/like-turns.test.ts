import { expect, test, vi } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { engagementProblems, sameLimits, strays } from '../support/engagement.ts'
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

test('likes of several posts that arrive together share a transaction', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  const { engagements } = harness.services
  // Accounts and blocks are in memory.
  for (const user of [ann, ben, carl]) await engagements.add('shares', user, other)
  const { result, commands } = await recorded(harness.database.client, () =>
    Promise.all([
      engagements.add('likes', ann, post),
      engagements.add('likes', ben, post),
      engagements.add('likes', carl, other),
      engagements.add('shares', carl, post),
    ]),
  )
  expect(result.map(({ changed }) => changed)).toEqual([true, true, true, true])
  expect(labelsOf(commands)).toEqual([
    'commitTransaction',
    'insert engagements_by_user',
    'read posts',
    'update posts',
  ])
  expect(await engagementProblems(harness.services, limits, [post, other])).toEqual([])
  expect(await strays(harness.services, [post, other])).toEqual([])
})

test('likes of several posts that collide with another process are committed post by post, once', async () => {
  const { ann, ben, carl, post, other } = await newScene()
  const { services, database } = harness
  const like = (user: UserId, liked: PostRef) => {
    const idempotencyKey = createIdempotencyKey(user, 'likePost', { clientMutationId: 'once' })
    return services.engagements.add('likes', user, liked, { idempotencyKey })
  }
  await using _ = await failCommand(database.client, {
    failCommands: ['update'],
    namespace: `${database.name}.posts`,
    errorCode: 112,
    errorLabels: ['TransientTransactionError'],
    times: 1,
  })
  const { result, commands } = await recorded(database.client, () =>
    Promise.all([like(ann, post), like(ben, other), like(carl, other)]),
  )
  expect(result.map(({ changed }) => changed)).toEqual([true, true, true])
  expect(labelsOf(commands).filter((label) => label === 'commitTransaction')).toHaveLength(2)
  // A repeat has the same entry.
  expect((await like(ann, post)).entry?.id).toBe(result[0]?.entry?.id)
  expect(await engagementProblems(services, limits, [post, other])).toEqual([])
  expect(await strays(services, [post, other])).toEqual([])
})

test('a like of a post that does not exist fails no like of another post', async () => {
  const { author, ann, ben, post } = await newScene()
  const { engagements, mint } = harness.services
  const [missing, stored] = await Promise.allSettled([
    engagements.add('likes', ann, { id: mint.next(), author }),
    engagements.add('likes', ben, post),
  ])
  expect(missing).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND' } })
  expect(stored).toMatchObject({ status: 'fulfilled', value: { changed: true } })
})

test('while a process asks its memory about a like of a hot post, another process adds one', async () => {
  const { ann, ben, carl, post } = await newScene()
  const { services, database, clock } = harness
  {
    // A collision makes the post hot.
    await using _ = await failCommand(database.client, {
      failCommands: ['update'],
      namespace: `${database.name}.posts`,
      errorCode: 112,
      errorLabels: ['TransientTransactionError'],
      times: 1,
    })
    await services.engagements.add('likes', ann, post)
  }
  let answer = (_: boolean) => {}
  const answered = new Promise<boolean>((resolve) => {
    answer = resolve
  })
  const memory = vi.spyOn(services.memory, 'isCurrent').mockReturnValueOnce(answered)
  const waiting = services.engagements.add('likes', ben, post)
  await vi.waitFor(() => expect(memory).toHaveBeenCalled())
  const other = servicesOver(database, clock, sameLimits(limits))
  expect((await other.engagements.add('likes', carl, post)).changed).toBe(true)
  answer(true)
  expect((await waiting).changed).toBe(true)
  expect(memory).toHaveBeenCalledTimes(1)
  expect(await engagementProblems(services, limits, [post])).toEqual([])
})

test('what cannot be read of one user refuses no like of another user', async () => {
  const { author, ann, ben, carl, post } = await newScene()
  const { engagements, collections } = harness.services
  await harness.services.restrictions.block(author, ben)
  // The users are not in memory yet, and their reads fail.
  await using _ = await failCommand(harness.database.client, {
    failCommands: ['find'],
    namespace: `${harness.database.name}.${collections.restrictions.collectionName}`,
    errorCode: 8000,
    times: 1,
  })
  const results = await Promise.allSettled(
    [ann, ben, carl].map((user) => engagements.add('likes', user, post)),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(results[1]).toMatchObject({ reason: { code: 'NOT_FOUND' } })
})

test('a failure to ask memory refuses the likes of its turn, and no later one', async () => {
  const { ann, ben, post, other } = await newScene()
  const { engagements, memory } = harness.services
  const likeBoth = () =>
    Promise.allSettled([engagements.add('likes', ann, post), engagements.add('likes', ben, other)])
  vi.spyOn(memory, 'isCurrent').mockRejectedValueOnce(new Error('cannot say'))
  expect((await likeBoth()).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect((await likeBoth()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
})
