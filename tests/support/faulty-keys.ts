import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Jwk } from './key-server.ts'

const megabyte = ' '.repeat(1024 ** 2)

/** Writes until the client leaves, as far as it reads. */
async function writeAll(response: ServerResponse, parts: Iterable<string>): Promise<void> {
  for (const part of parts) {
    if (response.destroyed) return
    if (!response.write(part)) {
      await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    }
  }
  response.end()
}

function* manyMegabytes() {
  yield '{"keys":['
  for (let n = 0; n < 40; n++) yield megabyte
  yield ']}'
}

const compressed = gzipSync([...manyMegabytes()].join(''))

/**
 * What endpoints of keys do wrong, by what they do. Each either answers wrongly or never ends its
 * answer.
 */
export const keyFaults: Readonly<Record<string, (response: ServerResponse, keys: string) => void>> =
  {
    'never answers': () => {},
    'sends its headers alone': (response) => void response.writeHead(200).flushHeaders(),
    'sends a byte now and then': (response, keys) => {
      let at = 0
      const timer = setInterval(() => response.write(keys[at++ % keys.length]), 200)
      response.once('close', () => clearInterval(timer))
    },
    'closes the connection': (response) => response.socket?.destroy(),
    'refuses with status 500': (response, keys) => response.writeHead(500).end(keys),
    'sends 40 MB': (response) => void writeAll(response, manyMegabytes()),
    'sends 40 MB in a few bytes': (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(compressed)
    },
    'sends no JSON': (response) => response.end('<html>\u0000'),
    'sends other JSON': (response) => response.end('{"keys":[[],7,null]}'),
    'redirects to itself': (response) =>
      response.writeHead(302, { location: response.req.url }).end(),
    'sends thousands of keys': (response) =>
      response.end(JSON.stringify({ keys: Array(20_000).fill({ kty: 'EC' }) })),
  }

/** A server of published keys whose answers can go wrong, each path by itself. */
export interface FaultyKeyServer {
  /** The URL of a path, which answers with these keys from now on. */
  readonly publish: (path: string, ...keys: readonly Jwk[]) => string
  /** From now on, a path answers with a fault of {@link keyFaults}. */
  readonly spoil: (path: string, fault: string) => void
  /** How often a path was asked for. */
  readonly fetchesOf: (path: string) => number
  /** The most connections that were open at once. */
  readonly openMax: number
  /** The bytes that all connections have sent. */
  readonly sentBytes: number
  readonly close: () => void
}

export async function startFaultyKeyServer(): Promise<FaultyKeyServer> {
  const sets = new Map<string, string>()
  const faults = new Map<string, string>()
  const fetches = new Map<string, number>()
  const open = new Set<Socket>()
  let [openMax, closedBytes] = [0, 0]
  const server = await new Promise<Server>((resolve) => {
    const starting = createServer((request, response) => {
      const { url: path = '' } = request
      fetches.set(path, (fetches.get(path) ?? 0) + 1)
      const keys = sets.get(path) ?? ''
      const fault = keyFaults[faults.get(path) ?? '']
      if (fault) fault(response, keys)
      else response.writeHead(sets.has(path) ? 200 : 404).end(keys)
    }).listen(0, '127.0.0.1', () => resolve(starting))
  })
  server.on('connection', (socket) => {
    open.add(socket)
    openMax = Math.max(openMax, open.size)
    socket.once('close', () => {
      open.delete(socket)
      closedBytes += socket.bytesWritten
    })
  })
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    publish: (path, ...keys) => {
      faults.delete(path)
      sets.set(path, JSON.stringify({ keys }))
      return host + path
    },
    spoil: (path, fault) => void faults.set(path, fault),
    fetchesOf: (path) => fetches.get(path) ?? 0,
    get openMax() {
      return openMax
    },
    get sentBytes() {
      return closedBytes + [...open].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
