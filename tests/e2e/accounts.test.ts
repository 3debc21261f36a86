import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'

const app = useApp()

test('an account of any subject has a handle that it chose, and an id of its own', async () => {
  const create = await app.send({
    as: 'auth0|5F7c8eC7c33c6C004bbafe82',
    query: `mutation { createUser(input: {handle: "@Ann", name: "Ann"}) { user { id handle name } viewer { id handle user { id } } } }`,
  })
  expect(create.errors).toEqual([])
  console.log(JSON.stringify(create.data), create.extensions)
  const again = await app.send({
    as: 'auth0|5F7c8eC7c33c6C004bbafe82',
    query: `{ viewer { id handle user { id handle } } }`,
  })
  console.log(JSON.stringify(again.data), JSON.stringify(again.errors))
  const rename = await app.send({
    as: 'auth0|5F7c8eC7c33c6C004bbafe82',
    query: `mutation { updateUser(input: {handle: "anna"}) { user { id handle name } } }`,
  })
  console.log(JSON.stringify(rename.data), JSON.stringify(rename.errors))
  const find = await app.send({
    query: `{ old: user(handle: "ann") { id } new: user(handle: "anna") { id handle name } a: isHandleAvailable(handle: "ann") b: isHandleAvailable(handle: "annb") }`,
  })
  console.log(JSON.stringify(find.data), JSON.stringify(find.errors))
})
