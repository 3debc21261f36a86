import { MongoBulkWriteError, type MongoError } from 'mongodb'
import { expect, test } from 'vitest'
import { clientErrorOf, isUnreachable } from '../../src/db/errors.ts'

const ended = Object.assign(new Error('This socket has been ended by the other party'), {
  code: 'EPIPE',
})
const inBulk = new MongoBulkWriteError(ended as unknown as MongoError, {} as never)

test.each([
  ['a command', ended],
  ['a bulk write', inBulk],
])('%s on a socket that the server has just closed means UNAVAILABLE', (_, error) => {
  expect(isUnreachable(error)).toBe(true)
  expect(clientErrorOf(error)).toMatchObject({ code: 'UNAVAILABLE' })
})

test('an error in the server’s own code has no code for clients', () => {
  expect(clientErrorOf(new TypeError('x is not a function'))).toBeUndefined()
  expect(clientErrorOf(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBeUndefined()
})
