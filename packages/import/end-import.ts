import { type CommandDatabase, log, notBuilt } from '../../src/cli/database.ts'
import { failureText } from '../../src/cli/failure.ts'
import { buildAfterImport, loadLeftOut } from '../../src/db/indexes.ts'
import type { AppConfig } from '../../src/environment.ts'
import type { Services } from '../../src/services.ts'

/**
 * Ends an import that has succeeded: builds the indexes that it left out, and queues the rebuild of
 * timelines. A build that fails is reported on stderr with its cause, and sets the exit code.
 * Throws nothing. A few commands, and the builds.
 */
export async function endImport(
  { db, services }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  try {
    const missing = await loadLeftOut(db, following)
    if (missing.length > 0) log(`Building indexes: ${missing.join(', ')}`)
    // Also waits for a build of another process.
    await buildAfterImport(db, following)
  } catch (error) {
    process.exitCode = 1
    const next = 'Remove the cause and run "feedline indexes --apply".'
    log(`Indexes could not be built (${failureText(error)}). ${next}`)
  }
  await queueRebuilds(services)
}

/**
 * Leaves an import that was stopped or has failed: queues the rebuild of timelines, and names the
 * indexes that are not built on stderr. Builds none, because that may take minutes. Throws nothing.
 * A few commands.
 */
export async function leaveImport(
  { db, services }: CommandDatabase,
  { following }: AppConfig,
): Promise<void> {
  const [missing] = await Promise.all([
    loadLeftOut(db, following).catch(() => undefined),
    queueRebuilds(services),
  ])
  if (!missing) log('Indexes may be missing. Run "feedline indexes --apply".')
  else if (missing.length > 0) log(notBuilt(missing))
}

/**
 * What fails here for a while, a server does within a minute. It does not hide the error of the
 * import.
 */
async function queueRebuilds({ upkeep, registry }: Services): Promise<void> {
  try {
    await upkeep.beginRebuilds()
    const filled = [...(await registry.read()).values()].filter(({ complete }) => !complete)
    if (filled.length === 0) return
    const total = Math.max(...filled.map(({ readers }) => readers?.total ?? 0))
    const until = 'Until then, their pages come from FANOUT_ON_READ.'
    log(
      `Servers and workers fill the timelines of about ${total} readers. ${until} "feedline timelines" says how long that takes.`,
    )
  } catch {
    log('The back-fill of timelines could not be queued. A server queues it within a minute.')
  }
}
