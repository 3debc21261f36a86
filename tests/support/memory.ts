import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/log.ts'
import type { Change } from '../../src/memory/followed.ts'
import { followedFacts } from '../../src/memory/followed-facts.ts'
import { Log } from '../../src/memory/log.ts'
import type { Services } from '../../src/services.ts'

/**
 * Makes services keep posts, accounts and relations in memory, as servers do, until
 * `memory.close()`. Resolves once the log is current.
 * @param tells whether memory gets a change. Default: of all.
 */
export async function keepMemory(
  { memory, collections }: Pick<Services, 'memory' | 'collections'>,
  tells: (change: Change) => boolean = () => true,
): Promise<void> {
  const log = new Log(collections.meta.db, followedFacts)
  const start = log.start.bind(log)
  log.start = ({ apply, drop }, processLog) =>
    start({ apply: (change) => void (tells(change) && apply(change)), drop }, processLog)
  memory.start(log, createLog('silent', 'json'))
  while (!(await memory.isCurrent())) await sleep(10)
}
