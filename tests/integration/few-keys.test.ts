import { expect, test } from 'vitest'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { labelsOf, shardProblemOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const [following] = sampledFollowing(0)
const harness = useServices(following)

/** Runs reads that arrive together. @returns their results and the labels of their commands. */
async function together<T>(reads: readonly (() => Promise<T>)[]) {
  const { result, commands } = await recorded(harness.database.client, () =>
    Promise.all(reads.map((read) => read())),
  )
  if (following === 'collection')
    expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  return { result, labels: labelsOf(commands) }
}

/** Runs reads one after the other. */
async function alone<T>(reads: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = []
  for (const read of reads) results.push(await read())
  return results
}

test('reads of few users that arrive together share a command, and each viewer gets only what is theirs', async () => {
  const { services } = harness
  const { follows, restrictions, stats, users } = services
  const people = ['ann', 'ben', 'cat', 'dan'].map(handle)
  const [ann, ben, cat, dan] = people as [UserId, UserId, UserId, UserId]
  const nobody = handle('nobody')
  await openAccounts(services, people)
  await follows.follow(ann, dan)
  await follows.follow(ben, cat)
  await follows.follow(dan, ben)
  await follows.setGroups(ann, dan, ['close'])
  await follows.setGroups(ben, cat, ['work'])
  await restrictions.mute(ann, ben)
  await restrictions.block(cat, dan)

  /** Each of these, about the same two users, for each viewer. */
  const asked = [dan, ben, nobody]
  const ofViewers = <T>(read: (viewer: UserId) => Promise<T>) =>
    people.map((viewer) => () => read(viewer))
  const directions = following === 'collection' ? ['read following'] : ['read followers']
  const cases: readonly (readonly [string[], readonly (() => Promise<unknown>)[]])[] = [
    [['read restrictions'], ofViewers((viewer) => restrictions.restrictionsFor(viewer, asked))],
    [directions, ofViewers((viewer) => follows.followeesAmong(viewer, asked))],
    [['read followers'], ofViewers((viewer) => follows.followersAmong(viewer, asked))],
    [directions, ofViewers((viewer) => follows.groupsAmong(viewer, asked))],
    [['read user_stats'], ofViewers((viewer) => stats.byIds([viewer, nobody]))],
    [['read user_stats'], ofViewers((viewer) => stats.liveAmong([viewer, nobody]))],
    [['read users'], ofViewers((viewer) => users.byIds([viewer, nobody]))],
  ]
  for (const [expected, reads] of cases) {
    const { result, labels } = await together(reads)
    expect(labels).toEqual(expected)
    expect(result).toEqual(await alone(reads))
  }
  expect(await restrictions.restrictionsFor(ann, asked)).toEqual(
    new Map([[ben, new Set(['MUTE'])]]),
  )
  expect(await follows.groupsAmong(ann, asked)).toEqual(new Map([[dan, ['close']]]))
  expect(await follows.followeesAmong(ann, asked)).toEqual(new Set([dan]))
  expect(await follows.followersAmong(dan, people)).toEqual(new Set([ann]))
})

test('reads of posts that arrive together share a command, and an id with another author names no post', async () => {
  const { services } = harness
  const authors = ['eve', 'fay'].map(handle) as [UserId, UserId]
  await openAccounts(services, authors)
  const refs: PostRef[] = []
  for (const author of authors) refs.push(await services.posts.create(author, { text: author }))
  const [eves, fays] = refs as [PostRef, PostRef]
  const wrong = { id: eves.id, author: fays.author }
  const reads = [[eves], [fays], [wrong], [eves, fays]].map(
    (some) => () => services.posts.byRefs(some),
  )
  const { result, labels } = await together(reads)
  expect(labels).toEqual(['read posts'])
  expect(result.map((found) => [...found.values()].map(({ text }) => text))).toEqual([
    ['eve'],
    ['fay'],
    [],
    ['eve', 'fay'],
  ])
})

test('a malformed document fails only the reads that ask for it, or is absent from them', async () => {
  const { services } = harness
  const { collections, posts, stats, users } = services
  const [whole, broken] = ['gil', 'hal'].map(handle) as [UserId, UserId]
  await openAccounts(services, [whole, broken])
  const post = await posts.create(broken, { text: 'hello' })
  const other = await posts.create(whole, { text: 'whole' })
  const loose = { bypassDocumentValidation: true }
  const damage = { $set: { name: 7, followers: 'many', text: { no: 'text' } } } as never
  await collections.users.updateOne({ _id: broken }, damage, loose)
  await collections.user_stats.updateOne({ _id: broken }, damage, loose)
  await collections.posts.updateOne({ author: broken }, damage, loose)
  const settled = await Promise.allSettled([
    users.byIds([whole]),
    users.byIds([broken]),
    stats.byIds([whole]),
    stats.byIds([broken]),
    posts.byRefs([other]),
    posts.byRefs([post]),
  ])
  const sizes = settled.map((one) => (one.status === 'fulfilled' ? one.value.size : 'failed'))
  expect(sizes).toEqual([1, 0, 1, 0, 1, 0])
})
