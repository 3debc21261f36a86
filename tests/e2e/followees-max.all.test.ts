import { beforeAll, expect, test } from 'vitest'
import type { UserId } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

const followeesMax = 3
const app = useApp({}, () => ({ followeesMax }))
const people = Array.from({ length: 5 }, (_, n) => handle(`p${n}`))
const [ann, ben, famous] = [handle('ann'), handle('ben'), handle('famous')]

beforeAll(() => openAccounts(app.services, [ann, ben, famous, ...people]))

const follow = (as: UserId, followee: UserId) =>
  app.send({
    as,
    query: `mutation { followUser(input: { user: { handle: "${followee}"} }) { changed } }`,
  })
const refusal = {
  data: { followUser: null },
  errors: [
    {
      message: 'You may follow at most 3 users',
      extensions: { code: 'LIMIT_EXCEEDED', limit: 'followees' },
    },
  ],
}
const followingOf = async (user: UserId) => {
  const { collections } = app.services
  const stats = await collections.user_stats.findOne({ _id: user })
  return [stats?.following, await collections.following.countDocuments({ user })]
}

test('of concurrent follows of one user, only as many as the limit succeed', async () => {
  const answers = await Promise.all(people.map((one) => follow(ann, one)))
  const refused = answers.filter(({ errors }) => errors.length > 0)
  expect(refused).toHaveLength(people.length - followeesMax)
  for (const one of refused) expect(one).toMatchObject(refusal)
  expect(await followingOf(ann)).toEqual([followeesMax, followeesMax])
})

test('a follow beyond the limit is refused in a batch with others, and the others succeed', async () => {
  const [first, ...rest] = people as [UserId, ...UserId[]]
  const answers = await Promise.all([first, ...rest, ann].map((one) => follow(one, famous)))
  expect(answers.at(-1)).toMatchObject(refusal)
  expect(answers.slice(0, -1).flatMap(({ errors }) => errors)).toEqual([])
  expect(await followingOf(ann)).toEqual([followeesMax, followeesMax])
})

test('at the limit, a repeated follow changes nothing, and an unfollow makes room', async () => {
  const [a, b, c, d] = people as [UserId, UserId, UserId, UserId]
  for (const one of [a, b, c]) expect(await follow(ben, one)).toMatchObject({ errors: [] })
  expect(await follow(ben, d)).toMatchObject(refusal)
  expect((await follow(ben, c)).data).toEqual({ followUser: { changed: false } })
  await app.services.follows.unfollow(ben, a)
  expect((await follow(ben, d)).data).toEqual({ followUser: { changed: true } })
  expect(await followingOf(ben)).toEqual([followeesMax, followeesMax])
})
