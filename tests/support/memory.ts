import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from 'mongodb'
import { createLog } from '../../src/log.ts'
import type { Followed } from '../../src/memory/followed.ts'
import { followedFacts } from '../../src/memory/followed-facts.ts'
import { Log } from '../../src/memory/log.ts'
import type { Services } from '../../src/services.ts'

/**
 * Makes services keep posts, accounts and relations in memory, as servers do, until `memory.close()`. Resolves once the
 * log is current.
 * @param followed what the log tells. Default: as servers have it.
 */
export async function keepMemory(
  { memory }: Pick<Services, 'memory'>,
  db: Db,
  followed: readonly Followed[] = followedFacts,
): Promise<void> {
  memory.start(new Log(db, followed), createLog('silent', 'json'))
  while (!(await memory.isCurrent())) await sleep(10)
}
