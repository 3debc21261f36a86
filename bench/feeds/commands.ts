import type {
  CommandFailedEvent,
  CommandStartedEvent,
  CommandSucceededEvent,
  Db,
  Document,
  MongoClient,
} from 'mongodb'

/** Commands that were under way at the same time, as they can be sent again. */
export type Stage = readonly Document[]

const ofSession = ['lsid', '$db', '$clusterTime', '$readPreference', 'txnNumber']

/** What `work` sends to the database, stage after stage: one begins when nothing is under way. */
export async function commandsOf(
  { client, db: { databaseName: database } }: { readonly client: MongoClient; readonly db: Db },
  work: () => Promise<unknown>,
): Promise<Stage[]> {
  const stages: Document[][] = []
  const underWay = new Set<number>()
  const started = ({ databaseName, command, requestId }: CommandStartedEvent) => {
    if (databaseName !== database) return
    if (underWay.size === 0) stages.push([])
    underWay.add(requestId)
    const sent = Object.entries(command).filter(([field]) => !ofSession.includes(field))
    stages.at(-1)?.push(Object.fromEntries(sent))
  }
  const ended = ({ requestId }: CommandSucceededEvent | CommandFailedEvent) =>
    void underWay.delete(requestId)
  client.on('commandStarted', started)
  client.on('commandSucceeded', ended)
  client.on('commandFailed', ended)
  try {
    await work()
  } finally {
    client.off('commandStarted', started)
    client.off('commandSucceeded', ended)
    client.off('commandFailed', ended)
  }
  return stages
}

/** How many commands `work` sends. */
export const countOf = (stages: readonly Stage[]): number => stages.flat().length
