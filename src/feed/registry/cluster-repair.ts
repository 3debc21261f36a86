import { setTimeout as sleep } from 'node:timers/promises'
import { requestTimeout } from '../../db/client.ts'
import type { ClusterState, Collections, TimelinesPlaceDoc } from '../../db/collections.ts'
import type { ClusterPrimary, TimelinesCluster } from '../../db/timelines-cluster.ts'
import type { Log } from '../../log.ts'
import { timelineClusterChanges } from '../../metrics/timelines.ts'
import { emptyCluster, noteState, obstacleOf, placeId, placesIn, weakerThan } from './place.ts'
import type { Placement } from './placement.ts'
import type { Registrations } from './registrations.ts'

/** How often the cluster is checked, and how long without a primary until it is opened again, in milliseconds. */
const [checkMs, reopenMs] = [1_000, 5_000]
/** The shortest time between two checks that pages ask for, in milliseconds. */
const doubtMs = 100
/** How long a process waits at its start for another one that prepares the cluster, and between two checks, in milliseconds. */
const [settleMsMax, settlePauseMs] = [25_000, 100]
/** How often a change is applied again because another process was faster. */
const triesMax = 5

/** The parts of {@link ClusterRepair}. */
export interface ClusterRepairParts {
  readonly collections: Collections
  readonly placement: Placement
  readonly registrations: Registrations
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Brings the database and the timelines cluster together, after each change of the cluster's primary, and when a page
 * found another mark. After a loss, all timelines are built again. If writes do not wait for a majority, that is also
 * after each election, because an election may revert them.
 */
export class ClusterRepair {
  private running: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined
  private reopening: Promise<void> | undefined
  private quietUntil = 0
  private lastPrimaryMs = performance.now()
  private obstacle: string | undefined
  private log: Log | undefined

  constructor(private readonly parts: ClusterRepairParts) {
    const { placement } = parts
    const { cluster } = placement
    if (!cluster) return
    const begin = () => void this.run().catch((error) => this.warn(error))
    cluster.onPrimary = begin
    placement.onFailure = (error) =>
      this.log?.warn({ err: error }, 'jobs wait, because the timelines cluster failed')
    placement.onDoubt = () => {
      if (performance.now() < this.quietUntil) return
      this.quietUntil = performance.now() + doubtMs
      begin()
    }
  }

  /** Checks the cluster every second, until {@link stop}, and opens it again if it has no primary. */
  start(log: Log): void {
    const { cluster } = this.parts.placement
    this.log = log
    if (!cluster) return
    this.timer = setInterval(() => {
      if (cluster.primary) this.lastPrimaryMs = performance.now()
      else this.reopen(cluster)
      void this.run().catch((error) => this.warn(error))
    }, checkMs)
    this.timer.unref()
  }

  /** Stops the checks, and waits for a running one. Final. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await Promise.allSettled([this.running, this.reopening])
  }

  /**
   * Checks whether the cluster is in the state that the database names. Repairs what is not. Concurrent calls share one
   * check. Two commands if all is well, none without a primary.
   */
  async run(): Promise<void> {
    this.running ??= this.repair().finally(() => {
      this.running = undefined
    })
    await this.running
  }

  /**
   * Runs checks until the cluster can be used, for 25 s at most. Ends early if it does not answer, or is refused.
   * @throws the error of the last check.
   */
  async settle(): Promise<void> {
    const giveUpAt = performance.now() + settleMsMax
    const { placement } = this.parts
    for (;;) {
      const isLast = performance.now() > giveUpAt
      await this.run().catch((error) => {
        if (isLast || !placement.cluster?.primary) throw error
      })
      if (isLast || !placement.isAway || !placement.cluster?.primary || this.obstacle) return
      await sleep(settlePauseMs)
    }
  }

  private async repair(): Promise<void> {
    const { placement, collections } = this.parts
    const { cluster } = placement
    if (!cluster) return
    for (let tries = 1; tries <= triesMax; tries++) {
      const { primary } = cluster
      if (!primary) return
      const place = await placesIn(collections).findOne({ _id: placeId }, requestTimeout)
      if (!place) return
      // Also while it runs: the timelines may have moved to this cluster again with another durability.
      const weaker = weakerThan(place, cluster)
      if (weaker) return this.note(weaker)
      const mark = await cluster.loadMark()
      if (mark?.value === place.value && primary.election === place.election) {
        // They could not be created when the process started.
        if (cluster.lacksCollections) await cluster.createCollections()
        placement.verify({ mark: place.value, election: place.election }, primary)
        return this.note(undefined)
      }
      const obstacle = obstacleOf(place, mark, primary)
      if (obstacle) return this.note(obstacle)
      if (mark?.value === place.value) await this.noteElection(cluster, place, primary)
      else if (mark && mark.value === place.preparing?.mark)
        await this.change(place, { mark: mark.value, election: primary.election }, primary, 'lost')
      else if (!(await this.empty(cluster, place))) return
    }
  }

  /** A new primary has all writes that waited for a majority, and may lack others. */
  private async noteElection(
    cluster: TimelinesCluster,
    place: TimelinesPlaceDoc,
    primary: ClusterPrimary,
  ): Promise<void> {
    const state = { mark: place.value, election: primary.election }
    await this.change(
      place,
      state,
      primary,
      cluster.isDurable && place.durable ? 'elected' : 'lost',
    )
  }

  /** Begins again on a cluster that has lost its data. @returns false if another process does it. */
  private async empty(cluster: TimelinesCluster, place: TimelinesPlaceDoc): Promise<boolean> {
    const { collections, now } = this.parts
    const mark = await emptyCluster(cluster, placesIn(collections), place, now())
    if (mark === undefined) return false
    if (place.value !== '') this.log?.warn('the timelines cluster has lost its data')
    return true
  }

  private async change(
    place: TimelinesPlaceDoc,
    state: ClusterState,
    { hosts }: ClusterPrimary,
    change: 'elected' | 'lost',
  ): Promise<void> {
    const { registrations, collections } = this.parts
    const isFirst = await registrations.runExclusive(async (tx) => {
      const { value, election } = place
      const { matchedCount } = await placesIn(collections).updateOne(
        {
          ...{ _id: placeId, value, election },
          // The mark of a process that was late does not count.
          ...(state.mark === value ? {} : { 'preparing.mark': state.mark }),
        },
        {
          $set: { value: state.mark, election: state.election, hosts },
          $unset: { preparing: '' },
        },
        { session: tx.session },
      )
      if (matchedCount === 0) return false
      await noteState(collections, tx, state)
      if (change === 'lost') await registrations.invalidate(tx, 0)
      return true
    })
    if (!isFirst || place.value === '') return
    timelineClusterChanges.inc({ change })
    this.log?.warn(
      change === 'lost'
        ? 'the timelines cluster may lack entries: all timelines are built again'
        : 'the timelines cluster has another primary',
    )
  }

  private reopen(cluster: TimelinesCluster): void {
    if (this.reopening || performance.now() - this.lastPrimaryMs < reopenMs) return
    this.lastPrimaryMs = performance.now()
    this.reopening = cluster
      .reopen()
      .catch((error) => this.warn(error))
      .finally(() => {
        this.reopening = undefined
      })
  }

  /** Logs an obstacle once. */
  private note(obstacle: string | undefined): void {
    if (obstacle !== undefined && obstacle !== this.obstacle) this.log?.error(obstacle)
    this.obstacle = obstacle
  }

  private warn(error: unknown): void {
    this.log?.warn({ err: error }, 'the timelines cluster could not be checked')
  }
}
