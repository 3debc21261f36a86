import type { CommandStartedEvent } from 'mongodb'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { clientErrorOf } from '../../src/db/errors.ts'
import { createIdempotencyKey, type IdempotencyKey } from '../../src/db/idempotency.ts'
import { DomainError } from '../../src/errors.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { eventually, persist } from '../support/eventually.ts'
import { type Failure, failCommand } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { handle, namesOf, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
let scenes = 0

/** One kind of mutation, and the number of its effects in the database. */
interface Scene {
  readonly run: (idempotencyKey: IdempotencyKey | undefined) => Promise<unknown>
  /** How often the mutation took effect. All counters and collections that it changes agree. */
  readonly effects: () => Promise<number>
}

type Mutation = 'follow' | 'createPost' | 'createUser' | 'deletePost' | 'block'
const mutations: readonly Mutation[] = ['follow', 'createPost', 'createUser', 'deletePost', 'block']

async function newScene(mutation: Mutation) {
  const { services } = harness
  const scene = `o${scenes++}-`
  const [ann, ben, carl] = ['ann', 'ben', 'carl'].map((name) => handle(scene + name)) as [
    UserId,
    UserId,
    UserId,
  ]
  await openAccounts(services, [ann, ben])
  const { collections, stats } = services
  const count = async (user: UserId) => (await stats.byIds([user])).get(user)
  const makers: Record<Mutation, () => Scene | Promise<Scene>> = {
    follow: () => ({
      run: async (idempotencyKey) =>
        (await services.follows.follow(ann, ben, idempotencyKey)).changed,
      effects: async () =>
        agreed(
          await collections.followers.countDocuments({ follower: ann, user: ben }),
          await collections.following.countDocuments({ user: ann, followee: ben }),
          await collections.follow_events.countDocuments({ user: ann, followee: ben }),
          (await count(ann))?.following,
          (await count(ben))?.followers,
        ),
    }),
    createPost: () => ({
      run: async (idempotencyKey) => {
        const created = await services.posts.create(ann, { text: 'hello' }, idempotencyKey)
        return created && { ...created, isRepeat: undefined }
      },
      effects: async () =>
        agreed(await collections.posts.countDocuments({ author: ann }), (await count(ann))?.posts),
    }),
    createUser: () => ({
      run: (idempotencyKey) =>
        services.users.create(carl, { ...namesOf(carl), name: 'Carl', bio: 'new' }, idempotencyKey),
      effects: async () =>
        agreed(
          await collections.users.countDocuments({ _id: carl }),
          await collections.user_stats.countDocuments({ _id: carl }),
        ),
    }),
    deletePost: async () => {
      const { id } = await services.posts.create(ann, { text: 'one' })
      await services.posts.create(ann, { text: 'two' })
      return {
        run: (idempotencyKey) =>
          services.posts.delete(ann, { id: id as PostId, author: ann }, idempotencyKey),
        effects: async () =>
          2 -
          agreed(
            await collections.posts.countDocuments({ author: ann }),
            (await count(ann))?.posts,
          ),
      }
    },
    block: async () => {
      await services.follows.follow(ben, ann)
      return {
        run: (idempotencyKey) => services.restrictions.block(ann, ben, idempotencyKey),
        effects: async () =>
          agreed(
            await collections.restrictions.countDocuments({ owner: ann, kind: 'BLOCK' }),
            await collections.restrictions.countDocuments({ owner: ben, kind: 'BLOCKED_BY' }),
            1 - ((await count(ann))?.followers ?? Number.NaN),
            1 - ((await count(ben))?.following ?? Number.NaN),
          ),
      }
    },
  }
  const key = createIdempotencyKey(mutation === 'createUser' ? carl : ann, mutation, {
    clientMutationId: 'm1',
  })
  return { ...(await makers[mutation]()), key, ann, ben }
}

function agreed(...counts: (number | undefined)[]): number {
  expect(new Set(counts).size, `counts differ: ${counts}`).toBe(1)
  return counts[0] ?? Number.NaN
}

/** The answer to a client: the result, or the code of the error. */
async function outcomeOf(work: Promise<unknown>): Promise<{ result?: unknown; code?: string }> {
  try {
    return { result: await work }
  } catch (error) {
    const known = error instanceof DomainError ? error : clientErrorOf(error)
    if (!known) throw error
    return { code: known.code }
  }
}

describe.each(share(3, mutations))('%s with an idempotency key', (mutation) => {
  test('a repeated mutation takes effect once and returns the first result', async () => {
    const { run, effects, key } = await newScene(mutation)
    const first = await run(key)
    expect(await run(key)).toEqual(first)
    expect(await run(key)).toEqual(first)
    expect(await effects()).toBe(1)
  })

  test('eight concurrent repeats of a mutation take effect once and return one result', async () => {
    for (let round = 0; round < 5; round++) {
      const { run, effects, key } = await newScene(mutation)
      const results = await Promise.all(
        Array.from({ length: 8 }, () => outcomeOf(persist(() => run(key)))),
      )
      for (const { code, result } of results) {
        expect(code).toBeUndefined()
        expect(result).toEqual(results[0]?.result)
      }
      expect(await effects()).toBe(1)
    }
  })

  const failures: Record<string, Failure> = {
    'an insert’s connection breaks': { failCommands: ['insert'], closeConnection: true },
    'an update’s connection breaks': { failCommands: ['update'], closeConnection: true },
    'a delete’s connection breaks': { failCommands: ['delete'], closeConnection: true },
    'a commit’s connection breaks': { failCommands: ['commitTransaction'], closeConnection: true },
    'writes conflict': {
      failCommands: ['insert', 'update', 'delete'],
      errorCode: 112,
      errorLabels: ['TransientTransactionError'],
    },
    'a commit conflicts': {
      failCommands: ['commitTransaction'],
      errorCode: 112,
      errorLabels: ['TransientTransactionError'],
    },
    'the primary steps down amid writes': {
      failCommands: ['insert', 'update', 'delete'],
      errorCode: 10107,
    },
    'the primary steps down before the commit': {
      failCommands: ['commitTransaction'],
      errorCode: 10107,
    },
    'the primary steps down after the commit': {
      failCommands: ['commitTransaction'],
      writeConcernError: { code: 91, errmsg: 'shutting down', codeName: 'ShutdownInProgress' },
    },
  }

  describe.each(Object.keys(failures))('when %s', (name) => {
    const failure = failures[name] as Failure

    test('a few times, the mutation succeeds exactly once', async () => {
      const { run, effects, key } = await newScene(mutation)
      let outcome: Awaited<ReturnType<typeof outcomeOf>>
      {
        await using _ = await failCommand(harness.database.client, { ...failure, times: 2 })
        outcome = await outcomeOf(run(key))
      }
      expect(outcome.code).toBeUndefined()
      expect(await effects()).toBe(1)
      expect(await run(key)).toEqual(outcome.result)
      expect(await effects()).toBe(1)
    })

    test('for good, the mutation answers UNAVAILABLE or succeeds, and a repeat takes effect once', async () => {
      const { run, effects, key } = await newScene(mutation)
      const { client } = harness.database
      const onFailed = () => hurry()
      const sessions = new Set<unknown>()
      const onStarted = ({ commandName, command }: CommandStartedEvent) => {
        if (commandName === 'commitTransaction') sessions.add(command.lsid)
      }
      const { result, code } = await withFailing(failure, async () => {
        client.on('commandFailed', onFailed).on('commandSucceeded', onUnsure)
        client.on('commandStarted', onStarted)
        const outcome = await outcomeOf(run(key))
        client.off('commandFailed', onFailed).off('commandSucceeded', onUnsure)
        client.off('commandStarted', onStarted)
        return outcome
      })
      if (code === undefined) expect(await effects()).toBe(1)
      else expect(code).toBe('UNAVAILABLE')
      const committed = failure.writeConcernError !== undefined || code === undefined
      // The server answers with a write concern error before a majority has the commit. Reads see
      // it soon after.
      await eventually(async () => expect(await effects()).toBe(committed ? 1 : 0))
      // The server aborts a transaction without a commit some seconds later. This aborts it now.
      for (const session of sessions) {
        await client.db('admin').command({ killSessions: [session] })
      }
      const repeated = await run(key)
      if (code === undefined) expect(repeated).toEqual(result)
      expect(await effects()).toBe(1)
    })
  })
})

/** Every failure moves the clock forward, so that no test waits for the deadline. */
function hurry(): void {
  aheadMs += 2_000
}
const now = performance.now.bind(performance)
let aheadMs = 0
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs))

