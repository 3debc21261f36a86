import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useApp, withRequestsMax } from '../support/app.ts'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { attackSignIn, SignInScene } from './model/sign-in-attack.ts'
import { signInMutants } from './model/sign-in-mutants.ts'

const database = useDatabase()

/**
 * A server with few places, so that requests that hold them are noticed. @returns what attacks it.
 */
async function useAttackedServer() {
  const scene = await SignInScene.start()
  const env = { NODE_ENV: 'production', ...scene.environment }
  const app = useApp(env, withRequestsMax(10), database)
  const send = async (token: string | undefined) => {
    const { status, errors } = await app.send({
      query: '{ viewer { id } }',
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    })
    return [status, errors[0]?.message] as const
  }
  beforeAll(() => scene.begin(send))
  afterAll(() => scene.keys.close())
  return () =>
    attackSignIn(scene, send, { requests: 120, perHonest: 1, pauseMs: 10, isAttack: true })
}

describe('with faulty key endpoints', async () => {
  const attack = await useAttackedServer()
  test(
    'invented tokens have no honest request refused, and few fetches',
    async () => {
      expect((await attack()).violations).toEqual([])
    },
    patient(60_000),
  )
})

describe.each(share(3, Object.keys(signInMutants)))(
  'the law L5 finds the mutant:',
  async (name) => {
    const attack = await useAttackedServer()
    test(
      name,
      async () => {
        const end = signInMutants[name]?.()
        const { violations } = await attack().finally(end)
        expect(violations).not.toEqual([])
      },
      patient(60_000),
    )
  },
)
