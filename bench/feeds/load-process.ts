import { connect, type Socket } from 'node:net'
import { handleRequests } from '../child-process.ts'
import { type LoadResult, runClosedLoop } from '../load.ts'

/** One load: complete HTTP requests that are sent in turn over keep-alive connections. */
export interface LoadJob {
  readonly port: number
  readonly requests: readonly string[]
  readonly connections: number
  readonly ms: number
}

/**
 * The result of a load. The load fails at the first answer that is not a 200, or whose body begins with errors.
 * `bytes` is the mean size of a body.
 */
export interface HttpLoadResult extends LoadResult {
  readonly count: number
  readonly bytes: number
}

// Uses sockets instead of an HTTP client, which would take more of the two cores that load and server share.
handleRequests(async ({ port, requests, connections, ms }: LoadJob): Promise<HttpLoadResult> => {
  const clients = await Promise.all(Array.from({ length: connections }, () => openClient(port)))
  let [count, bytes] = [0, 0]
  const load = await runClosedLoop(connections, ms, async (client, at) => {
    const body = await clients[client]?.(requests[at % requests.length] ?? '')
    count++
    bytes += body ?? 0
  })
  for (const client of clients) await client('')
  return { ...load, count, bytes: Math.round(bytes / Math.max(1, count)) }
})

/**
 * Opens a connection for one request at a time. A request resolves with the length of the body, in bytes.
 * An empty request closes the connection.
 */
async function openClient(port: number): Promise<(request: string) => Promise<number>> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received: Buffer[] = []
  let length = 0
  let expectedLength: number | undefined
  let pending: { resolve(body: number): void; reject(error: Error): void } | undefined
  let headBytes = 0
  socket.on('data', (chunk) => {
    received.push(chunk)
    length += chunk.length
    if (expectedLength === undefined) {
      const all = Buffer.concat(received)
      const end = all.indexOf('\r\n\r\n')
      if (end < 0) return
      headBytes = end + 4
      expectedLength = headBytes + parseBodyLength(all.toString('latin1', 0, end))
    }
    if (length < expectedLength) return
    const body = length - headBytes
    const start = Buffer.concat(received).toString('latin1', 0, headBytes + 20)
    received = []
    length = 0
    expectedLength = undefined
    if (/^HTTP\/1.1 200 /.test(start) && !start.includes('{"errors"')) pending?.resolve(body)
    else pending?.reject(new Error(`unexpected answer: ${start}`))
  })
  socket.on('close', () => pending?.reject(new Error('the connection was closed')))
  return (request) => {
    if (request === '') {
      pending = undefined
      socket.destroy()
      return Promise.resolve(0)
    }
    return new Promise((resolve, reject) => {
      pending = { resolve, reject }
      socket.write(request)
    })
  }
}

function parseBodyLength(head: string): number {
  const found = /content-length: (\d+)/i.exec(head)
  if (!found) throw new Error(`the answer has no content-length: ${head}`)
  return Number(found[1])
}
