import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApp, withRequestsMax } from '../support/app.ts'
import { patient } from '../support/patience.ts'
import { attackSignIn, SignInScene } from './model/sign-in-attack.ts'

const scene = await SignInScene.start()
afterAll(() => scene.keys.close())
/** Few places, so that attackers that hold them are noticed. */
const app = useApp({ NODE_ENV: 'production', ...scene.environment }, withRequestsMax(10))

const send = (token: string | undefined) =>
  app.send({
    query: '{ viewer { id } }',
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  })

beforeAll(async () => {
  // The server has the keys before they go wrong.
  for (const token of scene.honestTokens()) expect((await send(token)).status).toBe(200)
  scene.spoil()
})

test(
  'no honest request is refused while tokens are invented and key endpoints are faulty',
  async () => {
    const { honest, attackers, seconds } = await attackSignIn(scene, send, {
      attacks: 200,
      pauseMs: 10,
    })
    expect(honest).toEqual([200])
    for (const status of attackers) expect([401, 503]).toContain(status)
    for (const [fault, fetches] of scene.fetches())
      expect([fault, fetches <= scene.fetchesMax(seconds, 60) ? 'few' : fetches]).toEqual([
        fault,
        'few',
      ])
  },
  patient(60_000),
)
