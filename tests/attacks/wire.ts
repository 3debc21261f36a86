import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { patient } from '../support/patience.ts'

/** An answer as it came over the connection. */
export interface WireAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** How bytes are sent. */
export interface Sending {
  /** Sent one after another, 20 ms apart. */
  readonly pieces: readonly (string | Buffer)[]
  /**
   * What the client does after the last byte: waits for the server to close, ends its side, or
   * leaves.
   */
  readonly finish: 'wait' | 'end' | 'leave'
}

/** How long the server may take to close the connection, in milliseconds. */
const closeMsMax = patient(60_000)

/**
 * Sends bytes on a connection of their own.
 * @returns all answers until the server has closed the connection.
 * @throws {Error} if the server does not close it in time.
 */
export async function exchange(port: number, sending: Sending): Promise<readonly WireAnswer[]> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset is an answer, too: the server refuses to read on.
  socket.on('error', () => {})
  let isClosed = false
  const closed = new Promise<void>((resolve) =>
    socket.once('close', () => {
      isClosed = true
      resolve()
    }),
  )
  for (const [n, piece] of sending.pieces.entries()) {
    if (n > 0) await sleep(20)
    if (socket.writable) await new Promise((resolve) => socket.write(piece, resolve))
  }
  if (sending.finish === 'end') socket.end()
  if (sending.finish === 'leave') {
    socket.destroy()
    await closed
    return []
  }
  await Promise.race([closed, sleep(closeMsMax)])
  socket.destroy()
  if (!isClosed) throw new Error(`the connection stays open after ${closeMsMax} ms`)
  return parseAnswers(Buffer.concat(chunks).toString('latin1'))
}

function parseAnswers(received: string): WireAnswer[] {
  const answers: WireAnswer[] = []
  let rest = received
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`not an answer: ${rest.slice(0, 200)}`)
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1])
    const headers = new Map(lines.map((one) => splitHeader(one)))
    const length = status < 200 ? 0 : Number(headers.get('content-length') ?? rest.length)
    const body = rest.slice(end + 4, end + 4 + length)
    if (status >= 200) answers.push({ status, headers, body })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

const splitHeader = (line: string): [string, string] => {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}
