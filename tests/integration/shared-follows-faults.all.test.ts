import { describe, expect, test } from 'vitest'
import { sameLimits } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { type Failure, failCommand, reserveFailpoint } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { problemsOf, servicesOver, useServices } from '../support/services.ts'
import { newScene, resultOf } from '../support/shared-follows.ts'

const limits = sameLimits({ threshold: 3, capacity: 2 })

describe('a failed transaction of the follow batcher', () => {
  const harness = useServices()
  const failures: Readonly<Record<string, Omit<Failure, 'failCommands'>>> = {
    'the connection breaks': { closeConnection: true },
    'it conflicts': { errorCode: 112, errorLabels: ['TransientTransactionError'] },
    'the primary steps down': { errorCode: 10107 },
  }
  const lost = { code: 91, errmsg: 'shutting down', codeName: 'ShutdownInProgress' }

  test.each(Object.keys(failures))(
    'if %s once at any command, the follow batch succeeds for all users',
    async (name) => {
      const { steps } = await runScene()
      expect(steps).toEqual([
        'find followers',
        'find restrictions',
        'find user_stats',
        'find follow_events',
        'insert followers',
        'insert following',
        'insert follow_events',
        'delete followers',
        'delete following',
        'find follow_events',
        'insert follow_events',
        'update user_stats',
        'update outbox',
      ])
      for (const at of share(3, [...steps.keys()])) {
        const result = await runScene(at, { ...failures[name], times: 1 })
        expect(result.steps.length, steps[at]).toBeGreaterThan(steps.length)
        expect(errorsOf(result), steps[at]).toEqual([])
        await isTrue(result)
      }
    },
    patient(60_000),
  )

  test.each([...Object.keys(failures), 'the answer is lost'])(
    'if %s at the commits, the follow batch succeeds for all users',
    async (name) => {
      const how = failures[name] ?? { writeConcernError: lost }
      const failure = { ...how, failCommands: ['commitTransaction'], times: 2 }
      await using _ = await failCommand(harness.database.client, failure)
      const result = await runScene()
      expect(errorsOf(result)).toEqual([])
      await isTrue(result)
    },
  )

  test.each([
    // Every write begins with the first step. Unfollows insert no edge.
    ['at its first read', 0, 9],
    ['at its first write', 4, 6],
  ] as const)(
    'a follow batch that fails permanently %s changes nothing for users who need it, and they get an error',
    async (_, step, count) => {
      const result = await runScene(step, { ...failures['it conflicts'] })
      expect(errorsOf(result)).toEqual(Array(count).fill('UNAVAILABLE'))
      const messages = result.outcomes.flatMap(({ message }) => message ?? [])
      expect(messages.every((one) => one.includes('Nothing was changed'))).toBe(true)
      await isTrue(result)
    },
  )

  /** Six follows and three unfollows in one batch, whose step at `failing` fails. */
  async function runScene(failing?: number, how?: Omit<Failure, 'failCommands'>) {
    const { prefix, star, fans } = await newScene(harness, 9)
    for (const fan of fans.slice(0, 3)) await harness.services.follows.follow(fan, star)
    const steps: string[] = []
    const failpoint =
      failing === undefined ? undefined : await reserveFailpoint(harness.database.client)
    const before = async ({ collection, method, args }: Call) => {
      if (!args.some((argument) => argument?.session)) return
      const command = method === 'bulkWrite' ? 'update' : method.replace(/(One|Many)$/, '')
      const at = steps.push(`${command} ${collection}`) - 1
      // Of this collection alone: workers ask for jobs all the time.
      const namespace = `${db.databaseName}.${collection}`
      if (at === failing) await failpoint?.set({ ...how, failCommands: [command], namespace })
    }
    const { client, db } = harness.database
    const watched = servicesOver(
      { client, db: intercepted(db, { before }) },
      harness.clock,
      limits,
    ).follows
    try {
      const works = fans.map((fan, at) =>
        resultOf(at < 3 ? watched.unfollow(fan, star) : watched.follow(fan, star)),
      )
      const outcomes = await Promise.all(works)
      return { prefix, star, fans, steps, outcomes }
    } finally {
      await failpoint?.[Symbol.asyncDispose]()
    }
  }

  type SceneResult = Awaited<ReturnType<typeof runScene>>

  const errorsOf = ({ outcomes }: SceneResult) => outcomes.flatMap(({ code }) => code ?? [])

  /** Expects that all answers are true, and that edges, counters and history agree. */
  async function isTrue({ prefix, star, fans, outcomes }: SceneResult) {
    const now = await harness.services.follows.followersAmong(star, fans)
    for (const [at, fan] of fans.entries()) {
      const { code, result } = outcomes[at] ?? {}
      const comes = at >= 3
      if (result) expect(result.changed).toBe(true)
      expect(now.has(fan)).toBe(code ? !comes : comes)
    }
    expect(await problemsOf(harness, prefix)).toEqual([])
  }
})
