import { Command } from 'commander'
import { timelineCollectionNames } from '../db/collections.ts'
import { applyIndexes } from '../db/indexes.ts'
import type { Db } from '../db/mongo.ts'
import { readConfig } from '../environment.ts'
import { noteState, placeId, placesIn, replacePlace } from '../feed/registry/place.ts'
import { openDatabase } from '../open-database.ts'
import { prepareMove } from '../open-timelines.ts'
import { createServices } from '../services.ts'
import { log } from './database.ts'

/** `feedline timelines move`: stores the timelines on the cluster of TIMELINES_URI, or without it in the database. */
export const timelinesMoveCommand = (): Command =>
  new Command('move')
    .description(
      'Store the timelines on the cluster of TIMELINES_URI, or in the database if it is not set. Build them again there.',
    )
    .addHelpText('after', help)
    .action(async () => {
      const config = readConfig()
      const options = { profile: 'bulk', prepare: true, anyTimelines: true, log } as const
      await using database = await openDatabase(config, options)
      const { client, db, cluster, clock } = database
      const services = createServices(client, db, config, { now: clock.now, cluster })
      const { registrations, collections } = services
      const places = placesIn(collections)
      const before = (await places.findOne({ _id: placeId })) ?? undefined
      if (!cluster && !before)
        return console.log('The timelines are stored in this database already.')
      const place = cluster && (await prepareMove(cluster, places, before, clock.now()))
      if (!cluster) {
        await dropTimelines(db)
        await applyIndexes(db, config.following, timelineCollectionNames)
      }
      await registrations.runExclusive(async (tx) => {
        await replacePlace(places, tx, before, place)
        const state = place && { mark: place.value, election: place.election }
        await noteState(collections, tx, state)
        await registrations.invalidate(tx, 0)
      })
      if (cluster) await dropTimelines(db)
      const where = place ? place.hosts.join(', ') : 'this database'
      console.log(
        `The timelines are stored on ${where}. "feedline serve" or "feedline worker" builds them again.`,
      )
    })

/** Deletes the timelines of the database, which no process reads or writes. */
async function dropTimelines(db: Db): Promise<void> {
  for (const name of timelineCollectionNames) await db.dropCollection(name)
}

const help = `
Until a timeline is built again, its pages come from FANOUT_ON_READ. Processes with another
TIMELINES_URI serve such pages too, and leave deliveries to the other processes, until you restart
them. Run the command again after you restored a timelines cluster from a backup. The command does not
delete the timelines on the cluster that stored them before.

Examples:
  $ TIMELINES_URI=mongodb://timelines-1,timelines-2/?replicaSet=t feedline timelines move
  $ feedline timelines move`
