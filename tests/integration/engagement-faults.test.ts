import { describe, expect, test } from 'vitest'
import { clientErrorOf } from '../../src/db/errors.ts'
import type { EngagementChange } from '../../src/engagement/engagement.ts'
import { type EngagementKind, entryKey } from '../../src/engagement/kinds.ts'
import type { Engagement } from '../../src/engagement/reader.ts'
import { DomainError } from '../../src/errors.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { actsOf, engagementProblems, sameLimits, walked } from '../support/engagement.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { type Failure, failCommand, reserveFailpoint } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const limits = { threshold: 1, capacity: 2 }
const harness = useServices('collection', sameLimits(limits))
let scenes = 0

/**
 * Concurrent writes to a post with `before` likes: `come` users like it, and the users at the
 * places `go` unlike it.
 */
interface Scene {
  readonly before: number
  readonly come: number
  readonly go: readonly number[]
}

const moments: Readonly<Record<string, Scene>> = {
  'the threshold is passed': { before: 1, come: 1, go: [] },
  'a level takes one more': { before: 2, come: 1, go: [] },
  'a level opens': { before: 3, come: 1, go: [] },
  'an entry leaves the post': { before: 4, come: 0, go: [0] },
  'an entry leaves a level': { before: 4, come: 0, go: [1] },
  'a level is deleted': { before: 4, come: 0, go: [3] },
  'the post cools': { before: 2, come: 0, go: [1] },
  'several meet': { before: 4, come: 3, go: [0, 3] },
}

const failures: Readonly<Record<string, Omit<Failure, 'failCommands'>>> = {
  'the connection breaks': { closeConnection: true },
  'it conflicts': { errorCode: 112, errorLabels: ['TransientTransactionError'] },
  // The server adds the labels: RetryableWriteError, or TransientTransactionError within a
  // transaction.
  'the primary steps down': { errorCode: 10107 },
}

/** The commands of a call. A bulk write sends one command for each kind of write. */
function commandsOf({ method, args }: Call): string[] {
  if (method !== 'bulkWrite') return [commandNames[method] ?? method]
  const writes = args[0] as unknown as object[]
  return [...new Set(writes.map((write) => commandNames[Object.keys(write)[0] as string] ?? ''))]
}

const commandNames: Readonly<Record<string, string>> = {
  find: 'find',
  findOne: 'find',
  findOneAndUpdate: 'findAndModify',
  updateOne: 'update',
  insertOne: 'insert',
  insertMany: 'insert',
  deleteOne: 'delete',
  deleteMany: 'delete',
}

/** A command of a scene: its number, its name, and whether it is part of a transaction. */
interface Step {
  readonly name: string
  readonly inTransaction: boolean
}

/** The answer to one write. */
interface Told {
  readonly key: string
  readonly comes: boolean
  readonly result?: EngagementChange | undefined
  readonly error?: DomainError | undefined
}

