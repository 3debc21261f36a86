import { setTimeout as sleep } from 'node:timers/promises'
import { feedStrategyNames } from '../../src/feed/strategies/list.ts'
import { compareMembers, compareOrdered, type Difference } from './compare.ts'
import { ListReader, type WalkedList } from './lists.ts'
import type { World } from './operations.ts'
import { idsOf, ownListsOf } from './own-lists.ts'
import { forEach, type PatientClient, RequestFailure } from './patient.ts'
import type { Poller } from './poller.ts'
import {
  emptyResult,
  type StrategyResult,
  shownMax,
  type VerificationResult,
} from './verification-result.ts'

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

const truth = 'FANOUT_ON_READ'
/** How often a list with a difference is compared, and the pause, in milliseconds: other clients may write in between. */
const [triesMax, triesPauseMs] = [3, 500]
const pendingPauseMs = 200
/** The most polls of a poller to reach the end of the news. */
const pollsMax = 50
/** The streams of random numbers that select readers and writers. */
const streams = { readers: 102, writers: 104 } as const

type Found = Pick<Difference, 'kind' | 'item'>

/**
 * Compares what the deployment returns with its own truth: whole timelines of a sample of readers under each strategy
 * that all processes maintain with FANOUT_ON_READ, what a sample of pollers holds with the same, and what was acknowledged
 * to a sample of users with their lists. Waits before until no delivery to them is pending, and each strategy serves their
 * first page. A list that is refused is noted, and so are all further ones if the deployment no longer answers.
 * @throws {RequestFailure} if the deployment does not say what it maintains; the reason of an interruption.
 */
export async function verifyRun(parts: VerificationParts): Promise<VerificationResult> {
  return new Verification(parts, await findStrategies(parts)).run()
}

/** The strategies that each process maintains, without FANOUT_ON_READ. */
async function findStrategies({ client, processes }: VerificationParts): Promise<string[]> {
  const strategies: string[] = []
  for (const strategy of feedStrategyNames) {
    if (strategy === truth) continue
    const variables = { first: 1, strategy }
    try {
      for (let asked = 0; asked < processes; asked++) {
        await client.request({ document: 'Timeline', variables, as: 0 })
      }
      strategies.push(strategy)
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.code !== 'BAD_USER_INPUT') throw error
    }
  }
  return strategies
}

class Verification {
  private readonly lists: ListReader
  private readonly readers: readonly number[]
  private readonly result: VerificationResult
  /** What is compared, and how much of it has been. */
  private total = 0
  private done = 0

  constructor(
    private readonly parts: VerificationParts,
    strategies: readonly string[],
  ) {
    const { world, sample, client } = parts
    this.lists = new ListReader(client)
    this.readers = world.people.sampleUsers(sample, streams.readers)
    this.result = emptyResult(this.readers.length, strategies)
  }

  async run(): Promise<VerificationResult> {
    const { world, sample } = this.parts
    const { people, pollers, journal } = world
    const polled = pollers.all.slice(0, sample)
    const hasWritten = (user: number) =>
      [journal.posts, journal.follows, journal.likes].some((written) => written.has(user))
    const writers = people
      .sampleUsers(people.count, streams.writers)
      .filter(hasWritten)
      .slice(0, sample)
    const waiting = [...new Set([...this.readers, ...polled.map(({ user }) => user)])]
    this.total = waiting.length + this.readers.length + polled.length + writers.length
    const untilMs = performance.now() + 1000 * this.parts.settleSeconds
    try {
      await this.each(waiting, (reader) => this.settle(reader, untilMs))
      await this.each(this.readers, (reader) => this.verifyTimelines(reader))
      await this.each(polled, (poller) => this.verifyPoller(poller))
      await this.each(writers, (writer) => this.verifyWrites(writer))
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error
      this.addUnverified(error.request.as, 'this and all further lists', error.message)
      this.result.unverified += Math.max(0, this.total - this.done - 1)
    }
    return this.result
  }

  private each<Item>(items: readonly Item[], verify: (item: Item) => Promise<void>) {
    return forEach(items, async (item) => {
      await verify(item)
      this.parts.onProgress(++this.done, this.total)
    })
  }

  /** Waits until no delivery to a reader is pending. One that stays pending is a difference. */
  private async settle(reader: number, untilMs: number): Promise<void> {
    for (const { name } of this.result.strategies) {
      const list = `timeline ${name}`
      await this.attempt(reader, list, async () => {
        for (;;) {
          const { pending, servedBy, isEmpty } = await this.lists.readHead(reader, name)
          // A first visit, or the end of a rebuild, lets the strategy serve the next page.
          if (!pending && (isEmpty || servedBy === name)) return
          if (performance.now() > untilMs) {
            if (pending) this.add(reader, list, [{ kind: 'STILL_PENDING' }])
            return
          }
          await sleep(pendingPauseMs)
        }
      })
    }
  }

