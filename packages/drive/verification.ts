import { setTimeout as sleep } from 'node:timers/promises'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { compareMembers, compareOrdered, type Problem } from './compare.ts'
import { ownListsOf, readHead, readOwnList, readTimeline, type WalkedTimeline } from './lists.ts'
import type { World } from './operations.ts'
import { forEach, type PatientClient, RequestFailure } from './patient.ts'
import type { Poller } from './poller.ts'

/** What a verification needs. */
export interface VerificationParts {
  readonly world: World
  readonly client: PatientClient
  /** How many processes answer in turn. */
  readonly processes: number
  /** How many readers, pollers and writers are compared. */
  readonly sample: number
  /** How long deliveries may take before the comparison, in seconds. */
  readonly settleSeconds: number
  readonly onProgress: (done: number, total: number) => void
}

/** What a verification compared, and what was wrong. */
export interface VerificationResult {
  /** The sampled readers, whose timelines under each strategy were compared with FANOUT_ON_READ. */
  readonly readers: number
  readonly strategies: readonly StrategyResult[]
  /** Pollers whose posts were compared with their timeline. */
  pollers: number
  /** Users whose own lists were compared with what was acknowledged to them, and what that was. */
  writers: number
  readonly acknowledged: { posts: number; follows: number; likes: number }
  /** The number of differences, and the first hundred. */
  differences: number
  readonly sample: Difference[]
  /** The number of lists that were not compared, and the first hundred. */
  unverified: number
  readonly unverifiedSample: { reader: string; list: string; reason: string }[]
}

/** What was compared of one strategy. */
export interface StrategyResult {
  readonly name: string
  /** Whole timelines that were compared. */
  timelines: number
  /**
   * Their pages, and those of them that FANOUT_ON_READ served: these were compared with themselves.
   */
  pages: number
  pagesByFanoutOnRead: number
  /** The posts on the other pages. */
  posts: number
}

/** A wrong list of a user. */
export interface Difference extends Problem {
  /** The handle of the user. */
  readonly reader: string
  /** The list: `timeline INBOX`, `poll`, `posts`, `following` or `likedPosts`. */
  readonly list: string
}

/** The most differences and lists that are named. */
const shownMax = 100
const truth = 'FANOUT_ON_READ'
/**
 * How often a list with a difference is compared, and the pause, in milliseconds: other clients may
 * write in between.
 */
const [triesMax, triesPauseMs] = [3, 500]
const pendingPauseMs = 200
/** The most polls of a poller to reach the end of the news. */
const pollsMax = 50
/** The streams of random numbers that select readers and writers. */
const streams = { readers: 102, writers: 104 } as const

/** A result to which a verification adds. */
export const emptyResult = (
  readers: number,
  strategies: readonly string[],
): VerificationResult => ({
  readers,
  strategies: strategies.map((name) => ({
    name,
    timelines: 0,
    pages: 0,
    pagesByFanoutOnRead: 0,
    posts: 0,
  })),
  pollers: 0,
  writers: 0,
  acknowledged: { posts: 0, follows: 0, likes: 0 },
  differences: 0,
  sample: [],
  unverified: 0,
  unverifiedSample: [],
})

/**
 * Compares what the deployment returns with its own truth: whole timelines of a sample of readers
 * under each strategy that all processes maintain with FANOUT_ON_READ, what a sample of pollers
 * holds with the same, and what was acknowledged to a sample of users with their lists. Waits
 * before until no delivery to them is pending, and each strategy serves their first page. A list
 * that is refused is noted, and so are all further ones if the deployment no longer answers.
 * @throws {RequestFailure} if the deployment does not say what it maintains; the reason of an
 *   interruption.
 */
export async function verifyRun(parts: VerificationParts): Promise<VerificationResult> {
  return new Verification(parts, await readStrategies(parts)).run()
}

/** The strategies that each process maintains, without FANOUT_ON_READ. */
async function readStrategies({ client, processes }: VerificationParts): Promise<string[]> {
  const strategies: string[] = []
  for (const strategy of feedStrategyNames) {
    if (strategy === truth) continue
    try {
      for (let asked = 0; asked < processes; asked++) await readHead(client, 0, strategy)
      strategies.push(strategy)
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.code !== 'BAD_USER_INPUT') throw error
    }
  }
  return strategies
}

class Verification {
  private readonly readers: readonly number[]
  private readonly result: VerificationResult
  /** How much of what is compared has been. */
  private done = 0

  constructor(
    private readonly parts: VerificationParts,
    strategies: readonly string[],
  ) {
    const { world, sample } = parts
    this.readers = world.people.sampleUsers(sample, streams.readers)
    this.result = emptyResult(this.readers.length, strategies)
  }

