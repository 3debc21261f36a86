import { afterAll, expect, inject, test } from 'vitest'
import type { Answer } from '../support/app.ts'
import { noteFact } from '../support/facts.ts'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'
import { size } from '../support/seed.ts'
import { attackSignIn, SignInScene } from './model/sign-in-attack.ts'

const database = useDatabase()
const scene = await SignInScene.start()
afterAll(() => scene.keys.close())

/** Phases alternate, because a machine that is quiet now may be busy in a minute. */
const rounds = 4
/** A hundred invented tokens and 25 honest requests each second. */
const phase = { requests: size === 'night' ? 6_000 : 1_500, perHonest: 4, pauseMs: 10 }

/**
 * How many times longer honest requests may take under the attack, at the 99th percentile of the
 * best round.
 */
const ratioMax = 2

test(
  'invented tokens and faulty key endpoints at most double the p99 of honest requests, in bounded memory',
  async () => {
    const server = feedline(['serve'], {
      ...{ NODE_ENV: 'production', MONGODB_URI: inject('mongoUri') },
      ...{ MONGODB_DATABASE: database.name, PORT: '0', DRAIN_SECONDS: '0' },
      ...scene.environment,
    })
    const [, admin = ''] = await server.says(/metrics and probes: (http:\S+)\/metrics/)
    const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
    const send = async (token: string | undefined) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: '{"query":"{ viewer { id } }"}',
      })
      const { errors = [] } = (await response.json()) as Pick<Answer, 'errors'>
      return [response.status, errors[0]?.message] as const
    }
    const residentMb = async () => {
      const text = await (await fetch(`${admin}/metrics`)).text()
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1024 ** 2
    }
    await scene.begin(send)
    const p99 = async (isAttack: boolean) => {
      const { violations, honestMs } = await attackSignIn(scene, send, { ...phase, isAttack })
      expect(violations).toEqual([])
      return honestMs[Math.floor(honestMs.length * 0.99)] as number
    }
    await p99(true)
    const beforeMb = await residentMb()
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const quiet = await p99(false)
      ratios.push((await p99(true)) / quiet)
    }
    const grownMb = (await residentMb()) - beforeMb
    const shown = ratios.map((ratio) => ratio.toFixed(2)).join(', ')
    noteFact(
      `L5, sign-in: p99 under attack / without it: ${shown}; memory +${grownMb.toFixed(0)} MB`,
    )
    expect(Math.min(...ratios)).toBeLessThanOrEqual(ratioMax)
    // A hundred waiting requests for each endpoint, and what a heap leaves to its next collection.
    expect(grownMb).toBeLessThan(100)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  },
  patient(240_000),
)