  private async verifyTimelines(reader: number): Promise<void> {
    const { lists, result } = this
    for (const strategy of result.strategies) {
      const list = `timeline ${strategy.name}`
      await this.attempt(reader, list, async () => {
        let shown: WalkedList | undefined
        const found = await this.compareRepeatedly(async () => {
          const right = await lists.readTimeline(reader, truth)
          shown = await lists.readTimeline(reader, strategy.name)
          return compareOrdered(idsOf(right), idsOf(shown))
        })
        this.add(reader, list, found)
        if (shown) this.countTimeline(reader, strategy, shown)
      })
    }
  }

  private countTimeline(reader: number, strategy: StrategyResult, shown: WalkedList): void {
    const { name } = strategy
    const own = shown.pages.filter(({ servedBy }) => servedBy === name)
    strategy.timelines++
    strategy.pages += shown.pages.length
    strategy.pagesByFanoutOnRead += shown.pages.length - own.length
    strategy.posts += own.reduce((sum, { items }) => sum + items, 0)
    if (shown.isCut) this.result.cutLists++
    if (own.length === 0 && shown.pages.length > 0) {
      this.addUnverified(reader, `timeline ${name}`, `${truth} served every page`)
    }
  }

  private async verifyPoller(poller: Poller): Promise<void> {
    const { client } = this.parts
    const ask = client.request.bind(client)
    await this.attempt(poller.user, 'poll', async () => {
      const found = await this.compareRepeatedly(async () => {
        for (let polls = 0; polls < pollsMax; polls++) {
          if ((await poller.poll(ask, ask)) === 'unchanged') break
        }
        const ids = idsOf(await this.lists.readTimeline(poller.user, truth))
        const end = poller.oldest === undefined ? ids.length : ids.indexOf(poller.oldest) + 1
        return compareOrdered(ids.slice(0, end), poller.held)
      })
      this.result.pollers++
      this.add(poller.user, 'poll', found)
    })
  }

  private async verifyWrites(writer: number): Promise<void> {
    const { lists, parts, result } = this
    for (const own of ownListsOf(parts.world, lists, writer)) {
      await this.attempt(writer, own.list, async () => {
        let isCut = false
        const found = await this.compareRepeatedly(async () => {
          const shown = await own.read()
          const unique = own.uniqueIn?.(shown) ?? []
          isCut = shown.isCut
          const missing = compareMembers(own.required, own.idsOf(shown))
          // An item that is missing in a list that was cut may be in its rest.
          return [
            ...missing.filter(({ kind }) => !isCut || kind !== 'MISSING'),
            ...compareMembers(unique, unique),
          ]
        })
        if (isCut) result.cutLists++
        result.acknowledged[own.name] += own.required.length
        this.add(writer, own.list, found)
      })
    }
    result.writers++
  }

  /** Compares again what seems wrong. Returns what the last comparison found. */
  private async compareRepeatedly(
    compare: () => Promise<readonly Found[]>,
  ): Promise<readonly Found[]> {
    let found = await compare()
    for (let at = 1; at < triesMax && found.length > 0; at++) {
      await sleep(triesPauseMs)
      found = await compare()
    }
    return found
  }

  /** Compares a list, or notes why it could not be compared. */
  private async attempt(user: number, list: string, compare: () => Promise<void>): Promise<void> {
    try {
      await compare()
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.isOutage) throw error
      this.addUnverified(user, list, error.message)
    }
  }

  private addUnverified(user: number, list: string, reason: string): void {
    const { result, parts } = this
    const reader = parts.world.people.handleOf(user)
    const isNoted = result.unverifiedSample.some(
      (one) => one.reader === reader && one.list === list,
    )
    if (isNoted) return
    result.unverified++
    if (result.unverifiedSample.length < shownMax) {
      result.unverifiedSample.push({ reader, list, reason })
    }
  }

  private add(reader: number, list: string, found: readonly Found[]): void {
    const { result, parts } = this
    result.differences += found.length
    const room = Math.max(0, shownMax - result.sample.length)
    const handle = parts.world.people.handleOf(reader)
    result.sample.push(...found.slice(0, room).map((each) => ({ reader: handle, list, ...each })))
  }
}
