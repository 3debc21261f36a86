import { connect, type Socket } from 'node:net'
import { answer } from '../children.ts'
import { drive, type Load } from '../drive.ts'

/** What one load is: whole requests, sent in turn over so many connections that are kept open. */
export interface LoadJob {
  readonly port: number
  readonly requests: readonly string[]
  readonly connections: number
  readonly ms: number
}

/** What a load gave. Any answer that is not a 200 with a body without `"errors"` ends it. */
export interface HttpLoad extends Load {
  readonly count: number
  readonly bytes: number
}

// Sockets rather than an HTTP client: the load shares two cores with what it measures.
answer(async ({ port, requests, connections, ms }: LoadJob): Promise<HttpLoad> => {
  const clients = await Promise.all(Array.from({ length: connections }, () => openClient(port)))
  let [count, bytes] = [0, 0]
  const load = await drive(connections, ms, async (client, at) => {
    const body = await clients[client]?.(requests[at % requests.length] ?? '')
    count++
    bytes += body ?? 0
  })
  for (const client of clients) await client('')
  return { ...load, count, bytes: Math.round(bytes / Math.max(1, count)) }
})

/** A connection that answers one request after the other with the length of the body; an empty request closes it. */
async function openClient(port: number): Promise<(request: string) => Promise<number>> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received: Buffer[] = []
  let length = 0
  let wanted: number | undefined
  let settle: { resolve(body: number): void; reject(error: Error): void } | undefined
  let headBytes = 0
  socket.on('data', (chunk) => {
    received.push(chunk)
    length += chunk.length
    if (wanted === undefined) {
      const all = Buffer.concat(received)
      const end = all.indexOf('\r\n\r\n')
      if (end < 0) return
      headBytes = end + 4
      wanted = headBytes + bodyLength(all.toString('latin1', 0, end))
    }
    if (length < wanted) return
    const body = length - headBytes
    const start = Buffer.concat(received).toString('latin1', 0, headBytes + 20)
    received = []
    length = 0
    wanted = undefined
    if (/^HTTP\/1.1 200 /.test(start) && !start.includes('{"errors"')) settle?.resolve(body)
    else settle?.reject(new Error(`refused: ${start}`))
  })
  socket.on('close', () => settle?.reject(new Error('the connection was closed')))
  return (request) => {
    if (request === '') {
      settle = undefined
      socket.destroy()
      return Promise.resolve(0)
    }
    return new Promise((resolve, reject) => {
      settle = { resolve, reject }
      socket.write(request)
    })
  }
}

function bodyLength(head: string): number {
  const found = /content-length: (\d+)/i.exec(head)
  if (!found) throw new Error(`an answer without its length: ${head}`)
  return Number(found[1])
}
