import { beforeAll, expect, test } from 'vitest'
import { userNodeId } from '../../src/graphql/node-id.ts'
import { useApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

// docs/reference/api.md says what a null means in UserRef.

const app = useApp()
const [ann, ben] = [handle('ann'), handle('ben')]
beforeAll(() => openAccounts(app.services, [ann, ben]))

const mutation =
  'mutation ($user: UserRef!) { followUser(input: { user: $user }) { user { handle } } }'
const follow = async (query: string, variables?: object) => {
  const request = { as: 'ann', query, ...(variables && { variables }) }
  const { status, data, errors } = await app.send(request)
  return errors[0] ? { status, code: errors[0].extensions.code } : data.followUser.user.handle
}
const id = () => userNodeId(ben)

test.each([
  ['handle alone', () => ({ handle: 'ben' })],
  ['id alone', () => ({ id: id() })],
  ['id: null', () => ({ handle: 'ben', id: null })],
  ['handle: null', () => ({ id: id(), handle: null })],
  ['id: ""', () => ({ handle: 'ben', id: '' })],
  ['handle: ""', () => ({ handle: '', id: id() })],
])('a UserRef in a variable names its user beside a null or empty member: %s', async (_, user) => {
  expect(await follow(mutation, { user: user() })).toBe('ben')
})

test.each([
  ['null alone', { handle: null }],
  ['two nulls', { handle: null, id: null }],
  ['nothing', {}],
])('a UserRef in a variable that names no one is refused: %s', async (_, user) => {
  expect(await follow(mutation, { user })).toEqual({ status: 200, code: 'BAD_USER_INPUT' })
})

test.each([
  ['null beside handle', '{ handle: "ben", id: null }'],
  ['an empty id beside handle', '{ handle: "ben", id: "" }'],
  ['null alone', '{ handle: null }'],
])('two members or a null of a UserRef in a document are refused: %s', async (_, user) => {
  const query = `mutation { followUser(input: { user: ${user} }) { user { handle } } }`
  expect(await follow(query)).toEqual({ status: 200, code: 'GRAPHQL_VALIDATION_FAILED' })
})

test('a UserRef in a document with one member names its user', async () => {
  const query = 'mutation { followUser(input: { user: { handle: "ben" } }) { user { handle } } }'
  expect(await follow(query)).toBe('ben')
})
