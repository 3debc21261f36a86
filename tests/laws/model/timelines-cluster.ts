import { setTimeout as sleep } from 'node:timers/promises'
import {
  openCollections,
  type TimelineCollections,
  timelineCollectionNames,
} from '../../../src/db/collections.ts'
import { isDuplicateKey } from '../../../src/db/errors.ts'
import type { Db } from '../../../src/db/mongo.ts'
import type { TimelinesCluster } from '../../../src/db/timelines-cluster.ts'
import { placeId, placesIn } from '../../../src/feed/registry/place.ts'
import type { Services } from '../../../src/services.ts'
import { patient } from '../../support/patience.ts'
import type { TestClock } from '../../support/services.ts'
import type { Setting } from './setting.ts'

/** The same cluster, seen by another process. @param watch watches the commands of the process. */
export function clusterOf(
  cluster: TimelinesCluster | undefined,
  watch: (db: Db) => Db = (db) => db,
): TimelinesCluster | undefined {
  if (!cluster) return undefined
  const all = openCollections(watch(cluster.db))
  const collections = Object.fromEntries(timelineCollectionNames.map((name) => [name, all[name]]))
  return Object.create(cluster, {
    collections: { value: collections as unknown as TimelineCollections },
    onPrimary: { value: () => {}, writable: true },
  }) as TimelinesCluster
}

/** The cluster of a simulation, if it has one, and the clock of its processes. */
export interface ClusterSetting {
  readonly cluster: TimelinesCluster | undefined
  readonly clock: TestClock
}

/** How long processes may take to find and repair a loss, in milliseconds. */
const repairMsMax = patient(20_000)

/**
 * Lets processes find a loss, as they do by themselves each second. Passes time only if a process that may be killed
 * holds the lease of the repair.
 */
export async function checkClusters(
  processes: readonly Services[],
  { cluster, clock }: ClusterSetting,
): Promise<void> {
  const beganAt = performance.now()
  while (cluster) {
    await Promise.all(processes.map(({ clusterRepair }) => clusterRepair.run().catch(() => {})))
    const place = await placesIn((processes[0] as Services).collections).findOne({ _id: placeId })
    const isCurrent = ({ placement: { state } }: Services) =>
      state && state.mark === place?.value && state.election === place.election
    if (processes.every(isCurrent)) return
    if (performance.now() > beganAt + repairMsMax) throw new Error('the cluster is not repaired')
    if (place?.preparing && performance.now() > beganAt + 1_000) clock.advance(1_000)
    await sleep(20)
  }
}

/**
 * One check by a process that may be killed. Simulated time passes faster than a process works, so it may find that a late
 * one has marked the cluster. A server tries again a second later.
 */
export async function checkOnce({ clusterRepair }: Services): Promise<void> {
  await clusterRepair.run().catch((error) => {
    if (!isDuplicateKey(error)) throw error
  })
}

/**
 * Loses all timelines at every fifth step, as a cluster that is started again without its data. The processes find it
 * now, or when they read the next page.
 */
export async function loseSometimes(
  setting: ClusterSetting & Pick<Setting, 'tally'>,
  processes: readonly Services[],
  step: number,
): Promise<void> {
  const { cluster, tally } = setting
  if (!cluster || step % 5 !== 0) return
  await cluster.db.dropDatabase()
  tally.set('timelines lost', (tally.get('timelines lost') ?? 0) + 1)
  if (step % 2 === 0) await checkClusters(processes, setting)
}
