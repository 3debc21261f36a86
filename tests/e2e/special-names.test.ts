import { beforeAll, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()

beforeAll(async () => {
  await openAccounts(app.services, [handle('ann'), handle('bob')])
  await app.services.follows.follow(handle('ann'), handle('bob'))
})

test('names with a meaning in JavaScript or MongoDB are ordinary names', async () => {
  const groups = ['$ne', '$where', '__proto__', 'a.b', 'constructor', '{"$ne":null}']
  const set = await app.send({
    as: 'ann',
    query:
      'mutation ($i: SetFollowGroupsInput!) { setFollowGroups(input: $i) { groups clientMutationId } }',
    variables: { i: { user: { handle: 'bob' }, groups, clientMutationId: '__proto__' } },
  })
  expect(set.errors).toEqual([])
  expect(set.data.setFollowGroups).toEqual({ groups, clientMutationId: '__proto__' })
  await app.services.posts.create(handle('bob'), { text: 'seen' })
  for (const [group, seen] of [...groups.map((name) => [name, 1]), ['toString', 0], ['$gt', 0]]) {
    const { data } = await app.send({
      as: 'ann',
      query: 'query ($g: String!) { timeline(group: $g) { edges { cursor } } }',
      variables: { g: group },
    })
    expect([group, data.timeline.edges.length]).toEqual([group, seen])
  }
})

test.each([
  ['ᎪᎠᎷᎥN', 'is reserved, or looks like a reserved name'],
  ['adrnin', 'is reserved, or looks like a reserved name'],
  ['…', 'must contain a letter, a digit or an emoji'],
])('the display name %s is refused, and nothing changes', async (name, problem) => {
  const query = 'mutation ($i: UpdateUserInput!) { updateUser(input: $i) { user { name } } }'
  const { errors } = await app.send({ as: 'ann', query, variables: { i: { name } } })
  expect(errors[0]).toMatchObject({
    extensions: { code: 'BAD_USER_INPUT', argument: 'input.name' },
  })
  expect(errors[0]?.message).toContain(problem)
  const kept = await app.send({ query: '{ user(handle: "ann") { name } }' })
  expect(kept.data.user.name).toBe('ann')
})

test.each([
  ['__proto__', '{"__proto__":{"h":"ann"}}'],
  ['a prototype', '{"constructor":{"prototype":{"h":"ann"}}}'],
])('a body with %s is refused and changes no prototype', async (_, variables) => {
  const { status, errors } = await app.send({
    body: `{"query":${JSON.stringify('query ($h: String!) { user(handle: $h) { handle } }')},"variables":${variables}}`,
  })
  expect([status, errors[0]?.extensions.code]).toEqual([400, 'BAD_REQUEST'])
  expect(({} as Record<string, unknown>).h).toBeUndefined()
})
