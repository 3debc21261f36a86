import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tx } from '../../src/db/transaction.ts'
import { compactHistory } from '../../src/follows/compact-history.ts'
import { Edges } from '../../src/follows/edges.ts'
import { Follows } from '../../src/follows/follows.ts'
import { Restrictions, type RestrictionsParts } from '../../src/follows/restrictions.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import { type StatsChange, UserStats } from '../../src/users/stats.ts'
import type { Pair } from '../../src/visibility/visibility.ts'
import { noteFact } from '../support/facts.ts'
import { failCommand } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import {
  admissionWith,
  handle,
  openAccounts,
  problemsOf,
  settleDeletions,
  subjectOf,
  useServices,
} from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import { Actors, anyOp, type Op, type Outcome } from './model/model.ts'

const histories = lawRuns(5)
const writers = 16

const race = fc.array(
  anyOp([
    'createUser',
    'deleteUser',
    'follow',
    'unfollow',
    'block',
    'unblock',
    'post',
    'deletePost',
  ]),
  { minLength: writers, maxLength: writers * 4, size: 'max' },
)

describe.each(sampledFollowing(0))('following by %s', (following) => {
  const harness = useServices(following)
  const budgetMs = 30_000 + histories * 5_000

  test(
    '16 concurrent writers leave counters, edges and history in agreement',
    async () => {
      const tally: Partial<Record<Outcome, number>> = {}
      const law = fc.asyncProperty(race, fc.boolean(), async (ops, isCompacted) => {
        const actors = new Actors(harness.services)
        await openAccounts(harness.services, actors.users)
        const queue: Op[] = [...ops]
        const write = async () => {
          for (let op = queue.shift(); op; op = queue.shift()) {
            const { found } = await actors.apply(op)
            tally[found] = (tally[found] ?? 0) + 1
          }
        }
        const { collections, transactions } = harness.services
        const { signal } = new AbortController()
        const compact = async () => {
          while (queue.length > 0)
            await compactHistory(collections, transactions, { dryRun: false, signal })
        }
        await Promise.all([
          ...Array.from({ length: writers }, write),
          ...(isCompacted ? [compact()] : []),
        ])
        await harness.rest()
        expect(await problemsOf(harness, actors.prefix)).toEqual([])
      })
      await checkLaw(law, { name: `L3, ${following}`, histories, budgetMs })
      noteFact(`L3, ${following}: ${JSON.stringify(tally)}`)
      expect(tally.changed).toBeGreaterThan(0)
    },
    patient(budgetMs + 30_000),
  )

  test('a repeated follow or unfollow changes nothing', async () => {
    const { services } = harness
    const [a, b] = [handle('i-ann'), handle('i-ben')]
    await openAccounts(services, [a, b])
    const first = await services.follows.follow(a, b)
    expect(await services.follows.follow(a, b)).toEqual({ changed: false, edge: first.edge })
    expect((await services.stats.byIds([b])).get(b)).toMatchObject({ followers: 1 })
    expect((await services.follows.unfollow(a, b)).changed).toBe(true)
    expect((await services.follows.unfollow(a, b)).changed).toBe(false)
    expect((await services.stats.byIds([b])).get(b)).toMatchObject({ followers: 0 })
    expect(await problemsOf(harness, 'i-')).toEqual([])
  })

  test('a purge that is aborted after any batch resumes to the right counters', async () => {
    const gone = await popular('pa-')
    let aborts = 0
    for (let finished = false; !finished; ) {
      const stop = new AbortController()
      let commits = 0
      const onCommit = ({ commandName }: { commandName: string }) => {
        if (commandName === 'commitTransaction' && ++commits > aborts)
          stop.abort(new Error('stopped'))
      }
      harness.database.client.on('commandSucceeded', onCommit)
      finished = await purge(stop.signal).then(
        () => true,
        (error: Error) => error.message !== 'stopped',
      )
      harness.database.client.off('commandSucceeded', onCommit)
      if (!finished) aborts++
      expect(await countersOff('pa-')).toEqual([])
    }
    expect(aborts).toBeGreaterThanOrEqual(2)
    await reopened(gone, 'pa-')
  })

  test('a purge that fails at any of its deletes resumes to the right counters', async () => {
    const gone = await popular('pf-')
    let failures = 0
    for (let finished = false; !finished; ) {
      const failure = { failCommands: ['delete'], skip: failures, errorCode: 8 }
      await using _ = await failCommand(harness.database.client, failure)
      finished = await purge(new AbortController().signal).then(
        () => true,
        (error: { code?: number }) => error.code !== 8,
      )
      if (!finished) failures++
      expect(await countersOff('pf-')).toEqual([])
    }
    expect(failures).toBeGreaterThanOrEqual(4)
    await reopened(gone, 'pf-')
  })

  /** A user with 250 followers, who follows them back, and posts: deleted, not purged. */
  async function popular(prefix: string): Promise<UserId> {
    const { services } = harness
    const star = handle(`${prefix}star`)
    const fans = Array.from({ length: 250 }, (_, n) => handle(`${prefix}fan${n}`))
    await openAccounts(services, [star, ...fans])
    const mint = new IdMint(harness.clock.now)
    const source = 'FEEDLINE' as const
    const edges = fans.flatMap((fan) => [
      { id: mint.next<EdgeId>(), follower: fan, followee: star, source },
      { id: mint.next<EdgeId>(), follower: star, followee: fan, source },
    ])
    const one = (user: UserId) => [user, { followers: 1, following: 1 }] as const
    const changes: [UserId, StatsChange][] = fans.map((fan) => [...one(fan)])
    await services.transactions.run(async (tx) => {
      await services.edges.insert(tx, edges)
      await services.stats.change(
        tx,
        new Map([...changes, [star, { followers: 250, following: 250 }]]),
      )
    })
    await services.posts.create(star, { text: 'bye' })
    expect(await problemsOf(harness, prefix)).toEqual([])
    await services.users.delete(star)
    // Before, the followers' edges stay.
    await settleDeletions(services.collections)
    return star
  }

  /** Runs the removal of an account, with its ranges. */
  async function purge(signal: AbortSignal): Promise<void> {
    const { queue, tasks } = harness.services
    for (;;) {
      const [job] = await queue.claim(30_000)
      if (!job) return
      const save = async (checkpoint: unknown, tx?: Tx) => {
        await queue.save(job, checkpoint, tx)
      }
      try {
        const { checkpoint, kind, payload } = job
        const left = await tasks[kind]?.(payload, { job, checkpoint, save, signal, inline: false })
        if (!left) await queue.complete(job)
        else await queue.release(job, left === 'unfinished' ? 0 : left.continuesInMs)
      } catch (error) {
        await queue.release(job)
        throw error
      }
    }
  }

  const countersOff = async (prefix: string) =>
    (await problemsOf(harness, prefix)).filter((problem) => problem.includes(' counts '))

  async function reopened(user: UserId, prefix: string): Promise<void> {
    const { services } = harness
    await harness.rest()
    expect(await problemsOf(harness, prefix)).toEqual([])
    const next = await services.users.register(subjectOf(user), { name: 'again' })
    expect(next).toMatchObject({ handle: user })
  }
})

