import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import { type TestApp, useApp, withRequestsMax } from '../support/app.ts'
import { patient } from '../support/patience.ts'
import { handle, openAccounts } from '../support/services.ts'

const ann = handle('ann')
const query = `{ user(handle: "${ann}") { posts(first: 100) { edges { node { text } } } } }`
/** More than the buffers of a connection hold. */
const answerBytes = 9_000_000

const strict = useApp({}, (config) => ({
  ...withRequestsMax(2)(config),
  operations: { ...config.operations, receiveMs: 1_000 },
}))
const standard = useApp()

beforeAll(async () => {
  for (const { services } of [strict, standard]) {
    await openAccounts(services, [ann])
    const text = 'x'.repeat(answerBytes / 100)
    await services.collections.posts.insertMany(
      Array.from({ length: 100 }, () => {
        return { _id: toObjectId(services.mint.next<PostId>()), author: ann, text }
      }),
    )
  }
})

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Asks for a large answer, and reads none of it. */
async function openReader({ url }: TestApp): Promise<{ isOpen: () => boolean }> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  let isOpen = true
  socket.on('error', () => {})
  socket.once('close', () => {
    isOpen = false
  })
  const path = `/graphql?${new URLSearchParams({ query })}`
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  await once(socket, 'readable')
  return {
    // A paused socket does not notice its end.
    isOpen: () => {
      socket.resume()
      return isOpen
    },
  }
}

describe('clients that do not read their answers', () => {
  test('take no place of other requests', async () => {
    for (let n = 0; n < 12; n++) await openReader(strict)
    const answers = await Promise.all(
      Array.from({ length: 2 }, () => strict.send({ query: '{ errorMeaning(code: CONFLICT) }' })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test('are disconnected when their time is over, and a second later at most', async () => {
    const readers = [await openReader(strict), await openReader(strict)]
    await sleep(3_000)
    for (const { isOpen } of readers) {
      isOpen()
      await expect.poll(isOpen).toBe(false)
    }
  })

  test('are disconnected while their answers take more than 64 MB, the oldest first', async () => {
    for (let n = 0; n < 12; n++) await openReader(standard)
    await sleep(200)
    const received = await Promise.all(sockets.map(bytesOf))
    const whole = received.filter((bytes) => bytes > answerBytes).length
    expect(whole).toBeGreaterThanOrEqual(6)
    expect(whole).toBeLessThanOrEqual(7)
    expect(received.slice(-whole).every((bytes) => bytes > answerBytes)).toBe(true)
  })
})

/** Reads what a connection still brings, until it is closed or silent. */
async function bytesOf(socket: Socket): Promise<number> {
  let [bytes, before, isClosed] = [0, -1, false]
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.once('close', () => {
    isClosed = true
  })
  while (!isClosed && bytes !== before) {
    before = bytes
    await sleep(patient(1_000))
  }
  return bytes
}

test('a client that reads slowly, but in time, gets its whole answer', async () => {
  const answer = await fetch(`${standard.url}/graphql?${new URLSearchParams({ query })}`)
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes < 2_000_000) await sleep(20)
  }
  expect(bytes).toBeGreaterThan(answerBytes)
})
