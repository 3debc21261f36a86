import { once } from 'node:events'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { release } from '../../src/lib/release.ts'
import { useApp } from '../support/app.ts'
import { patient } from '../support/patience.ts'

const app = useApp({}, ({ operations }) => ({
  operations: { ...operations, receiveMs: patient(1_000) },
}))

/**
 * Sends bytes on a connection of its own, one piece each 200 ms. @returns what the server sent, and
 * how many pieces it took.
 */
async function sendSlowly(pieces: Iterable<string>) {
  const socket = createConnection(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const answer = text(socket)
  let isOpen = true
  const ended = answer.then(() => {
    isOpen = false
  })
  let taken = 0
  for (const piece of pieces) {
    if (!isOpen) break
    socket.write(piece, () => {})
    taken++
    await Promise.race([sleep(200), ended])
  }
  return { received: await answer, taken }
}

const head = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
/** Takes much longer than a request may. */
const drip = (text: string) => Array.from({ length: patient(40) }, () => text)

test.each([
  ['a head that never ends', [head, ...drip('x-a: b\r\n')]],
  ['a body that never ends', [`${head}content-length: 90000\r\n\r\n`, ...drip(' ')]],
  ['a head without a byte more', [head]],
])('%s is cut when its time is over', async (_, pieces) => {
  const { received, taken } = await sendSlowly(pieces)
  if (pieces.length > 1) expect(taken).toBeLessThan(pieces.length)
  const [line, ...headers] = received.split('\r\n')
  expect(line).toBe('HTTP/1.1 408 Request Timeout')
  expect(headers).toContain('connection: close')
  const { errors } = JSON.parse(headers.at(-1) ?? '')
  expect(errors).toEqual([
    {
      message: 'The request took too long to arrive',
      extensions: {
        code: 'BAD_REQUEST',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        release,
      },
    },
  ])
})

test.each([
  ['not HTTP', 'HELLO\r\n\r\n', 400],
  ['a head above the limit', `${head}x-a: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
])('%s gets a GraphQL error', async (_, sent, status) => {
  const { received } = await sendSlowly([sent])
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(JSON.parse(received.split('\r\n').at(-1) ?? '').errors[0].extensions.code).toBe(
    'BAD_REQUEST',
  )
})

test('a request that arrives slowly, but in time, is answered', async () => {
  const body = JSON.stringify({ query: '{ __typename }' })
  const { received } = await sendSlowly([
    `${head}connection: close\r\ncontent-length: ${body.length}\r\n\r\n`,
    body.slice(0, 5),
    body.slice(5),
  ])
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
})
