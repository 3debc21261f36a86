import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** The most bytes of answers that wait for their clients, before compression. */
const bytesMax = 64 * 1024 ** 2

/** How often the server looks for clients that take too long, in milliseconds. */
const checkMs = 1_000

/**
 * Closes the connections of clients that do not read their answers: each after `readMs` and a
 * second at most, and the one that has waited longest while all such answers take more than 64 MB.
 */
export function limitSlowReaders(http: FastifyInstance, readMs: number): void {
  const unread = new UnreadAnswers()
  http.addHook('onSend', (_, { raw }, payload, done) => {
    // Its end would not be noticed.
    if (!raw.destroyed) {
      const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
      unread.add(raw, isText ? Buffer.byteLength(payload) : 0)
      unread.endAbove(bytesMax)
    }
    done()
  })
  const timer = setInterval(() => unread.endBefore(performance.now() - readMs), checkMs).unref()
  http.addHook('onClose', async () => clearInterval(timer))
}

/** The answers that were sent and that their clients have not read to the end, oldest first. */
class UnreadAnswers {
  private readonly answers = new Map<ServerResponse, { bytes: number; since: number }>()
  private bytes = 0

  add(response: ServerResponse, bytes: number): void {
    const isKnown = this.answers.has(response)
    this.remove(response)
    this.answers.set(response, { bytes, since: performance.now() })
    this.bytes += bytes
    if (!isKnown) response.on('close', () => this.remove(response))
  }

  endAbove(bytesMax: number): void {
    for (const response of this.answers.keys()) {
      if (this.bytes <= bytesMax) return
      this.end(response)
    }
  }

  endBefore(time: number): void {
    for (const [response, { since }] of this.answers) {
      if (since > time) return
      this.end(response)
    }
  }

  private end(response: ServerResponse): void {
    this.remove(response)
    response.destroy()
  }

  private remove(response: ServerResponse): void {
    this.bytes -= this.answers.get(response)?.bytes ?? 0
    this.answers.delete(response)
  }
}
