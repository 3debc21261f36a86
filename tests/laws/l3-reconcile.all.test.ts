import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Invariant, Run } from '../../src/integrity/invariant.ts'
import { accounts } from '../../src/integrity/invariants/accounts.ts'
import { postLists } from '../../src/integrity/invariants/post-lists.ts'
import { applyDifferences, type Difference } from '../../src/integrity/ledger.ts'
import type { Report } from '../../src/integrity/report.ts'
import { reconcile } from '../../src/integrity/run.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { lawSeed } from '../support/seed.ts'
import { handle, openAccounts, problemsOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'
import { beginnings, diceOf, drift, people } from './model/drift.ts'
import { onceUnlocked } from './model/locked-writes.ts'
import { type Account, child, endAll, kill } from './processes/reconcile-child.ts'

const kills = Number(process.env.FEEDLINE_KILLS ?? 3)
const [trafficMs, driftsPerKill] = [process.env.FEEDLINE_KILLS ? 12_000 : 5_000, 8]
/**
 * On a slow machine, kills go on after the traffic's time until a run that was interrupted made a
 * repair.
 */
const longestMs = trafficMs + 120_000
const { seed } = lawSeed()
const harness = useServices()
afterAll(endAll)

/**
 * Reconciles in successive processes. Each is killed when the next one is ready. Then drift begins.
 */
async function reconciling(
  slot: number,
  isOver: () => Promise<boolean>,
  untilRepaired: () => Promise<void>,
): Promise<readonly string[]> {
  const lines: string[] = []
  const dice = diceOf(seed * 10 + slot)
  // In the first slot, each of the first 20 writes kills a process in turn. In other slots, kills
  // happen at any time. A run by day kills at some of these writes. After the traffic's time, the
  // other slots kill only when a counter is repaired: on a slow machine, no process might otherwise
  // live until it counts.
  const begin = seed % 20
  const start = (kill: number) => {
    const n = begin + kill
    const diesAt = slot === 0 ? { diesAt: 1 + ((2 * n + Math.floor(n / 10)) % 20) } : {}
    return child(harness.database, { role: 'RECONCILE', seed, owned: [], posts: [], ...diesAt })
  }
  let next = start(0)
  for (let killed = 0; 2 * killed < kills || !(await isOver()); killed++) {
    const one = await next
    next = start(killed + 1)
    one.sendLine()
    const lives = [next, sleep(dice(400 + 100 * killed)), slot > 0 && untilRepaired()]
    await Promise.race([one.ended, Promise.all(lives)])
    await kill(one)
    lines.push(...one.lines)
    for (let n = 0; n < driftsPerKill; n++) {
      await onceUnlocked(() => drift(harness.services, dice))
      await sleep(dice(40))
    }
  }
  await kill(await next)
  return lines
}

const run = () => reconcile(harness.services, { readers: 'all' })

test(
  'reconcile during writes, kills and drift ends with counters, edges and history in agreement',
  async () => {
    const { services, clock } = harness
    const { collections, follows } = services
    const posts = await beginnings(services, diceOf(seed + 1_000))
    const account: (readonly [string, boolean | null])[] = []
    const begun = performance.now()
    const writers = await Promise.all(
      [0, 1].map((n) => {
        const owned = people.owners.slice(8 * n, 8 * n + 8)
        return child(harness.database, { role: 'TRAFFIC', seed: seed + n, owned, posts })
      }),
    )
    for (const { sendLine } of writers) sendLine()
    // Each repair of a user or post raises a number of it.
    const countMade = async () =>
      (await collections.user_stats.countDocuments({ repairs: { $gt: 0 } })) +
      (await collections.posts.countDocuments({ repairs: { $gt: 0 } }))
    const spent = () => performance.now() - begun
    const isOver = async () =>
      spent() > longestMs || (spent() > trafficMs && (await countMade()) > 0)
    const untilRepaired = async () => {
      while (spent() > trafficMs && !(await isOver())) await sleep(20)
    }
    const slots = [0, 1].map((slot) => reconciling(slot, isOver, untilRepaired))
    const reports = (await Promise.all(slots)).flat()
    for (const { process, sendLine, ended, lines } of writers) {
      sendLine()
      expect([await ended, process.exitCode]).toEqual([null, 0])
      account.push(...(JSON.parse(lines.at(-1) ?? '') as Account))
    }
    clock.advance(60_000)
    await services.queue.retryAll()
    await harness.rest()

    const dice = diceOf(seed + 2_000)
    for (let n = 0; n < 40; n++) await onceUnlocked(() => drift(services, dice))

    // Two concurrent runs repair all drift once.
    const made = await countMade()
    const last = await Promise.all([run(), run()])
    await harness.rest()
    const runs = `${reports.length} runs, ${made} repaired`
    noteFact(
      `L3: ${kills} kills, during them ${runs}; ${account.length} pairs; at last ${last.map(sums)}`,
    )
    expect(last.map(({ remaining }) => remaining)).toEqual([0, 0])
    await inAgreement()
    expect(await run()).toMatchObject({ repaired: 0, remaining: 0 })
    expect(made).toBeGreaterThan(0)

    // No acknowledged follow or unfollow of users without drift was undone.
    const found = new Set<string>()
    for (const owner of people.owners) {
      for await (const followee of follows.followeesOf(owner)) found.add(`${owner}>${followee}`)
    }
    const known = account.filter(([, stands]) => stands !== null)
    expect(known.length).toBeGreaterThan(account.length / 2)
    expect(known.filter(([pair, stands]) => found.has(pair) !== stands)).toEqual([])
    const touched = new Set(account.map(([pair]) => pair))
    expect([...found].filter((pair) => !touched.has(pair))).toEqual([])
  },
  patient(600_000),
)

async function inAgreement(): Promise<void> {
  expect(await problemsOf(harness, 'r-')).toEqual([])
  expect((await verified(harness.services)).differences).toEqual([])
}

const sums = ({ differences, repaired }: Report) => `${differences} found, ${repaired} repaired`

describe('between a scan and its repair', () => {
  const harness = useServices()
  let scenes = 0

  /** Opens two accounts without edges. The counter of the first has seven followers too many. */
  async function scene() {
    const { services } = harness
    const prefix = `s${scenes++}-`
    const [ann, ben] = [handle(`${prefix}ann`), handle(`${prefix}ben`)]
    await openAccounts(services, [ann, ben])
    await miscount(ann)
    return { services, prefix, ann, ben }
  }
  const miscount = (user: UserId) =>
    harness.services.collections.user_stats.updateOne({ _id: user }, { $inc: { followers: 7 } })
  const differencesOf = async <Suspect>(
    { check }: Pick<Invariant<Suspect>, 'check'>,
    subject: Suspect,
  ) => {
    const { transactions } = harness.services
    const verdict = await transactions.atSnapshot((at) => check([subject], at, true))
    return [...new Set(verdict.violations.flatMap(({ difference }) => difference ?? []))]
  }
  const runOf = () => ({ ...harness.services, malformed: new Set() }) as unknown as Run
  const countDifferences = (user: UserId) => differencesOf(accounts(runOf()), user)
  /** @returns the differences that were applied. */
  const apply = async (drifted: readonly Difference[]) => {
    const { collections, transactions } = harness.services
    return (await applyDifferences(collections, transactions, drifted)) ? drifted : []
  }

  /** The ways to repair. Each counts first, and returns the function that repairs. */
  const ways: Record<string, (user: UserId) => Promise<() => Promise<unknown>>> = {
    'setting what was counted': async (user) => {
      const { followers, user_stats } = harness.services.collections
      const counted = await followers.countDocuments({ user })
      return () => user_stats.updateOne({ _id: user }, { $set: { followers: counted } })
    },
    'adding the difference without a number of repairs': async (user) => {
      const [drifted] = await countDifferences(user)
      const { user_stats } = harness.services.collections
      return () => user_stats.updateOne({ _id: user }, { $inc: { ...drifted?.delta } })
    },
    'the ledger': async (user) => {
      const drifted = await countDifferences(user)
      return () => apply(drifted)
    },
  }

  test.each([
    ['setting what was counted', ['followers counts 0, stored 1'], []],
    ['adding the difference without a number of repairs', [], ['followers counts -7, stored 0']],
    ['the ledger', [], []],
  ])('%s leaves %j after a follow, %j after a repair', async (name, followed, repaired) => {
    const way = ways[name] as (typeof ways)[string]
    const one = await scene()
    const repair = await way(one.ann)
    await one.services.follows.follow(one.ben, one.ann)
    await repair()
    const wrong = (user: UserId, problems: readonly string[]) => problems.map((p) => `${user}.${p}`)
    expect(await problemsOf(harness, one.prefix)).toEqual(wrong(one.ann, followed))

    const other = await scene()
    const repairs = [await way(other.ann), await way(other.ann)]
    for (const each of repairs) await each()
    expect(await problemsOf(harness, other.prefix)).toEqual(wrong(other.ann, repaired))
  })

  test('reconcile applies a difference once, also from two processes', async () => {
    const { ann, prefix } = await scene()
    const drifted = await countDifferences(ann)
    const both = await Promise.all([apply(drifted), apply(drifted)])
    expect(both.flat()).toEqual(drifted)
    expect(await apply(drifted)).toEqual([])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('a run of reconcile applies no difference that another run has repaired since, even if it recurs', async () => {
    const { ann, prefix } = await scene()
    const [drifted, stale] = [await countDifferences(ann), await countDifferences(ann)]
    expect(await apply(drifted)).toHaveLength(1)
    await miscount(ann)
    expect(await apply(stale)).toEqual([])
    expect(await apply(await countDifferences(ann))).toHaveLength(1)
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('reconcile repairs a post once, and no deleted post', async () => {
    const { services, ann } = await scene()
    const { collections, posts } = services
    const { id } = await posts.create(ann, { text: 'hello' })
    const key = { author: ann, _id: toObjectId(id) }
    const countPostDifferences = () => differencesOf(postLists(runOf()), key._id)
    await collections.posts.updateOne(key, { $set: { 'counts.likes': 5 } })
    const drifted = await countPostDifferences()
    expect(await apply(drifted)).toMatchObject([{ delta: { likes: -5 } }])
    expect([...(await apply(drifted)), ...(await apply(drifted))]).toEqual([])
    expect(await collections.posts.findOne(key)).toMatchObject({ counts: { likes: 0 } })
    await collections.posts.updateOne(key, { $set: { 'counts.likes': 5 } })
    const stale = await countPostDifferences()
    await posts.delete(ann, { id, author: ann })
    expect(await apply(stale)).toEqual([])
  })

  test('reconcile applies no difference to a deleted account', async () => {
    const { services, ann, prefix } = await scene()
    const drifted = await countDifferences(ann)
    await services.users.delete(ann)
    expect(await apply(drifted)).toEqual([])
    await harness.rest()
    expect(await apply(drifted)).toEqual([])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('reconcile applies no difference of edges that were repaired since', async () => {
    const { services, ann, ben, prefix } = await scene()
    await services.follows.follow(ann, ben)
    await services.collections.following.deleteOne({ user: ann, followee: ben })
    const drifted = await countDifferences(ann)
    expect(drifted).toMatchObject([{ delta: { followers: -7, following: -1 } }])
    await reconcile(services, { readers: 0 })
    expect(await apply(drifted)).toEqual([])
    expect(await problemsOf(harness, prefix)).toEqual([])
  })

  test('reconcile repairs forty edges of a user who gets twenty follows a second', async () => {
    const { services, ann, prefix } = await scene()
    const fans = Array.from({ length: 400 }, (_, n) => handle(`${prefix}fan${n}`))
    await openAccounts(services, fans)
    for (const fan of fans.slice(0, 40)) await services.follows.follow(fan, ann)
    await services.collections.following.deleteMany({ followee: ann })
    const follows: Promise<unknown>[] = []
    const timer = setInterval(() => {
      const fan = fans[40 + follows.length]
      if (fan) follows.push(services.follows.follow(fan, ann))
    }, 50)
    try {
      const { byKind, remaining } = await reconcile(services, { readers: 0 })
      expect([byKind['L3 sides'], remaining]).toEqual([40, 0])
    } finally {
      clearInterval(timer)
      await Promise.all(follows)
    }
  })

  test('reconcile removes repeated events of a history whose edge was lost', async () => {
    const { services, ann, ben } = await scene()
    const { followers, following } = services.collections
    await services.follows.follow(ann, ben)
    await followers.deleteOne({ user: ben, follower: ann })
    await following.deleteOne({ user: ann, followee: ben })
    await services.follows.follow(ann, ben)
    await reconcile(services, { readers: 0 })
    const { differences } = await verified(services)
    expect(differences.filter(({ subject }) => subject === `${ann}>${ben}`)).toEqual([])
  })
})
