import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importGraph } from '../../../packages/import/import-graph.ts'
import { importRelations } from '../../../packages/import/import-relations.ts'
import { toObjectId } from '../../../src/db/object-id.ts'
import { reconcile } from '../../../src/integrity/run.ts'
import type { EdgeId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'

type Damage = (services: Services, reader: UserId, author: UserId) => Promise<unknown>

/**
 * Damage to the timeline of a reader who follows the author. A reconciliation repairs all of it.
 */
export const keptDamages = {
  'the INBOX is lost': ({ strategies }, reader) => strategies.INBOX.deleteReader(reader),
  'the counters of the author are lost': ({ collections }, _, author) =>
    collections.user_stats.deleteOne({ _id: author }),
  'one side of the edge is lost': ({ collections }, reader, author) =>
    collections.following.deleteOne({ user: reader, followee: author }),
  'a mirror has no block': ({ collections, mint }, reader, author) =>
    collections.restrictions.insertOne({
      _id: toObjectId(mint.next<EdgeId>()),
      ...{ owner: reader, other: author, kind: 'BLOCKED_BY' as const },
    }),
} as const satisfies Readonly<Record<string, Damage>>

/** The name of a damage. */
export type KeptDamage = keyof typeof keptDamages

/** Repairs all that a reconciliation finds. */
export const reconcileAll = (services: Services): Promise<unknown> =>
  reconcile(services, { readers: 'all' })

/** Imports one edge, as `feedline import relations` or the loader of graphs does. */
export async function importEdge(
  services: Services,
  kind: 'graph' | 'relations',
  follower: UserId,
  followee: UserId,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-kept-'))
  try {
    const file = join(folder, kind === 'graph' ? 'graph.txt' : 'relations.csv')
    if (kind === 'graph') {
      await writeFile(file, `${follower} ${followee}\n`)
      await importGraph(services, { file, mutual: false, now: services.now })
    } else {
      const header = 'user_id,target_user_id,medium_followed_at,latest_followed_at'
      await writeFile(file, `${header}\n${follower},${followee},2020-01-01,2020-01-01\n`)
      await importRelations(services, { file, now: services.now })
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
