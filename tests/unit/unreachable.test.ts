import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { unreachable } from '../../src/db/unreachable.ts'

test.each([
  ['mongodb://me:secret@db.example', 'db.example'],
  ['mongodb://a:1,b:2,[::1]:3/feedline?replicaSet=x', 'a:1,b:2,[::1]:3'],
  ['mongodb+srv://me:s%40cret@cluster.example/?appName=x', 'cluster.example'],
  ['mongodb://me:s@cret@db.example/', 'db.example'],
])('the error of an unreachable database names only the hosts of %s', (uri, hosts) => {
  const { message } = unreachable(uri, new Error('no way.'))
  expect(message).toBe(`MONGODB_URI: the database at ${hosts} cannot be used: no way.`)
})

test.each([
  'mongodb://me:se/cret@db.example/',
  'mongodb://me:se?cret@db.example/',
  'mongodb://sec[ret:x@db.example/',
  'mongodb://',
])('the error of an unreachable database shows no part of a malformed URI: %s', async (uri) => {
  const error = await connect(uri).catch((reason: unknown) => reason)
  const { message } = unreachable(uri, error)
  expect(message).not.toMatch(/cret|sec|me:/)
  expect(message).toMatch(/not percent-encoded\.$/)
})
