import type { CollectionName } from '../../src/db/collections.ts'

/**
 * A command that a sharded cluster sends to all shards, because it does not contain the shard key.
 */
export interface Broadcast {
  /** The source file or folder that sends it. */
  readonly from: string
  readonly command: 'find' | 'aggregate' | 'count' | 'update' | 'delete'
  readonly collection: CollectionName
  /** Who sends it, and how often. */
  readonly by: 'request' | 'job' | 'worker' | 'start' | 'operator'
  readonly why: string
}

/**
 * Every command of requests, jobs and processes that asks all shards, with its reason. All others
 * name their shards. A test of all commands of the suite compares them with this list, and
 * docs/how-to/sharded-cluster.md shows it.
 */
export const broadcasts: readonly Broadcast[] = [
  {
    from: 'src/timeline/pages/pending.ts',
    command: 'aggregate',
    collection: 'outbox',
    by: 'request',
    why: 'Whose deliveries wait is not known before. It reads index keys of waiting jobs only, and jobs wait for moments. Only queries of `pending` or `pollCursor` send it.',
  },
  {
    from: 'src/posts/posts.ts',
    command: 'find',
    collection: 'posts',
    by: 'request',
    why: 'With `TIMELINE_ENTRIES=id`, an entry does not name its author. Use `author` or `text`.',
  },
  {
    from: 'src/jobs/',
    command: 'find',
    collection: 'outbox',
    by: 'worker',
    why: 'Any shard may have the job that has been due the longest. `feedline jobs` also shows parked jobs of all users.',
  },
  {
    from: 'src/jobs/',
    command: 'update',
    collection: 'outbox',
    by: 'operator',
    why: '`feedline jobs retry` names a job by its id, or all parked jobs.',
  },
  {
    from: 'src/jobs/',
    command: 'delete',
    collection: 'outbox',
    by: 'operator',
    why: '`feedline jobs drop` names a job by its id, or all parked jobs.',
  },
  {
    from: 'src/follows/compact-history.ts',
    command: 'find',
    collection: 'follow_events',
    by: 'operator',
    why: '`feedline history compact` walks all pairs in order.',
  },
  {
    from: 'src/timeline/delivery/reader-walk.ts',
    command: 'find',
    collection: 'user_stats',
    by: 'job',
    why: 'A back-fill, and with a retention the daily sweep, walk all readers in order, up to 200 at a time.',
  },
  {
    from: 'src/follows/purge.ts',
    command: 'find',
    collection: 'follow_events',
    by: 'job',
    why: 'The removal of an account finds the history that is stored with its followers.',
  },
  {
    from: 'src/follows/purge.ts',
    command: 'find',
    collection: 'restrictions',
    by: 'job',
    why: 'The same for mutes.',
  },
  {
    from: 'src/users/stats.ts',
    command: 'aggregate',
    collection: 'user_stats',
    by: 'start',
    why: 'A server samples readers, whose pages it reads first.',
  },
  {
    from: 'src/users/issuers.ts',
    command: 'find',
    collection: 'subjects',
    by: 'start',
    why: 'A server looks for issuers that no variable names, up to 50.',
  },
  {
    from: 'src/timeline/registry/registrations.ts',
    command: 'find',
    collection: 'user_stats',
    by: 'start',
    why: 'A new registration asks once whether any account exists.',
  },
  {
    from: 'src/timeline/registry/',
    command: 'count',
    collection: 'user_stats',
    by: 'start',
    why: 'A new registration, and its back-fill before it is split, estimate the number of readers from the counts of the shards.',
  },
]

/**
 * Folders and files that read whole collections for an operator, or in the background. Their
 * commands may ask all shards.
 */
export const broadcastSources: readonly { readonly from: string; readonly why: string }[] = [
  {
    from: 'src/integrity/',
    why: '`verify` and `reconcile` read everything.',
  },
  {
    from: 'packages/import/',
    why: 'An import checks its pairs against all restrictions, and looks for later follow events.',
  },
  {
    from: 'packages/capacity/',
    why: '`feedline capacity --from-database` samples accounts.',
  },
  {
    from: 'src/timeline/registry/remove-stored.ts',
    why: 'Dropping a strategy empties its collections.',
  },
  {
    from: 'src/jobs/inspect.ts',
    why: '`feedline jobs` and the metrics count the jobs of all users.',
  },
]
