import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { postText } from '../feeds/bulk-data.ts'
import { newIdEachTime } from '../idempotency.ts'
import { runOpenLoop } from '../load.ts'
import type { Audience } from './data.ts'
import { findSustainedRate, type MixKind, mixes, mixKindAt, pickAt } from './mix-plan.ts'
import type { HttpRequest, Side } from './side.ts'

const p99MsMax = 100
const achievedMin = 0.95

/** Request number `at` of a mix, of users at random. Undefined if the side has no such request. */
export function mixRequestAt(
  side: Side,
  mix: readonly MixKind[],
  { readers, visitors, composers }: Audience,
  at: number,
  seed: number,
): HttpRequest | undefined {
  const kind = mixKindAt(mix, at, seed)
  if (kind === 'compose') return side.compose?.(pickAt(composers, at, seed), postText(at))
  const reader = pickAt([...readers, ...visitors], at, seed)
  if (kind === 'home') return side.page(reader, 'counts')
  return side.profile?.(reader, pickAt(composers, at, seed))
}

/**
 * Finds the highest rate that a side sustains: p99 of at most 100 ms, no failed request and 95 % of the rate. 60 % home
 * pages with counts, 30 % profiles, 10 % posts of users with about forty followers. This process is the load.
 */
export async function findOpenMixRate(
  side: Side,
  audience: Audience,
  { rate, ms, log }: { rate: number; ms: number; log: (line: string) => void },
): Promise<number> {
  const { server } = side
  const agent = new Agent({ keepAlive: true, maxSockets: 512 })
  try {
    return await findSustainedRate(rate, async (perSecond) => {
      const {
        p99Ms,
        failed,
        perSecond: achieved,
      } = await runOpenLoop(perSecond, ms, async (at) => {
        const next = mixRequestAt(side, mixes.everything, audience, at, perSecond)
        if (next) await sendOn(agent, server.port, next)
      })
      await side.waitUntilIdle()
      const isHeld = p99Ms <= p99MsMax && failed === 0 && achieved >= achievedMin * perSecond
      const outcome = isHeld ? '' : `, ${failed} failed, not sustained`
      log(`${side.name}: mix at ${perSecond} per second, p99 ${p99Ms.toFixed(0)} ms${outcome}`)
      return isHeld
    })
  } finally {
    agent.destroy()
  }
}

/** Sends a request and reads its answer. @throws unless it is a 200 without errors. */
const sendOn = (
  agent: Agent,
  port: number,
  { method = 'POST', path = '/graphql', headers = {}, body }: HttpRequest,
) =>
  new Promise<void>((resolve, reject) => {
    const text =
      body === undefined ? undefined : `${body}`.replace(newIdEachTime, () => randomUUID())
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }
    const sent = request(
      { agent, port, host: '127.0.0.1', method, path, headers: { ...headers, ...length } },
      (answer) => {
        let first: Buffer | undefined
        answer.on('data', (chunk: Buffer) => {
          first ??= chunk
        })
        answer.on('error', reject)
        answer.on('end', () => {
          const isRight = answer.statusCode === 200 && !first?.toString().startsWith('{"errors"')
          if (isRight) resolve()
          else reject(new Error(`${path} answers ${answer.statusCode}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
