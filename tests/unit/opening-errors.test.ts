import {
  MongoClient,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import { expect, test } from 'vitest'
import { failureText } from '../../src/cli/failure.ts'
import { ConfigError } from '../../src/config.ts'
import { UnreachableError, UriCheck } from '../../src/db/unreachable.ts'

const uri = 'mongodb://db.example:27017/'
const host = 'db.example:27017'

/** A check whose client has seen a member without a primary, or a failure of its heartbeat. */
function checkAfter(failure?: Error): UriCheck {
  const check = new UriCheck(uri, 'feedline')
  const client = new MongoClient(uri)
  check.listen(client)
  const isWritablePrimary = true
  const reply = { maxWireVersion: 21, setName: 'rs', isWritablePrimary }
  if (failure) client.emit('serverHeartbeatFailed', { connectionId: host, failure } as never)
  else client.emit('serverHeartbeatSucceeded', { connectionId: host, reply } as never)
  return check
}

/** What an operator reads if opening the database throws `thrown`. */
const textOf = (thrown: unknown, check = checkAfter()) =>
  failureText(check.explained(check.unreachable(thrown)))

const systemError = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code}: of the system`), { code, ...more })
const networkError = (code: string) =>
  new MongoNetworkError('the connection failed', { cause: systemError(code) })
const selectionError = new MongoServerSelectionError('Server selection timed out after 5000 ms', {
  error: null,
} as never)
const serverError = (code: number, message = 'of the server') =>
  new MongoServerError({ code, message })

const bugs: readonly (readonly [string, () => unknown, string])[] = [
  [
    'a TypeError',
    () => new TypeError('Class extends value undefined is not a constructor or null'),
    'Class extends value undefined is not a constructor or null',
  ],
  ['a RangeError', () => new RangeError('Invalid array length'), 'Invalid array length'],
  ['a ReferenceError', () => new ReferenceError('x is not defined'), 'x is not defined'],
  ['a SyntaxError', () => new SyntaxError('Unexpected token'), 'Unexpected token'],
  [
    'a wrong argument of a function of Node',
    () => Object.assign(new TypeError('The "path" argument'), { code: 'ERR_INVALID_ARG_TYPE' }),
    'The "path" argument',
  ],
  [
    'a bug that the driver wraps',
    () => new MongoNetworkError('read failed', { cause: new TypeError('x is not a function') }),
    'x is not a function',
  ],
  ['a text', () => 'a plain text', 'a plain text'],
  ['undefined', () => undefined, 'undefined'],
  ['an object', () => ({ code: 7 }), '{ code: 7 }'],
]

test.each(bugs)(
  '%s while the database is opened is printed as a bug, with its own message',
  (_, thrown, message) => {
    const text = textOf(thrown())
    expect(text).toContain(`This is a bug of Feedline: ${message}`)
    expect(text).not.toMatch(/MONGODB_URI|primary|database/)
    if (thrown() instanceof Error) expect(text).toMatch(/\n +at .*opening-errors\.test\.ts/)
  },
)

test('a bug in the heartbeat of a client is printed as a bug, with its own message', () => {
  const check = checkAfter(new TypeError('x is not a function'))
  const text = textOf(selectionError, check)
  expect(text).toContain('This is a bug of Feedline: x is not a function')
  expect(text).not.toContain('MONGODB_URI')
})

test.each([
  [
    'a ConfigError',
    new ConfigError(['FOLLOWING: is fixed']),
    /^(?!.*MONGODB_URI).*FOLLOWING: is fixed/,
  ],
  [
    'a plain Error',
    new Error('One sentence for the operator.'),
    /^One sentence for the operator\.$/,
  ],
])('%s while the database is opened keeps its message, without a stack', (_, thrown, expected) => {
  expect(textOf(thrown)).toMatch(expected)
  expect(textOf(thrown)).not.toMatch(/bug|\n/)
})

test.each([
  ['no primary', selectionError, `${host} is found, but no primary`],
  ['a wrong password', serverError(18), 'MongoDB knows no user'],
  ['no user', serverError(13), 'MongoDB asks for a user'],
  ['Atlas without rights', serverError(8000), 'MongoDB asks for a user'],
  [
    'a database that differs by case',
    serverError(13_297, 'db already exists with different case already have: [Feedline]'),
    'set MONGODB_DATABASE=Feedline',
  ],
])('the driver says why the database cannot be used: %s', (_, thrown, expected) => {
  const text = textOf(thrown)
  expect(text).toContain(expected)
  expect(text).toMatch(/^MONGODB_URI: "mongodb:\/\/db\.example:27017\/" cannot be used: [^\n]+\.$/)
})

test.each([
  ['ECONNREFUSED', networkError('ECONNREFUSED'), `nothing listens on ${host}`],
  ['ENOTFOUND', networkError('ENOTFOUND'), 'the name of the host'],
  ['ETIMEDOUT', networkError('ETIMEDOUT'), 'does not answer in time'],
  ['ECONNRESET', networkError('ECONNRESET'), 'closes a connection without TLS'],
  ['a TLS option', systemError('ERR_OSSL_PEM_NO_START_LINE'), 'fails: ERR_OSSL_PEM_NO_START_LINE'],
])('a failed heartbeat says why the host cannot be used: %s', (_, failure, expected) => {
  expect(textOf(selectionError, checkAfter(failure))).toContain(expected)
})

test('a file of TLS options that cannot be read is named before any host is known', () => {
  const check = new UriCheck(uri, 'feedline')
  check.listen(new MongoClient(uri))
  const error = check.unreachable(systemError('ENOENT', { path: '/ca.pem' }))
  expect(error).toBeInstanceOf(UnreachableError)
  expect(`${error}`).toContain('the file "/ca.pem" of its TLS options cannot be read (ENOENT)')
})
