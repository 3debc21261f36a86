import type {
  CommandFailedEvent,
  CommandStartedEvent,
  CommandSucceededEvent,
  Db,
  Document,
  MongoClient,
} from 'mongodb'

/** Commands that were sent concurrently, without the fields of their session. */
export type CommandGroup = readonly Document[]

const sessionFields = ['lsid', '$db', '$clusterTime', '$readPreference', 'txnNumber']

/**
 * Records the commands that `work` sends to the database. A new group begins when no command is
 * running.
 */
export async function recordCommands(
  { client, db: { databaseName: database } }: { readonly client: MongoClient; readonly db: Db },
  work: () => Promise<unknown>,
): Promise<CommandGroup[]> {
  const groups: Document[][] = []
  const running = new Set<number>()
  const started = ({ databaseName, command, requestId }: CommandStartedEvent) => {
    if (databaseName !== database) return
    if (running.size === 0) groups.push([])
    running.add(requestId)
    const fields = Object.entries(command).filter(([field]) => !sessionFields.includes(field))
    groups.at(-1)?.push(Object.fromEntries(fields))
  }
  const ended = ({ requestId }: CommandSucceededEvent | CommandFailedEvent) =>
    void running.delete(requestId)
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
  return groups
}

/** The number of commands in all groups. */
export const countCommands = (groups: readonly CommandGroup[]): number => groups.flat().length
