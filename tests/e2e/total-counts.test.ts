import { beforeAll, expect, test } from 'vitest'
import { engagementKinds, publicKinds } from '../../src/engagement/kinds.ts'
import { useApp } from '../support/app.ts'
import { handle, namesOf } from '../support/services.ts'

const app = useApp()
const [star, fan, rival] = [handle('star'), handle('fan'), handle('rival')]

beforeAll(async () => {
  const { users, follows, posts, engagements } = app.services
  for (const one of [star, fan, rival]) await users.create(one, { ...namesOf(one), name: one })
  for (const one of [fan, rival]) await follows.follow(one, star)
  await follows.follow(star, fan)
  await follows.setGroups(star, fan, ['close'])
  const post = await posts.create(star, { text: 'first' })
  await posts.create(star, { text: 'second' })
  for (const kind of engagementKinds) {
    for (const one of [fan, rival]) await engagements.add(kind, one, post, { text: one })
  }
})

const counted = 'edges { cursor } totalCount'
const lists = `{ user(handle: "star") {
  followers(first: 1) { ${counted} } following { ${counted} } posts(first: 1) { ${counted} } } }`

test('totalCount is the number of all items of a list, on every page', async () => {
  const { data, errors } = await app.send({ as: fan, query: lists })
  expect(errors).toEqual([])
  expect(data.user).toMatchObject({
    followers: { totalCount: 2, edges: [{}] },
    following: { totalCount: 1, edges: [{}] },
    posts: { totalCount: 2, edges: [{}] },
  })
})

test.each(['node { id', 'node { text likeCount'])(
  'totalCount of likes, comments and shares is the counter of the post, also with edges { %s } }',
  async (node) => {
    const inside = publicKinds.map((kind) => `${kind}(first: 1) { ${counted} }`).join(' ')
    const page = `edges { ${node} ${inside} } }`
    const query = `{ timeline(last: 1) { ${page} } user(handle: "star") { posts(last: 1) { ${page} } } }`
    const { data, errors } = await app.send({ as: star, query })
    expect(errors).toEqual([])
    for (const { edges } of [data.timeline, data.user.posts]) {
      for (const kind of publicKinds) {
        expect(edges[0].node[kind]).toMatchObject({ totalCount: 2, edges: [{}] })
      }
    }
  },
)

test('totalCount is null for a group, which has no counter', async () => {
  const query = `{ user(handle: "star") { following(group: "close") { ${counted} } } }`
  const { data } = await app.send({ as: star, query })
  expect(data.user.following).toMatchObject({ totalCount: null, edges: [{}] })
})

test('totalCount counts users that a block hides, and is null if the block hides the profile', async () => {
  await app.services.restrictions.block(fan, rival)
  const { data } = await app.send({ as: fan, query: lists })
  expect(data.user.followers).toMatchObject({ totalCount: 2, edges: [{}] })
  await app.services.restrictions.block(star, fan)
  const hidden = await app.send({ as: fan, query: lists })
  const empty = { totalCount: null, edges: [] }
  expect(hidden.data.user).toEqual({ followers: empty, following: empty, posts: empty })
})
