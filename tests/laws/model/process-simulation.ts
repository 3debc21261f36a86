import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { parsePostNodeId } from '../../../src/graphql/node-id.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { patient } from '../../support/patience.ts'
import { Poller } from '../../support/poller.ts'
import type { ServicesHarness } from '../../support/services.ts'
import { FeedTraffic } from './feed-traffic.ts'
import { type PollCosts, pollByGet } from './http-poll.ts'
import { modelOf } from './plain-model.ts'
import type { PollFault } from './poll-faults.ts'
import { type PollProcess, PollProcesses } from './poll-processes.ts'
import {
  maintainedStrategies,
  openWorld,
  ordersOf,
  type World,
  type WorldSize,
} from './process-world.ts'

const pollMs = 100
/** Polls of each client in the pause after a burst. */
const calmPolls = 9
/** A cursor covers at most 200 posts. A poller that holds more loads its first page again. */
const coveredMax = 190

/** A client, and the strategy that it polls. */
interface Client {
  readonly reader: UserId
  readonly strategy: FeedStrategyName
  readonly poller: Poller
  polls: number
}

/** What the processes share. */
type Deployment = Pick<ServicesHarness, 'services' | 'database' | 'clock'>

interface RunOptions {
  readonly size: WorldSize
  readonly seed: number
  /** A fault of all servers. */
  readonly fault?: PollFault
}

/**
 * Several processes over one database, with clients that write, clients that poll, and workers that
 * are killed.
 */
export class ProcessSimulation {
  readonly costs: PollCosts = { polls: 0, unchanged: 0, bytes: 0, pages: 0 }
  kills = 0
  private readonly clients: Client[] = []
  private readonly workers: PollProcess[] = []
  private urls: readonly string[] = []
  private round = 0
  private isOver = false
  /**
   * Polls of quiet readers that had to load their first page again, though only posts were added.
   */
  private readonly needless: string[] = []

  private constructor(
    private readonly harness: Deployment,
    private readonly options: RunOptions,
    private readonly processes: PollProcesses,
    private readonly world: World,
  ) {}

  /** Runs a whole history, and compares what each client holds with law L1. */
  static async run(
    harness: Deployment,
    options: RunOptions,
  ): Promise<{ costs: PollCosts; kills: number; tally: ReadonlyMap<string, number> }> {
    await using processes = new PollProcesses()
    const world = await openWorld(harness, options.size.followers)
    const simulation = new ProcessSimulation(harness, options, processes, world)
    const tally = await simulation.play()
    const { costs, kills } = simulation
    return { costs, kills, tally }
  }

  private async play(): Promise<ReadonlyMap<string, number>> {
    const { harness, world, processes } = this
    const { seed, fault } = this.options
    const { servers, workers } = ordersOf(harness.database)
    const [first, ...others] = servers.map((orders) => () => processes.start({ ...orders, fault }))
    const started = [await first?.(), ...(await Promise.all(others.map((start) => start())))]
    this.urls = started.flatMap((one) => one?.line ?? [])
    this.workers.push(...(await Promise.all(workers.map((orders) => processes.start(orders)))))
    await this.rest()
    const traffic = new FeedTraffic(world, this.urls, seed)
    this.openClients(maintainedStrategies)
    for (const { poller } of this.clients) await poller.load()
    const work = [this.write(traffic), this.killWorkers()]
    await Promise.all([...work, ...this.clients.map((client) => this.pollOn(client))]).finally(
      () => {
        this.isOver = true
      },
    )
    await this.rest()
    await this.compare(traffic)
    return traffic.tally
  }

  /** Writes in bursts. Before the last changes, nothing else changes the answers to polls. */
  private async write(traffic: FeedTraffic): Promise<void> {
    const { rounds, burstMs, starMs } = this.options.size
    for (; this.round < rounds; this.round++) {
      await traffic.run(burstMs, starMs)
      await this.calm()
    }
    const changes = [
      () => traffic.publishAll(),
      () => traffic.removeAll(),
      () => traffic.publishOne(),
    ]
    for (const change of changes) {
      await this.rest()
      await this.calm()
      await change()
    }
    this.isOver = true
  }

  private openClients(strategies: readonly FeedStrategyName[]): void {
    const { readers, quiet } = this.world
    const [stored = 'CACHE'] = strategies
    const asked = [
      ...readers.map((reader, n) => [reader, strategies[n % strategies.length]] as const),
      ...quiet.map((reader) => [reader, stored] as const),
    ]
    for (const [n, [reader, strategy = stored]] of asked.entries()) {
      // A balancer moves the client to another server from round to round.
      const nextUrl = () => this.urls[(n + this.round) % this.urls.length] ?? ''
      const queries = pollByGet({ reader, strategy, nextUrl, costs: this.costs })
      this.clients.push({ reader, strategy, poller: new Poller(queries), polls: 0 })
    }
  }

  /** Waits until each client has polled several times more. */
  private async calm(): Promise<void> {
    const goals = this.clients.map(({ polls }) => polls + calmPolls)
    while (!this.isOver && this.clients.some(({ polls }, n) => polls < (goals[n] ?? 0))) {
      await sleep(20)
    }
  }

  private async pollOn(client: Client): Promise<void> {
    const { reader, strategy, poller } = client
    const isQuiet = this.world.quiet.includes(reader)
    while (!this.isOver) {
      await sleep(pollMs)
      const held = poller.held.length
      const { news } = await poller.poll()
      client.polls++
      if (isQuiet && news.changed && held < coveredMax) this.needless.push(`${reader}, ${strategy}`)
    }
  }

  private async killWorkers(): Promise<void> {
    for (let at = 0; !this.isOver; at++) {
      await sleep(900)
      const [victim] = this.workers.splice(at % 2, 1)
      if (!victim) continue
      await victim.kill()
      this.kills++
      this.workers.push(await this.processes.start(victim.orders))
    }
  }

  /** Waits until the processes have run all jobs. */
  private async rest(): Promise<void> {
    const { outbox } = this.harness.database.collections
    const giveUpAt = performance.now() + patient(60_000 + this.options.size.followers * 10)
    for (;;) {
      const job = await outbox.findOne({})
      if (!job) return
      if (performance.now() > giveUpAt) throw new Error(`a job is left: ${JSON.stringify(job)}`)
      // A job of several killed workers is parked.
      if (job.state === 'PARKED') await this.harness.services.queue.retryAll()
      await sleep(50)
    }
  }

  private async compare(traffic: FeedTraffic): Promise<void> {
    const model = await modelOf(this.harness.database.collections)
    for (const { reader, strategy, poller } of this.clients) {
      await poller.poll()
      const { oldest = '' } = poller
      const expected = model.timeline(reader).filter((id) => id >= oldest)
      expect(poller.held, `${strategy} of ${reader} at rest`).toEqual(expected)
      const nothing = { count: 0, hasMore: false, changed: false }
      expect((await poller.poll()).news, `${strategy} of ${reader} again`).toMatchObject(nothing)
    }
    expect(this.needless, 'changed by posts alone').toEqual([])
    for (const [author, ids] of traffic.posts) {
      const own = new Set(model.timeline(author))
      const lost = ids.filter((id) => !own.has(parsePostNodeId('id', id).id))
      expect(lost, `acknowledged posts of ${author}`).toEqual([])
    }
  }
}