/** Runs a scene on a new post, and fails the step at `failing` once. */
async function runScene(kind: EngagementKind, scene: Scene, failing?: number, how?: object) {
  const prefix = `f${scenes++}-`
  const users = Array.from({ length: scene.before + scene.come + 1 }, (_, n) =>
    handle(`${prefix}u${n}`),
  )
  await openAccounts(harness.services, users)
  const [author, ...fans] = users as [UserId, ...UserId[]]
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  const post: PostRef = { id, author }
  const acts = actsOf(harness.services, kind)
  const entries: Engagement[] = []
  for (const fan of fans.slice(0, scene.before)) {
    entries.push((await acts.add(fan, post)).entry as Engagement)
  }

  const steps: Step[] = []
  const failpoint =
    failing === undefined ? undefined : await reserveFailpoint(harness.database.client)
  let wasArmed = false
  const before = async (call: Call) => {
    const inTransaction = call.args.some((argument) => argument?.session)
    for (const command of commandsOf(call)) {
      const at = steps.push({ name: `${call.collection}.${command}`, inTransaction }) - 1
      if (at !== failing) continue
      await failpoint?.set({ ...how, failCommands: [command], times: 1 })
      wasArmed = true
    }
  }
  const { client, db } = harness.database
  const watched = { client, db: intercepted(db, { before }) }
  const failed = actsOf(servicesOver(watched, harness.clock, sameLimits(limits)), kind)
  const key = ({ actor, id }: Pick<Engagement, 'actor' | 'id'>): string => entryKey(kind, actor, id)
  const works = [
    ...fans.slice(scene.before).map((fan) => resultOf(fan, true, failed.add(fan, post))),
    ...scene.go.map((at) => {
      const gone = entries[at] as Engagement
      return resultOf(key(gone), false, failed.take(gone.actor, post, gone.id))
    }),
  ]
  let outcomes: Told[]
  try {
    outcomes = await Promise.all(works)
  } finally {
    await failpoint?.[Symbol.asyncDispose]()
  }
  const stored = new Set((await walked(harness.services, kind, post)).map(key))
  const actors = new Set((await walked(harness.services, kind, post)).map(({ actor }) => actor))
  return { post, steps, outcomes, stored, actors, wasArmed }
}

async function resultOf(
  key: string,
  comes: boolean,
  work: Promise<EngagementChange>,
): Promise<Told> {
  try {
    return { key, comes, result: await work }
  } catch (thrown) {
    const error = thrown instanceof DomainError ? thrown : clientErrorOf(thrown)
    if (!error) throw thrown
    return { key, comes, error }
  }
}

/** Expects that all answers are true, and that the lists are sound. */
async function isTrue({ post, outcomes, stored, actors }: Awaited<ReturnType<typeof runScene>>) {
  for (const { key, comes, result, error } of outcomes) {
    // Each author has at most one comment, so the author identifies it.
    const isThere = comes ? actors.has(key as UserId) : stored.has(key)
    if (result) expect({ ...result, isThere }).toMatchObject({ changed: true, isThere: comes })
    else expect(error?.code).toBe('UNAVAILABLE')
    if (error?.message.includes('Nothing was changed')) expect(isThere).toBe(!comes)
  }
  expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
}

const errorsOf = ({ outcomes }: { readonly outcomes: readonly Told[] }) =>
  outcomes.flatMap(({ error }) => (error ? [error.message] : []))

describe.each(['likes', 'comments'] as const)('%s', (kind) => {
  describe.each(share(1, Object.keys(moments), kind === 'likes' ? 0 : 1))('when %s', (moment) => {
    const scene = moments[moment] as Scene

    test.each(Object.keys(failures))(
      `%s at any command when ${moment}: all answers are true, the transaction succeeds`,
      async (name) => {
        const { steps } = await runScene(kind, scene)
        const outside = steps.filter((step) => !step.inTransaction)
        // A comment is removed by its id, which is looked up before.
        if (kind === 'likes') expect(outside).toEqual([])
        for (const [at, step] of share(10, [...steps.entries()])) {
          const result = await runScene(kind, scene, at, failures[name])
          await isTrue(result)
          // The order of concurrent writes differs between runs, and with it the failing command.
          if (moment === 'several meet') continue
          expect(result.wasArmed, step.name).toBe(true)
          if (step.inTransaction) expect(errorsOf(result), step.name).toEqual([])
        }
      },
      patient(60_000),
    )

    test.each([...Object.keys(failures), 'the answer is lost'])(
      `%s at the commit when ${moment}: the transaction succeeds`,
      async (name) => {
        const lost = { code: 91, errmsg: 'shutting down', codeName: 'ShutdownInProgress' }
        const how = failures[name] ?? { writeConcernError: lost }
        const failure = { ...how, failCommands: ['commitTransaction'], times: 1 }
        await using _ = await failCommand(harness.database.client, failure)
        const result = await runScene(kind, scene)
        await isTrue(result)
        expect(errorsOf(result)).toEqual([])
      },
    )
  })
})
