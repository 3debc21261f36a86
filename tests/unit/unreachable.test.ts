import { expect, test } from 'vitest'
import { shown } from '../../src/lib/shown.ts'

test.each([
  ['mongodb://me:secret@db.example', 'mongodb://***@db.example'],
  [
    'mongodb://a:1,b:2,[::1]:3/feedline?replicaSet=x',
    'mongodb://a:1,b:2,[::1]:3/feedline?replicaSet=x',
  ],
  [
    'mongodb+srv://me:s%40cret@cluster.example/?appName=x',
    'mongodb+srv://***@cluster.example/?appName=x',
  ],
  ['mongodb://me:s@cret@db.example/', 'mongodb://***@db.example/'],
  ['mongodb://me:se/cret@db.example/', 'mongodb://***@db.example/'],
  ['mongodb://me:se?cret@db.example/', 'mongodb://***@db.example/'],
  ['mongodb://sec[ret:x@db.example/', 'mongodb://***@db.example/'],
  ['mongodb://me:secret', 'mongodb://me:***'],
  ['mongodb://a:1,me:secret/x', 'mongodb://a:1,me:***/x'],
  ['me:secret@db.example', '***@db.example'],
  ['https://me:secret@keys.example/jwks', 'https://***@keys.example/jwks'],
  [
    'mongodb://a/?tlsCertificateKeyFilePassword=secret&tls=true',
    'mongodb://a/?tlsCertificateKeyFilePassword=***&tls=true',
  ],
  [
    'mongodb://a/?authMechanismProperties=AWS_SESSION_TOKEN:secret',
    'mongodb://a/?authMechanismProperties=***',
  ],
])('no credentials of a URI are shown: %s', (value, expected) => {
  expect(shown(value)).toBe(`"${expected}"`)
})

test.each([
  ['80\r', '"80\\r"'],
  ['8\u200b0', '"8\\u{200b}0"'],
  ['a"b', '"a\\"b"'],
  ['größe 日本', '"größe 日本"'],
  ['x'.repeat(200), `"${'x'.repeat(120)}…"`],
])('a value is shown on one line, with its invisible characters: %j', (value, expected) => {
  expect(shown(value)).toBe(expected)
})
