import { once } from 'node:events'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'

const app = useApp({ RECEIVE_SECONDS: '1' })

/** Sends bytes on a connection of its own, one piece each 200 ms. @returns what the server sent, and after how long. */
async function sendSlowly(pieces: Iterable<string>) {
  const socket = createConnection(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const begun = performance.now()
  const answer = text(socket)
  let isOpen = true
  const ended = answer.then(() => {
    isOpen = false
  })
  for (const piece of pieces) {
    if (!isOpen) break
    socket.write(piece, () => {})
    await Promise.race([sleep(200), ended])
  }
  const received = await answer
  return { received, ms: performance.now() - begun }
}

const head = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
const drip = (text: string) => Array.from({ length: 40 }, () => text)

test.each([
  ['a head that never ends', [head, ...drip('x-a: b\r\n')]],
  ['a body that never ends', [`${head}content-length: 90000\r\n\r\n`, ...drip(' ')]],
  ['a head without a byte more', [head]],
])('%s is cut at RECEIVE_SECONDS, and a second later at most', async (_, pieces) => {
  const { received, ms } = await sendSlowly(pieces)
  expect(ms).toBeGreaterThan(900)
  expect(ms).toBeLessThan(3_000)
  const [line, ...headers] = received.split('\r\n')
  expect(line).toBe('HTTP/1.1 408 Request Timeout')
  expect(headers).toContain('connection: close')
  const { errors } = JSON.parse(headers.at(-1) ?? '')
  expect(errors).toEqual([
    {
      message: 'The request took too long to arrive',
      extensions: { code: 'BAD_REQUEST', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
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
