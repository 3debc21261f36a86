import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { limitPipelining } from '../../src/http/pipelining.ts'

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** A server that answers a request when its turn is released. */
async function serve() {
  const http = fastify({ forceCloseConnections: true })
  const state = { received: 0, begun: 0, running: 0, runningMax: 0, release: () => {} }
  const released = new Promise<void>((resolve) => {
    state.release = resolve
  })
  http.server.on('request', () => state.received++)
  limitPipelining(http)
  http.addHook('onRequest', (_, __, done) => {
    state.begun++
    done()
  })
  http.get('/', async () => {
    state.running++
    state.runningMax = Math.max(state.runningMax, state.running)
    await released
    await new Promise(setImmediate)
    state.running--
    return 'answer'
  })
  await http.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((http.server.address() as AddressInfo).port, '127.0.0.1')
  return { http, state, socket, [Symbol.asyncDispose]: async () => http.close() }
}

test('the requests of one connection are served one after another, all of them', async () => {
  await using served = await serve()
  const { state, socket } = served
  state.release()
  let answers = 0
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text.split('HTTP/1.1 200').length - 1
  })
  socket.write(request.repeat(90))
  while (answers < 90) await once(socket, 'data')
  expect(state.runningMax).toBe(1)
  socket.destroy()
})

test('a request that waits behind another one costs no later hook, and nothing once its connection has ended', async () => {
  await using served = await serve()
  const { http, state, socket } = served
  socket.write(request.repeat(50))
  await expect.poll(() => state.running).toBe(1)
  socket.resetAndDestroy()
  await expect.poll(() => state.received).toBe(50)
  state.release()
  await http.close()
  expect(state.begun).toBe(1)
})

test('a connection with more than 100 unanswered requests is closed, and its requests with it', async () => {
  await using served = await serve()
  const { state, socket } = served
  socket.on('error', () => {})
  socket.write(request.repeat(20_000))
  await new Promise((resolve) => socket.once('close', resolve))
  // Those of the bytes that were read already are seen, but not served.
  expect(state.received).toBeLessThan(16 + 65_536 / request.length + 1)
  expect(state.runningMax).toBe(1)
  state.release()
})