  async run(): Promise<VerificationResult> {
    const { world, sample, settleSeconds, onProgress } = this.parts
    const { people, pollers, journal } = world
    const polled = pollers.all.slice(0, sample)
    const hasWritten = (user: number) =>
      [journal.posts, journal.follows, journal.likes].some((written) => written.has(user))
    const writers = people
      .sampleUsers(people.count, streams.writers)
      .filter(hasWritten)
      .slice(0, sample)
    const waiting = [...new Set([...this.readers, ...polled.map(({ user }) => user)])]
    const total = waiting.length + this.readers.length + polled.length + writers.length
    const untilMs = performance.now() + 1000 * settleSeconds
    const each = <Item>(items: readonly Item[], verify: (item: Item) => Promise<void>) =>
      forEach(items, async (item) => {
        await verify(item)
        onProgress(++this.done, total)
      })
    try {
      await each(waiting, (reader) => this.settle(reader, untilMs))
      await each(this.readers, (reader) => this.verifyTimelines(reader))
      await each(polled, (poller) => this.verifyPoller(poller))
      await each(writers, (writer) => this.verifyWrites(writer))
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error
      this.addUnverified(error.request.as, 'this and all further lists', error.message)
      this.result.unverified += Math.max(0, total - this.done - 1)
    }
    return this.result
  }

  /** Waits until no delivery to a reader is pending. One that stays pending is a difference. */
  private async settle(reader: number, untilMs: number): Promise<void> {
    for (const { name } of this.result.strategies) {
      await this.attempt(reader, `timeline ${name}`, async () => {
        for (;;) {
          const { pending, servedBy, isEmpty } = await readHead(this.parts.client, reader, name)
          // A first visit, or the end of a rebuild, lets the strategy serve the next page.
          if (!pending && (isEmpty || servedBy === name)) return []
          if (performance.now() > untilMs) return pending ? [{ kind: 'STILL_PENDING' }] : []
          await sleep(pendingPauseMs)
        }
      })
    }
  }

  private async verifyTimelines(reader: number): Promise<void> {
    const { client } = this.parts
    for (const strategy of this.result.strategies) {
      const list = `timeline ${strategy.name}`
      let shown: WalkedTimeline | undefined
      await this.attempt(reader, list, async () => {
        const right = await readTimeline(client, reader, truth)
        shown = await readTimeline(client, reader, strategy.name)
        return compareOrdered(right.ids, shown.ids)
      })
      if (!shown) continue
      const own = shown.pages.filter(({ servedBy }) => servedBy === strategy.name)
      strategy.timelines++
      strategy.pages += shown.pages.length
      strategy.pagesByFanoutOnRead += shown.pages.length - own.length
      strategy.posts += own.reduce((sum, { posts }) => sum + posts, 0)
      if (own.length === 0 && shown.pages.length > 0) {
        this.addUnverified(reader, list, `${truth} served every page`)
      }
    }
  }

  private async verifyPoller(poller: Poller): Promise<void> {
    const { client } = this.parts
    const ask = client.request.bind(client)
    await this.attempt(poller.user, 'poll', async () => {
      for (let polls = 0; polls < pollsMax; polls++) {
        if ((await poller.poll(ask, ask)) === 'unchanged') break
      }
      const { ids } = await readTimeline(client, poller.user, truth)
      const end = poller.oldest === undefined ? ids.length : ids.indexOf(poller.oldest) + 1
      return compareOrdered(ids.slice(0, end), poller.held)
    })
    this.result.pollers++
  }

  private async verifyWrites(writer: number): Promise<void> {
    const { world, client } = this.parts
    for (const own of ownListsOf(world, writer)) {
      await this.attempt(writer, own.field, async () => {
        const { ids, texts } = await readOwnList(world, client, own, writer)
        return [...compareMembers(own.required, ids), ...compareMembers(texts, texts)]
      })
      this.result.acknowledged[own.name] += own.required.length
    }
    this.result.writers++
  }

  /**
   * Compares a list, and again what seems wrong. Notes what the last comparison says, or why there
   * is none.
   */
  private async attempt(
    user: number,
    list: string,
    compare: () => Promise<readonly Problem[]>,
  ): Promise<void> {
    try {
      let problems = await compare()
      for (let tries = 1; tries < triesMax && problems.length > 0; tries++) {
        await sleep(triesPauseMs)
        problems = await compare()
      }
      this.addDifferences(user, list, problems)
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.isOutage) throw error
      this.addUnverified(user, list, error.message)
    }
  }

  private addUnverified(user: number, list: string, reason: string): void {
    const { unverifiedSample } = this.result
    const reader = this.parts.world.people.handleOf(user)
    if (unverifiedSample.some((each) => each.reader === reader && each.list === list)) return
    this.result.unverified++
    if (unverifiedSample.length < shownMax) unverifiedSample.push({ reader, list, reason })
  }

  private addDifferences(user: number, list: string, problems: readonly Problem[]): void {
    const { result, parts } = this
    result.differences += problems.length
    const reader = parts.world.people.handleOf(user)
    const room = Math.max(0, shownMax - result.sample.length)
    result.sample.push(...problems.slice(0, room).map((each) => ({ reader, list, ...each })))
  }
}