/** A commit that reports a write concern error counts as answered. */
function onUnsure({ reply }: { reply: { writeConcernError?: unknown } }): void {
  if (reply.writeConcernError) hurry()
}

async function withFailing<T>(failure: Failure, work: () => Promise<T>): Promise<T> {
  await using _ = await failCommand(harness.database.client, failure)
  return await work()
}

describe('idempotency keys', () => {
  test('a clientMutationId that was used for another input or another mutation is a CONFLICT', async () => {
    const { ann, ben } = await newScene('follow')
    const { posts, follows } = harness.services
    const input = (text: string) => ({ clientMutationId: 'm1', text })
    const key = (mutation: string, text: string) => createIdempotencyKey(ann, mutation, input(text))
    await posts.create(ann, { text: 'a' }, key('createPost', 'a'))
    const other = posts.create(ann, { text: 'b' }, key('createPost', 'b'))
    expect(await outcomeOf(other)).toEqual({ code: 'CONFLICT' })
    expect(await outcomeOf(follows.follow(ann, ben, key('follow', 'a')))).toEqual({
      code: 'CONFLICT',
    })
    expect((await harness.services.stats.byIds([ann])).get(ann)).toMatchObject({
      posts: 1,
      following: 0,
    })
  })

  test('a clientMutationId of one viewer does not affect another viewer', async () => {
    const { ann, ben } = await newScene('follow')
    const { posts, stats } = harness.services
    for (const viewer of [ann, ben]) {
      const idempotencyKey = createIdempotencyKey(viewer, 'createPost', {
        clientMutationId: 'same',
      })
      expect(await posts.create(viewer, { text: 'a' }, idempotencyKey)).toMatchObject({
        author: viewer,
      })
    }
    expect([...(await stats.byIds([ann, ben])).values()].map(({ posts }) => posts)).toEqual([1, 1])
  })

  test('a clientMutationId of a refused mutation can be used again', async () => {
    const { ann } = await newScene('follow')
    const late = handle(`late-${ann}`)
    const idempotencyKey = createIdempotencyKey(ann, 'follow', { clientMutationId: 'm1' })
    const { follows } = harness.services
    expect(await outcomeOf(follows.follow(ann, late, idempotencyKey))).toEqual({
      code: 'NOT_FOUND',
    })
    await openAccounts(harness.services, [late])
    expect(await follows.follow(ann, late, idempotencyKey)).toMatchObject({ changed: true })
  })
})
