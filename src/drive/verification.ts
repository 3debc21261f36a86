import { setTimeout as sleep } from 'node:timers/promises'
import { feedStrategyNames } from '../feed/strategies/list.ts'
import { compareMembers, compareOrdered, type Difference } from './compare.ts'
import { ListReader, type WalkedList } from './lists.ts'
import { isTextOf, type World } from './operations.ts'
import { forEach, type PatientClient, RequestFailure } from './patient.ts'
import type { Poller } from './poller.ts'

/** What a verification compared, and what it found. */
export interface VerificationResult {
  /** The sampled readers, and the strategies that were compared with FANOUT_ON_READ. */
  readonly readers: number
  readonly strategies: readonly string[]
  /** Whole timelines that were compared, and the posts in them. */
  timelines: number
  posts: number
  /** Pollers whose posts were compared with their timeline. */
  pollers: number
  /** Users whose own lists were compared with what was acknowledged to them. */
  writers: number
  /** Lists that were longer than a walk. They were compared as far as it. */
  cutLists: number
  /** The number of differences, and the first hundred. */
  differences: number
  readonly sample: Difference[]
}

/** What a verification needs. */
export interface VerificationParts {
  readonly world: World
  readonly client: PatientClient
  /** How many readers and pollers are compared. */
  readonly sample: number
  /** How long deliveries may take before the comparison, in seconds. */
  readonly settleSeconds: number
  readonly onProgress: (done: number, total: number) => void
}

const truth = 'FANOUT_ON_READ'
/** The most differences that are listed. */
const shownMax = 100
/** How often a list with a difference is compared, and the pause, in milliseconds: other clients may write in between. */
const [triesMax, triesPauseMs] = [3, 500]
const pendingPauseMs = 200
/** The most polls of a poller to reach the end of the news. */
const pollsMax = 50
/** The stream of random numbers that selects readers. */
const sampleStream = 102

/**
 * Compares what the deployment returns with its own truth: whole timelines of a sample of readers under each maintained
 * strategy with FANOUT_ON_READ, what a sample of pollers holds with the same, and what was acknowledged with the lists of
 * its users. Waits before until no delivery to a sampled reader is pending.
 * @throws {RequestFailure} if the deployment does not answer.
 */
export async function verifyRun(parts: VerificationParts): Promise<VerificationResult> {
  return new Verification(parts, await findStrategies(parts.client)).run()
}

