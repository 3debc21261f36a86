import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { openBench } from '../database.ts'
import { drive, type Load, quantile, showSpread, spreadOf } from '../drive.ts'
import { openAccounts, userAt } from '../engagement/ours.ts'
import type { BenchOptions } from '../options.ts'
import { oneTransactionEach, together, type Way } from './ways.ts'

const clients = 64
const accounts = 200_000

const ways = { together, oneTransactionEach }
type Name = keyof typeof ways
type Loads = Readonly<Record<'follow' | 'unfollow', Load>>
type Round = Readonly<Record<Name, Loads>>

/** 64 clients follow one account, then unfollow it: together, and with a transaction each. Jobs are left to workers. */
export async function follows(options: BenchOptions) {
  await using database = await openBench(options.say)
  const { services } = database
  options.say(`opening ${accounts} accounts`)
  await openAccounts(services, accounts)
  const names = Object.keys(ways) as Name[]
  const rounds: Round[] = []
  let celebrities = 0
  for (let number = 1; number <= options.rounds; number++) {
    options.say(`round ${number} of ${options.rounds}`)
    const round: Partial<Record<Name, Loads>> = {}
    // Each comes as often first as after the other.
    for (const name of number % 2 === 1 ? names : names.toReversed()) {
      const celebrity = `celebrity${celebrities++}` as UserId
      round[name] = await measure(services, ways[name](services), celebrity, options.ms)
    }
    rounds.push(round as Round)
  }
  const ratios = (load: keyof Loads) =>
    spreadOf(
      rounds.map(
        (round) => round.together[load].perSecond / round.oneTransactionEach[load].perSecond,
      ),
    )
  const [followRatios, unfollowRatios] = [ratios('follow'), ratios('unfollow')]
  options.show('| ratio | median (min–max) |\n|---|---|')
  options.show(`| follows_vs_one_transaction_each | ${showSpread(followRatios)} |`)
  options.show(`| unfollows_vs_one_transaction_each | ${showSpread(unfollowRatios)} |`)
  options.show('\n| 64 clients, one account | writes/s | p50, ms | p99, ms |\n|---|---|---|---|')
  for (const name of names) {
    for (const load of ['follow', 'unfollow'] as const) {
      const loads = rounds.map((round) => round[name][load])
      const [rate, p50, p99] = [
        spreadOf(loads.map(({ perSecond }) => perSecond)),
        spreadOf(loads.map(({ p50Ms }) => p50Ms)),
        spreadOf(loads.map(({ p99Ms }) => p99Ms)),
      ]
      options.show(
        `| ${load}, ${titles[name]} | ${showSpread(rate, 0)} | ${showSpread(p50, 1)} | ${showSpread(p99, 1)} |`,
      )
    }
  }
  const p99Ms = (load: keyof Loads) =>
    quantile(
      rounds.map((round) => round.together[load].p99Ms),
      0.5,
    )
  return {
    follows_vs_one_transaction_each: followRatios.median,
    unfollows_vs_one_transaction_each: unfollowRatios.median,
    follow_p99_ms: p99Ms('follow'),
    unfollow_p99_ms: p99Ms('unfollow'),
  }
}

const titles: Readonly<Record<Name, string>> = {
  together: 'together',
  oneTransactionEach: 'one transaction each',
}

/** Follows for so long, then ends them all. @throws when what is stored is not what the clients were told. */
async function measure(services: Services, way: Way, celebrity: UserId, ms: number) {
  const { collections } = services
  await collections.user_stats.insertOne({ _id: celebrity, followers: 0, following: 0, posts: 0 })
  let followers = 0
  const follow = await drive(clients, ms, async (_, at) => {
    if (await way.follow(userAt(at), celebrity)) followers++
  })
  const most = followers
  await verify(services, celebrity, most)
  const unfollow = await driveAll(most, async (at) => {
    if (await way.unfollow(userAt(at), celebrity)) followers--
  })
  if (followers !== 0) throw new Error(`${followers} of ${most} were not told that it ended`)
  await verify(services, celebrity, 0)
  await collections.outbox.deleteMany({})
  return { follow, unfollow }
}

/** Runs `calls` calls from all clients, each as soon as its last one returned. */
async function driveAll(calls: number, call: (at: number) => Promise<void>): Promise<Load> {
  const took: number[] = []
  let next = 0
  const begin = performance.now()
  const client = async () => {
    while (next < calls) {
      const start = performance.now()
      await call(next++)
      took.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const perSecond = (calls / (performance.now() - begin)) * 1000
  return { perSecond, p50Ms: quantile(took, 0.5), p99Ms: quantile(took, 0.99) }
}

/** Both sides, the celebrity's counter and those of all others must agree with what was told. */
async function verify({ collections }: Services, celebrity: UserId, told: number): Promise<void> {
  const { followers, following, user_stats } = collections
  const [sum] = await user_stats
    .aggregate<{ total: number }>([{ $group: { _id: null, total: { $sum: '$following' } } }])
    .toArray()
  const found = {
    counter: (await user_stats.findOne({ _id: celebrity }))?.followers,
    followers: await followers.countDocuments({ user: celebrity }),
    following: await following.countDocuments({ followee: celebrity }),
    counters: sum?.total,
  }
  if (Object.values(found).some((count) => count !== told)) {
    throw new Error(`${told} follow ${celebrity}, but stored is ${JSON.stringify(found)}`)
  }
}
