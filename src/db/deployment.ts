import type { Db } from 'mongodb'
import { backfillsMark, floorsMark, loadMissingMarks, logMark, type Mark } from './marks.ts'

/** How a mechanism is in a deployment. Markdown without a full stop at the end. */
interface Behaviour {
  readonly does: string
  readonly why?: string
  /** Whether {@link isOn} answers false: the code leaves the mechanism out. */
  readonly isOff?: true
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
  /** A database of an earlier release, until `feedline migrate --previous-stopped`. Absent: as before the upgrade. */
  readonly upgraded?: Behaviour
  /** The record in `meta` without which a database is an upgraded one, for this mechanism. Default: any. */
  readonly mark?: Mark
}

/**
 * All that differs between deployments: one row each. The table of docs/reference/processes.md, the lines that a server
 * logs at its start, and what {@link isOn} answers derive from a row.
 */
export const differences = {
  memory: {
    mechanism: 'posts, accounts and relations in memory, `PAGE_CACHE_MB`',
    replicaSet: '[kept true by a log](../adr/27-one-log-keeps-memory-true.md)',
    shardedCluster: {
      does: 'none',
      why: 'a transaction may be visible on one shard before another',
      isOff: true,
    },
    upgraded: {
      does: 'none',
      why: 'a process of the previous release may write what the log does not tell',
      isOff: true,
    },
    mark: logMark,
  },
  postsWithoutJobs: {
    mechanism: 'the job of a post while no strategy stores timelines',
    replicaSet: 'none ([ADR 26](../adr/26-deliveries-are-jobs.md))',
    shardedCluster: { does: 'one, which delivers nothing', isOff: true },
    upgraded: {
      does: 'one, which delivers nothing',
      why: 'a process of the previous release begins a back-fill at once',
      isOff: true,
    },
    mark: backfillsMark,
  },
  retention: {
    mechanism: '[retention](../explanation/strategies.md#retention)',
    replicaSet: 'old entries are removed',
    upgraded: {
      does: 'everything is kept',
      why: 'pages of the previous release know no floor of a registration',
      isOff: true,
    },
    mark: floorsMark,
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
    upgraded: { does: 'six commands' },
    shardedCluster: { does: 'six commands' },
  },
  previousWrites: {
    mechanism: 'writes of the previous release',
    replicaSet: '–',
    upgraded: {
      does: 'refused by MongoDB if this release would not see them',
      why: 'only after a migration',
    },
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

/** A mechanism that some deployments leave out. */
export type Mechanism = {
  [Name in keyof typeof differences]: (typeof differences)[Name] extends {
    readonly upgraded: { readonly isOff: true }
  }
    ? Name
    : never
}[keyof typeof differences]

/** What the database said about its servers and about the processes that use it. */
export interface Deployment {
  readonly isSharded: boolean
  /** The marks that neither an operator nor the creation of the database has set. */
  readonly missing: Awaited<ReturnType<typeof loadMissingMarks>>
}

/** Asks the database what it is. Two commands. @param at the options of both. */
export async function loadDeployment(db: Db, at: object = {}): Promise<Deployment> {
  const isSharded = await isRouter(db, at)
  return { isSharded, missing: await loadMissingMarks(db.collection('meta'), at) }
}

/** Whether the database answers through a router of a sharded cluster. One command. */
export const isRouter = async (db: Db, at: object = {}): Promise<boolean> =>
  (await db.command({ hello: 1, ...at })).msg === 'isdbgrid'

/** Whether a deployment has a mechanism, as its row says. Sends no command. */
export function isOn(name: Mechanism, { isSharded, missing }: Deployment): boolean {
  const row: Difference = differences[name]
  const isUpgraded = row.mark ? missing.includes(row.mark) : missing.length > 0
  return !(isSharded && row.shardedCluster?.isOff) && !(isUpgraded && row.upgraded?.isOff)
}

/** The names of the deployments that differ from a replica set, for the table and for the log. */
export const deployments = {
  embedded: 'embedded MongoDB',
  shardedCluster: 'sharded cluster',
  upgraded: 'upgraded database, before `feedline migrate --previous-stopped`',
} as const

/**
 * What a process logs about its deployment: the name, and how each mechanism differs from a replica set. One line for
 * each name that fits: an upgraded database is also on a replica set or a sharded cluster.
 */
export function deploymentLines(deployment: Deployment & { isEmbedded: boolean }): string[] {
  const { isEmbedded, isSharded, missing } = deployment
  const server = isEmbedded ? 'embedded' : isSharded ? 'shardedCluster' : undefined
  return [
    server ? lineOf(server, Object.values(differences)) : 'deployment: replica set',
    ...(missing.length > 0 ? [lineOf('upgraded', rowsWithout(missing))] : []),
  ]
}

/** How an upgraded database differs while it lacks marks. */
export const upgradedText = (missing: Deployment['missing']): string =>
  textOf('upgraded', rowsWithout(missing))

const rowsWithout = (missing: Deployment['missing']): readonly Difference[] =>
  Object.values<Difference>(differences).filter(({ mark }) => !mark || missing.includes(mark))

const lineOf = (name: keyof typeof deployments, rows: readonly Difference[]): string =>
  `deployment: ${plain(deployments[name])}. Unlike on a replica set: ${textOf(name, rows)}`

function textOf(name: keyof typeof deployments, rows: readonly Difference[]): string {
  const texts = rows.flatMap((row) => {
    const behaviour = row[name]
    return behaviour ? [`${row.mechanism}: ${behaviour.does}`] : []
  })
  return plain(texts.join('; '))
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
