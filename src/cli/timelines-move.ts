import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { ConfigError } from '../config.ts'
import { dropTimelines, loadIdentities } from '../db/collection-identities.ts'
import { timelineCollectionNames } from '../db/collections.ts'
import { applyIndexes } from '../db/indexes.ts'
import { type AppConfig, configFor } from '../environment.ts'
import {
  noteState,
  placeId,
  placesIn,
  prepareUnderLease,
  replacePlace,
} from '../feed/registry/place.ts'
import { type OpenDatabase, openDatabase } from '../open-database.ts'
import { prepareMove } from '../open-timelines.ts'
import { createServices } from '../services.ts'
import { log } from './database.ts'

/** How long a move is tried while other processes prepare a cluster, and the pause between two tries, in milliseconds. */
const [triesMsMax, pauseMs] = [30_000, 200]
const busy = 'TIMELINES_URI: other processes prepare a cluster now. Run the command again'

/** `feedline timelines move`: stores the timelines on the cluster of TIMELINES_URI, or without it in the database. */
export const timelinesMoveCommand = (): Command =>
  new Command('move')
    .description(
      'Store the timelines on the cluster of TIMELINES_URI, or in the database if it is not set. Build them again there.',
    )
    .addHelpText('after', help)
    .action(async () => {
      const config = configFor('database')
      const options = { profile: 'bulk', prepare: true, anyTimelines: true, log } as const
      await using database = await openDatabase(config, options)
      const giveUpAt = performance.now() + triesMsMax
      let outcome = await moveTimelines(config, database)
      // Servers with the same cluster may prepare it at the same time.
      while (outcome === 'busy') {
        if (performance.now() > giveUpAt) throw new ConfigError([busy])
        await sleep(pauseMs)
        outcome = await moveTimelines(config, database)
      }
      console.log(
        outcome === 'unchanged'
          ? 'The timelines are stored in this database already.'
          : `The timelines are stored on ${outcome.where}. "feedline serve" or "feedline worker" builds them again.`,
      )
    })

/**
 * Moves the timelines once.
 * @returns where timelines are stored now. 'busy', and they are not moved, if other processes prepare a cluster.
 */
export async function moveTimelines(
  config: AppConfig,
  { client, db, cluster, clock }: OpenDatabase,
): Promise<{ readonly where: string } | 'unchanged' | 'busy'> {
  const services = createServices(client, db, config, { now: clock.now, cluster })
  const { registrations, copies, collections } = services
  const places = placesIn(collections)
  const before = (await places.findOne({ _id: placeId })) ?? undefined
  if (!cluster && !before) return 'unchanged'
  // Known before the lease and the move, so that no collection of a later move is among them.
  const known = await loadIdentities(db)
  const place = cluster && (await prepareMove(cluster, places, before, clock.now()))
  const mark =
    place?.value ??
    (before &&
      !cluster &&
      (await prepareUnderLease(places, before, clock.now(), async () => {
        await dropTimelines(db, known)
        await applyIndexes(db, config.following, timelineCollectionNames)
      })))
  if (!mark) return 'busy'
  const replaced = await registrations.runExclusive(async (tx) => {
    if (!(await replacePlace(places, tx, { before, mark, place }))) return undefined
    const state = place && { mark: place.value, election: place.election }
    await noteState(collections, tx, state)
    await registrations.invalidate(tx, 0)
    return tx
  })
  if (!replaced) return 'busy'
  // Until then, a page may read timelines of the database as before the move.
  await copies.awaitVisible(replaced)
  if (cluster) await dropTimelines(db, known)
  return { where: place ? place.hosts.join(', ') : 'this database' }
}

const help = `
Until a timeline is built again, its pages come from FANOUT_ON_READ. Processes with another
TIMELINES_URI serve such pages too, and leave deliveries to the other processes, until you restart
them. Run the command again after you restored a timelines cluster from a backup. The command does not
delete the timelines on the cluster that stored them before.

Examples:
  $ TIMELINES_URI=mongodb://timelines-1,timelines-2/?replicaSet=t feedline timelines move
  $ feedline timelines move`