describe('a block during a follow', () => {
  const harness = useServices()

  test.each([
    ['a follow conflicts with a block, since both change the counters', true],
    ['a follow would miss a block that changes no counters', false],
  ])('%s', async (_, guarded) => {
    const { edges, outbox, transactions, collections } = harness.services
    const prefix = guarded ? 'g-' : 'n-'
    const [a, b] = [handle(`${prefix}ann`), handle(`${prefix}ben`)]
    await openAccounts(harness.services, [a, b])
    const mint = new IdMint(harness.clock.now)
    const stats = guarded ? harness.services.stats : new Unguarded(collections)
    const { now } = harness.clock
    const parts = { collections, edges, outbox, transactions, mint, now }
    const blocking = new Restrictions({ ...parts, stats })
    const block = once(() => blocking.block(b, a))
    const watched = new Interrupted(block, { ...parts, stats })
    const followParts = { ...parts, stats: harness.services.stats }
    const admission = admissionWith(harness.services, watched)
    const { needsJobs } = harness.services
    const follows = new Follows({ ...followParts, needsJobs, admission, followeesMax: 100 })
    const outcome = await follows.follow(a, b).then(
      () => 'followed',
      (error: { code: string }) => error.code,
    )
    expect(outcome).toBe(guarded ? 'FORBIDDEN' : 'followed')
    const across = [`edge across a block: ${a}>${b}`, `edge across a block: ${b}>${a}`]
    expect(await problemsOf(harness, prefix)).toEqual(guarded ? [] : across.slice(0, 1))
  })

  test('the check of law L3 reports an edge without its counters', async () => {
    const { collections, transactions } = harness.services
    const [a, b] = [handle('c-ann'), handle('c-ben')]
    await openAccounts(harness.services, [a, b])
    const mint = new IdMint(harness.clock.now)
    const edge = { id: mint.next<EdgeId>(), follower: a, followee: b, source: 'FEEDLINE' as const }
    const edges = new Edges(collections, 'collection', mint)
    await transactions.run((tx) => edges.insert(tx, [edge]))
    expect(await problemsOf(harness, 'c-')).toEqual([
      'c-ann.following counts 0, stored 1',
      'c-ben.followers counts 0, stored 1',
    ])
  })
})

/** A mutant: a write that changes no counter cannot conflict with other writes. */
class Unguarded extends UserStats {
  override async change(_: Tx): Promise<void> {}
}

/** Runs a function right after a transaction has read the restrictions. */
class Interrupted extends Restrictions {
  constructor(
    private readonly onRead: () => Promise<unknown>,
    parts: RestrictionsParts,
  ) {
    super(parts)
  }

  override async restrictionsBetween(pairs: readonly Pair[], tx: Tx) {
    const found = await super.restrictionsBetween(pairs, tx)
    await this.onRead()
    return found
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work()
    return running
  }
}
