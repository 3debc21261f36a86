import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { requestsInFlight } from '../../src/metrics/requests.ts'
import { useApp, withRequestsMax } from '../support/app.ts'
import { reserveFailpoint } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

// Each request is logged, as a slow one.
const app = useApp({ RATE_LIMIT_COST: '20000' }, (config) => ({
  ...withRequestsMax(2)(config),
  operations: { ...config.operations, slowMs: 1 },
}))
beforeAll(() => openAccounts(app.services, [handle('ann')]))

const query = '{ user(handle: "ann") { name } }'
const bytesOf = (body: string) =>
  `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const request = bytesOf(JSON.stringify({ query }))

/** Sends bytes on a connection of their own. */
function open(bytes: string) {
  const socket: Socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  socket.write(bytes)
  return {
    socket,
    statuses: () => Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, one]) => Number(one)),
  }
}

test('requests that a client pipelines are all answered, however few requests are executed at once', async () => {
  const pipelined = open(request.repeat(40))
  while (pipelined.statuses().length < 40) await once(pipelined.socket, 'data')
  pipelined.socket.destroy()
  expect(pipelined.statuses()).toEqual(Array(40).fill(200))
})

test('requests that a client pipelines take no more than its rate limit', async () => {
  const costly = `{ user(handle: "ann") { followers(first: 100) { edges { node { followers(first: 60) { edges { cursor } } } } } } }`
  const pipelined = open(bytesOf(JSON.stringify({ query: costly })).repeat(6))
  while (pipelined.statuses().length < 6) await once(pipelined.socket, 'data')
  pipelined.socket.destroy()
  expect(pipelined.statuses().filter((status) => status === 200).length).toBeLessThanOrEqual(1)
  expect(pipelined.statuses().at(-1)).toBe(429)
})

test('requests that wait behind another one leave nothing behind after the connection is reset', async () => {
  const inFlight = async () => (await requestsInFlight.get()).values[0]?.value
  const { client, name } = app.database
  await using failpoint = await reserveFailpoint(client)
  await expect.poll(inFlight).toBe(0)
  const lines = app.logged.length
  await failpoint.set({ failCommands: ['aggregate'], namespace: `${name}.handles`, blockMs: 1_000 })
  const pipelined = open(request.repeat(40))
  await expect.poll(() => app.openRequests).toBe(1)
  expect(await inFlight()).toBe(1)
  pipelined.socket.resetAndDestroy()
  await expect.poll(() => app.logged.length).toBe(lines + 1)
  expect(JSON.parse(app.logged.at(-1) ?? '')).toMatchObject({ code: 'CLOSED' })
  expect([app.openRequests, await inFlight()]).toEqual([0, 0])
})
