import type { Db } from 'mongodb'

/** How a mechanism is in a deployment. Markdown without a full stop at the end. */
interface Behaviour {
  readonly does: string
  readonly why?: string
}

/** A mechanism that differs between deployments. */
interface Difference {
  /** What differs. Markdown, with links relative to docs/reference. */
  readonly mechanism: string
  readonly replicaSet: string
  /** A replica set of one mongod, which the process starts itself. Absent: as on a replica set. */
  readonly embedded?: Behaviour
  /** Absent: as on a replica set. */
  readonly shardedCluster?: Behaviour
}

/**
 * All that differs between deployments: one row each. The table of docs/reference/processes.md and
 * the line that a server logs at its start derive from a row.
 */
const differences = {
  memory: {
    mechanism: 'posts, accounts and relations in memory, `PAGE_CACHE_MB`',
    replicaSet: '[kept true by a log](../adr/27-one-log-keeps-memory-true.md)',
    shardedCluster: {
      does: 'none',
      why: 'a transaction may be visible on one shard before another',
    },
  },
  postsWithoutJobs: {
    mechanism: 'the job of a post while no strategy stores timelines',
    replicaSet: 'none ([ADR 26](../adr/26-deliveries-are-jobs.md))',
    shardedCluster: { does: 'one, which delivers nothing', why: 'no registrations are in memory' },
  },
  readsOfJobs: {
    mechanism: 'reads of a job',
    replicaSet: 'have nothing to wait for',
    shardedCluster: {
      does: 'wait until their shard shows the transaction of the job ([ADR 18](../adr/18-jobs-wait-for-their-transaction.md))',
    },
  },
  readsAfterElection: {
    mechanism: 'reads after an election',
    replicaSet: 'wait for the last write that the new primary had',
    embedded: { does: 'as before', why: 'it has no elections' },
    shardedCluster: { does: 'wait for nothing', why: 'the router hides elections' },
  },
  clock: {
    mechanism: "the database's clock",
    replicaSet: 'that of the primary',
    shardedCluster: { does: 'that of the `mongos`' },
  },
  following: {
    mechanism: '`FOLLOWING=reverse-index`',
    replicaSet: 'possible',
    shardedCluster: {
      does: 'refused by `feedline shard`',
      why: 'every page would ask all shards',
    },
  },
  broadcasts: {
    mechanism: 'commands without a shard key',
    replicaSet: '–',
    shardedCluster: {
      does: 'ask all shards',
      why: '[the list](../how-to/sharded-cluster.md#commands-that-ask-all-shards)',
    },
  },
  pageFacts: {
    mechanism: 'facts of a page',
    replicaSet: 'in memory',
    shardedCluster: { does: 'six commands' },
  },
  migration: {
    mechanism: 'a database of an older schema version',
    replicaSet: 'refused until `feedline migrate`',
    embedded: { does: 'migrated at the start' },
  },
  lostDatabase: {
    mechanism: 'a database that does not answer',
    replicaSet: 'waited for',
    embedded: { does: 'the process ends with 1', why: 'nothing would start the mongod again' },
  },
  authentication: {
    mechanism: 'who may use the database',
    replicaSet: 'as its users and roles say',
    embedded: { does: 'every process of this machine', why: 'it has no authentication' },
  },
} as const satisfies Readonly<Record<string, Difference>>

/** What a process has found out about its database. */
export interface Deployment {
  readonly isSharded: boolean
  readonly isEmbedded: boolean
}

/** Whether the database answers through a router of a sharded cluster. One command. */
export const isRouter = async (db: Db): Promise<boolean> =>
  (await db.command({ hello: 1 })).msg === 'isdbgrid'

/** The names of the deployments that differ from a replica set, for the table and for the log. */
const deployments = {
  embedded: 'embedded MongoDB',
  shardedCluster: 'sharded cluster',
} as const

/**
 * What a process logs about its deployment: the name, and how each mechanism differs from a replica
 * set.
 */
export function deploymentLine({ isEmbedded, isSharded }: Deployment): string {
  const name = isEmbedded ? 'embedded' : isSharded ? 'shardedCluster' : undefined
  if (!name) return 'deployment: replica set'
  const texts = Object.values<Difference>(differences).flatMap((row) => {
    const behaviour = row[name]
    return behaviour ? [`${row.mechanism}: ${behaviour.does}`] : []
  })
  return plain(`deployment: ${deployments[name]}. Unlike on a replica set: ${texts.join('; ')}`)
}

/** A text without the links and quotes of Markdown. */
const plain = (markdown: string): string =>
  markdown
    .replace(/ \(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')

/** The table of docs/reference/processes.md, as cells. */
export function deploymentTable(): readonly (readonly string[])[] {
  const names = Object.keys(deployments) as (keyof typeof deployments)[]
  const cellOf = (behaviour: Behaviour | undefined) =>
    behaviour ? [behaviour.does, behaviour.why ?? []].flat().join(': ') : 'the same'
  return [
    ['mechanism', 'replica set', ...names.map((name) => deployments[name])],
    ...Object.values<Difference>(differences).map((row) => [
      row.mechanism,
      row.replicaSet,
      ...names.map((name) => cellOf(row[name])),
    ]),
  ]
}
