import { type Config, ConfigError } from './config.ts'
import type { ClientProfile } from './db/client.ts'
import type { MetaDoc, TimelinesPlaceDoc } from './db/collections.ts'
import { isDisconnected, isDuplicateKey, isUnreachable } from './db/errors.ts'
import type { Collection, Db } from './db/mongo.ts'
import { type ClusterPrimary, TimelinesCluster } from './db/timelines-cluster.ts'
import { UriCheck } from './db/unreachable.ts'
import type { FeedConfig } from './feed/config.ts'
import {
  emptyCluster,
  isPrepared,
  isSameCluster,
  loadOwner,
  openFirstMove,
  placeId,
  placesIn,
  weakerThan,
} from './feed/registry/place.ts'

/** How a timelines cluster is opened. */
interface TimelinesOptions {
  readonly profile: ClientProfile
  /** Whether the cluster may be written to. */
  readonly prepare: boolean
  readonly anyTimelines?: true
}

/**
 * Opens the cluster of TIMELINES_URI, and checks that it stores the timelines of this database. A database without stored
 * timelines takes it. A process also starts while its cluster does not answer.
 * @returns undefined if timelines are in the database.
 * @throws {ConfigError} if the database stores its timelines elsewhere. {UnreachableError}.
 */
export async function openTimelines(
  config: Pick<Config, 'database'> & { readonly feed: Pick<FeedConfig, 'timelinesUri'> },
  db: Db,
  { profile, prepare, anyTimelines }: TimelinesOptions,
): Promise<TimelinesCluster | undefined> {
  const { timelinesUri: uri } = config.feed
  const places = placesIn({ meta: db.collection<MetaDoc>('meta') })
  const place = (await places.findOne({ _id: placeId })) ?? undefined
  if (uri === undefined) {
    if (place && !anyTimelines) throw elsewhere(place)
    return undefined
  }
  const { name } = config.database
  const uriCheck = new UriCheck('TIMELINES_URI', uri, name)
  const options = { uri, profile, database: name, listen: uriCheck.listen }
  const cluster =
    place && !anyTimelines
      ? await TimelinesCluster.openLater(options)
      : await TimelinesCluster.open(options).catch((error: unknown) => {
          throw uriCheck.unreachable(error)
        })
  try {
    await checkApart(cluster, db)
    if (anyTimelines) return cluster
    if (place) await checkCluster(cluster, place, prepare)
    else if ((await db.collection('strategies').findOne({})) !== null) {
      throw new ConfigError([
        'TIMELINES_URI: this database stores its timelines itself. Run "feedline timelines move" with TIMELINES_URI, or unset it',
      ])
    } else if (prepare) await takeCluster(cluster, places)
    return cluster
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw uriCheck.explained(error)
  }
}

/**
 * Empties a cluster to which the timelines of a database move.
 * @param before the record of the cluster that stored them before. Undefined: they are in the database.
 * @returns the record of the cluster. Undefined if another process prepares a cluster, or has changed the record.
 * @throws {ConfigError} if the cluster holds other data.
 */
export async function prepareMove(
  cluster: TimelinesCluster,
  places: Collection<TimelinesPlaceDoc>,
  before: TimelinesPlaceDoc | undefined,
  now: number,
): Promise<TimelinesPlaceDoc | undefined> {
  const { election, hosts } = checkForm(cluster)
  const owner = await loadOwner(places)
  const leased = before ?? (await openFirstMove(places))
  // A cluster that a process of the previous release prepares has data and no mark.
  if (!leased || isPrepared(leased, now)) return undefined
  await checkFree(cluster, owner)
  const common = { _id: placeId, election, owner, hosts, durable: cluster.isDurable }
  const { _id, value: from } = leased
  const value = await emptyCluster(cluster, places, { _id, value: from, owner }, now)
  return value === undefined ? undefined : { ...common, value }
}

/**
 * Names an empty cluster as that of a database without stored timelines. `ClusterRepair` prepares it then. Of several
 * processes that start at once, the first one decides.
 */
async function takeCluster(
  cluster: TimelinesCluster,
  places: Collection<TimelinesPlaceDoc>,
): Promise<void> {
  const { hosts } = checkForm(cluster)
  const owner = await loadOwner(places)
  await checkFree(cluster, owner)
  const first = { _id: placeId, value: '', election: '', owner, hosts, durable: cluster.isDurable }
  await places.insertOne(first).catch((error) => {
    if (!isDuplicateKey(error)) throw error
  })
  const place = (await places.findOne({ _id: placeId })) ?? first
  await checkCluster(cluster, place, false)
}

/** @returns the primary of a cluster that may store timelines. @throws {ConfigError} */
function checkForm({ primary, isDurable }: TimelinesCluster): ClusterPrimary {
  if (!primary?.election) {
    throw new ConfigError(['TIMELINES_URI: the cluster must be a replica set or a sharded cluster'])
  }
  if (!isDurable && primary.election === 'sharded') {
    throw new ConfigError(['TIMELINES_URI: w=1 needs a replica set'])
  }
  return primary
}

/** @throws {ConfigError} if a cluster holds timelines of another owner. */
async function checkFree(cluster: TimelinesCluster, owner: string): Promise<void> {
  const mark = await cluster.loadMark()
  if (mark ? mark.owner !== owner : !(await cluster.isEmpty())) {
    throw new ConfigError(['TIMELINES_URI: the cluster holds timelines of another database'])
  }
}

/** A move deletes the timelines of the database, which must not be those of the cluster. */
async function checkApart({ primary }: TimelinesCluster, db: Db): Promise<void> {
  const { hosts = [] } = await db.command({ hello: 1 })
  if (primary?.hosts.some((host) => hosts.includes(host))) {
    throw new ConfigError([
      'TIMELINES_URI: it names the deployment of MONGODB_URI, which stores timelines without it. Unset it',
    ])
  }
}

/** A cluster that fails during the check is checked later, by `ClusterRepair`, as one that does not answer. */
async function checkCluster(
  cluster: TimelinesCluster,
  place: TimelinesPlaceDoc,
  prepare: boolean,
): Promise<void> {
  const weaker = weakerThan(place, cluster)
  if (weaker) throw new ConfigError([weaker])
  cluster.lacksCollections = prepare
  try {
    await checkMark(cluster, place)
  } catch (error) {
    if (!isUnreachable(error) && !isDisconnected(error)) throw error
  }
}

async function checkMark(cluster: TimelinesCluster, place: TimelinesPlaceDoc): Promise<void> {
  const { primary } = cluster
  if (!primary) return
  const mark = await cluster.loadMark()
  if (mark?.value === place.value) {
    if (cluster.lacksCollections) await cluster.createCollections()
  } else if ((mark && mark.owner !== place.owner) || !isSameCluster(place, primary)) {
    throw elsewhere(place)
  }
}

const elsewhere = ({ hosts }: TimelinesPlaceDoc): ConfigError =>
  new ConfigError([
    `TIMELINES_URI: this database stores its timelines on ${hosts.join(', ')}. ` +
      'Set TIMELINES_URI to that cluster, or run "feedline timelines move"',
  ])