/** The strategies that the deployment maintains, without FANOUT_ON_READ. */
async function findStrategies(client: PatientClient): Promise<string[]> {
  const strategies: string[] = []
  for (const strategy of feedStrategyNames) {
    if (strategy === truth) continue
    const variables = { first: 1, strategy }
    try {
      await client.request({ document: 'Timeline', variables, as: 0 })
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
  private done = 0

  constructor(
    private readonly parts: VerificationParts,
    strategies: readonly string[],
  ) {
    const { world, sample, client } = parts
    this.lists = new ListReader(client)
    this.readers = world.people.sampleUsers(sample, sampleStream)
    this.result = {
      ...{ readers: this.readers.length, strategies, timelines: 0, posts: 0, pollers: 0 },
      ...{ writers: 0, cutLists: 0, differences: 0, sample: [] },
    }
  }

  async run(): Promise<VerificationResult> {
    const { world, sample } = this.parts
    const pollers = world.pollers.all.slice(0, sample)
    const { posts, follows, likes } = world.journal
    const writers = [...new Set([...posts.keys(), ...follows.keys(), ...likes.keys()])]
    const total = 2 * this.readers.length + pollers.length + writers.length
    const each = <Item>(items: readonly Item[], verify: (item: Item) => Promise<void>) =>
      forEach(items, async (item) => {
        await verify(item)
        this.parts.onProgress(++this.done, total)
      })
    const untilMs = performance.now() + 1000 * this.parts.settleSeconds
    await each(this.readers, (reader) => this.settle(reader, untilMs))
    await each(this.readers, (reader) => this.verifyTimelines(reader))
    await each(pollers, (poller) => this.verifyPoller(poller))
    await each(writers, (writer) => this.verifyWrites(writer))
    return this.result
  }

  /** Waits until no delivery to a reader is pending. One that stays pending is a difference. */
  private async settle(reader: number, untilMs: number): Promise<void> {
    for (const strategy of this.result.strategies) {
      while (await this.lists.isPending(reader, strategy)) {
        if (performance.now() > untilMs) {
          this.add(reader, `timeline ${strategy}`, [{ kind: 'STILL_PENDING' }])
          break
        }
        await sleep(pendingPauseMs)
      }
    }
  }

  private async verifyTimelines(reader: number): Promise<void> {
    const { lists, result } = this
    let right = await this.note(lists.readTimeline(reader, truth))
    for (const strategy of result.strategies) {
      const found = await this.compareRepeatedly(async (isRepeat) => {
        if (isRepeat) right = await lists.readTimeline(reader, truth)
        const shown = await lists.readTimeline(reader, strategy)
        return compareOrdered(idsOf(right), idsOf(shown))
      })
      result.timelines++
      result.posts += right.items.length
      this.add(reader, `timeline ${strategy}`, found)
    }
  }

  private async verifyPoller(poller: Poller): Promise<void> {
    const { client } = this.parts
    const ask = client.request.bind(client)
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
  }

  private async verifyWrites(writer: number): Promise<void> {
    const { lists, parts } = this
    const { people, journal, runId } = parts.world
    const handle = people.handleOf(writer)
    const authored = journal.posts.get(writer)
    if (authored) {
      const posts = await this.note(lists.readPosts(writer, handle))
      this.addUnlessCut(writer, 'posts', posts, compareMembers(authored, idsOf(posts)))
      const texts = posts.items.flatMap(({ text = '' }) => (isTextOf(runId, text) ? [text] : []))
      this.add(writer, 'posts', compareMembers(texts, texts))
    }
    const follows = journal.follows.get(writer)
    if (follows) {
      const following = await this.note(lists.readFollowing(writer, handle))
      const required = [...follows].map((followee) => people.handleOf(followee))
      const shown = following.items.map(({ handle = '' }) => handle)
      this.addUnlessCut(writer, 'following', following, compareMembers(required, shown))
    }
    const likes = journal.likes.get(writer)
    if (likes) {
      const liked = await this.note(lists.readLikedPosts(writer, handle))
      this.addUnlessCut(writer, 'likedPosts', liked, compareMembers(likes, idsOf(liked)))
    }
    this.result.writers++
  }

  /** Compares again what seems wrong. Returns what the last comparison found. */
  private async compareRepeatedly<Found>(
    compare: (isRepeat: boolean) => Promise<readonly Found[]>,
  ): Promise<readonly Found[]> {
    let found = await compare(false)
    for (let at = 1; at < triesMax && found.length > 0; at++) {
      await sleep(triesPauseMs)
      found = await compare(true)
    }
    return found
  }

  /** Counts a list that is longer than a walk. */
  private async note(walk: Promise<WalkedList>): Promise<WalkedList> {
    const list = await walk
    if (list.isCut) this.result.cutLists++
    return list
  }

  /** An item that is missing in a list that was cut may be in its rest. */
  private addUnlessCut(
    reader: number,
    list: string,
    { isCut }: WalkedList,
    found: readonly Pick<Difference, 'kind' | 'item'>[],
  ): void {
    this.add(reader, list, isCut ? found.filter(({ kind }) => kind !== 'MISSING') : found)
  }

  private add(
    reader: number,
    list: string,
    found: readonly Pick<Difference, 'kind' | 'item'>[],
  ): void {
    const { result, parts } = this
    result.differences += found.length
    const room = Math.max(0, shownMax - result.sample.length)
    const handle = parts.world.people.handleOf(reader)
    result.sample.push(...found.slice(0, room).map((each) => ({ reader: handle, list, ...each })))
  }
}

const idsOf = ({ items }: WalkedList): string[] => items.map(({ id }) => id)
